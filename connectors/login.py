"""What HTTP connectors ask of a cloud's login: a bearer token that is good now. Without a client, so that configuration can name it."""

import time
from typing import Protocol

from forecaster.errors import ForecasterError

_QUIET_S = 10  # a login that fails may take 5 s to do so, and a thousand targets share it


class LoginFailed(ForecasterError):
    """No token can be had. `lasting`: the identity is missing or refused, so that asking again changes nothing."""

    def __init__(self, sentence: str, *, lasting: bool) -> None:
        super().__init__(sentence)
        self.lasting = lasting


class Login(Protocol):
    """An identity of a cloud, safe to share between threads.

    `token` answers at once while the last token has minutes to live, and asks the cloud otherwise. `forget` drops what is known, for a
    server that refuses a token before its end: the next `token` is a new one. `token` raises LoginFailed.
    """

    def token(self) -> str:
        """The token, without the word Bearer."""

    def forget(self) -> None:
        """Ask the cloud next time."""


class Silence:
    """The last failure of a login, told again for 10 s instead of asking: all who share it must not wait for it in turn."""

    def __init__(self) -> None:
        self._failed: LoginFailed | None = None
        self._until = 0.0

    def check(self) -> None:
        """Raises the failure again while it is fresh."""
        if self._failed is not None and time.monotonic() < self._until:
            raise LoginFailed(str(self._failed), lasting=self._failed.lasting) from self._failed

    def begin(self, failed: LoginFailed) -> LoginFailed:
        """Remember a failure."""
        self._failed, self._until = failed, time.monotonic() + _QUIET_S
        return failed

    def end(self) -> None:
        """Forget it."""
        self._failed = None
