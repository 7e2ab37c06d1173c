"""What HTTP connectors ask of a cloud's login: a bearer token that is good now. Without a client, so that configuration can name it."""

from typing import Protocol

from forecaster.errors import ForecasterError


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
