"""The machine behind every lever that is one value of a document of an admin API. A kind of lever is a Document.

Such APIs compare no versions: before a write the document is read again, and what changed since it was observed is a conflict; what the
write is answered with is looked at once more.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from connectors.http.endpoint import Call
from connectors.http.rest import Json, RestApi, RestFailed
from connectors.kube.paths import Path, spell
from connectors.levers.json_fields import found_at
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.ladder import LeverValue, is_same
from forecaster.levers import LeverSeen, Moved, let_go, set_to, shown
from forecaster.units import iso

MARK = "forecaster-lever-"
_DIGITS = 10
_MEANINGS: Mapping[int, tuple[type[TargetError], str]] = {
    401: (TargetForbidden, "give us a key of the admin API that may read and write it"),
    403: (TargetForbidden, "give us a key of the admin API that may read and write it"),
    404: (TargetMissing, "it is not there: correct the configuration"),
    409: (TargetConflict, "it changed since it was observed: observe it again"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One value of one document.

    what: how sentences call the document. path: the value in it. read: asks for it. inside: the document in an answer. marks: the texts in
    it that we may leave ours among, by name. write: the request that makes a value stand (None = none) together with our mark (None takes
    it away), from the document as it is. check: raises TargetRefused where a value could be set and not taken back. hidden: a secret
    that the API may echo.
    """

    lever: str
    what: str
    path: Path
    read: Call
    inside: Callable[[Json], Json]
    marks: Callable[[Json], Mapping[str, str]]
    write: Callable[[Json, LeverValue | None, str, str | None], Call]
    check: Callable[[LeverSeen], None] = lambda _seen: None
    hidden: str = ""


class DocumentLever:
    """A Lever over one Document."""

    def __init__(self, spec: Document, api: RestApi) -> None:
        self.name = spec.lever
        self._spec = spec
        self._api = api
        self._mark = f"{MARK}{hashlib.sha256(spell(spec.path).encode()).hexdigest()[:_DIGITS]}"

    def observe(self, now: datetime) -> LeverSeen:
        """The value as it stands, and our mark."""
        return self._seen(self._document(self._spec.read), now)

    def set(self, value: LeverValue, until: datetime, seen: LeverSeen) -> Moved:
        """Writes the value and our mark in one request."""
        moved = set_to(seen, value, until)
        if moved.written:
            self._spec.check(seen)
            self._write(value, _Mark(original=seen.original, value=value, until=until).text(), seen)
        return moved

    def release(self, seen: LeverSeen) -> Moved:
        """Writes the original and takes our mark away in one request."""
        moved = let_go(seen)
        if moved.written:
            self._write(moved.after, None, seen)
        return moved

    def check_write(self, seen: LeverSeen) -> None:
        """As `access.Checkable`: what a value that stands there tells; such an API does not say what our key may."""
        self._spec.check(seen)

    def _write(self, value: LeverValue | None, mark: str | None, seen: LeverSeen) -> None:
        document = self._document(self._spec.read)
        if self._seen(document, seen.at).version != seen.version:
            raise TargetConflict(f"{self._spec.what} changed since it was observed: observe it again")
        self._answered(self._spec.write(document, value, self._mark, mark))
        stands = self._seen(self._document(self._spec.read), seen.at).value
        if (stands is None) != (value is None) or (stands is not None and value is not None and not is_same(stands, value)):
            told = f"{self._spec.what} has {shown(stands)} in {spell(self._spec.path)} after we wrote {shown(value)}"
            raise TargetRefused(f"{told}: find what changes it in between")

    def _seen(self, document: Json, now: datetime) -> LeverSeen:
        stands = found_at(document, self._spec.path)
        if stands is not None and not isinstance(stands, bool | int | float | str):
            told = f"{self._spec.what} has a {type(stands).__name__} in {spell(self._spec.path)}, not one value"
            raise TargetRefused(f"{told}: name a field inside of it")
        text = self._spec.marks(document).get(self._mark)
        mark = None if text is None else self._marked(text)
        return LeverSeen(
            lever=self.name,
            at=now,
            value=stands,
            original=stands if mark is None else mark.original,
            left=None if mark is None else mark.value,
            until=None if mark is None else mark.until.astimezone(UTC),
            version=json.dumps([stands, text]),
        )

    def _marked(self, text: str) -> "_Mark":
        """Our mark. Raises TargetRefused where it does not tell the original."""
        try:
            return _Mark.model_validate_json(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, ValidationError) as error:
            told = f"{self._mark} on {self._spec.what} does not say what {spell(self._spec.path)} was before us"
            raise TargetRefused(f"{told}: set it right and remove the mark") from error

    def _document(self, call: Call) -> Json:
        return self._spec.inside(self._answered(call))

    def _answered(self, call: Call) -> Json:
        try:
            return self._api.answer(call)
        except RestFailed as failed:
            later = (TargetRefused, "see what the API says") if failed.lasting else (TargetUnavailable, "try again later")
            kind, remedy = _MEANINGS.get(failed.status or 0, later)
            said = str(failed).replace(self._spec.hidden, "***") if self._spec.hidden else str(failed)
            raise kind(f"{self._spec.what}: {said}; {remedy}") from failed


class _Mark(BaseModel):
    """What we leave beside one value: letters, digits, - and _ alone, which tags and labels of every gateway take."""

    model_config = ConfigDict(frozen=True)

    original: LeverValue | None
    value: LeverValue
    until: AwareDatetime

    def text(self) -> str:
        """As it stands there."""
        said = json.dumps({"original": self.original, "value": self.value, "until": iso(self.until)}, separators=(",", ":"))
        return base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")
