"""An engine's or a gateway's own page of metrics, read directly: a number of this moment, not of the last scrape."""

import math
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from connectors.http.api import Api
from connectors.http.endpoint import Call, Endpoint, Unreachable, Unusable
from connectors.live.exposition import Question, Sample, answer, counts_of
from forecaster.errors import SourceError, SourceRejected, SourceUnavailable

_TIMEOUT_S = 2.0  # a page that takes longer is of an engine in trouble, and the next look is five seconds away
_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at the pages: what each question needs of it, by signal; kept so that the next look, also of another process, compares."""

    at: datetime
    counts: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and the pages that answer it together: the replicas of an engine."""

    signal: str
    pages: tuple[str, ...]
    question: Question


class Pages:
    """Reads pages. Safe for one caller at a time; each page is fetched once a look, whatever is asked of it."""

    def __init__(self) -> None:
        self._apis: dict[str, Api] = {}

    def look(self, asked: tuple[Asked, ...], before: Look | None, now: datetime) -> tuple[Look, dict[str, float], list[SourceError]]:
        """This look, the answer to each signal's question (NaN = unknown), and what could not be read.

        A question is answered by the pages that were there; by none of them it is unknown.
        """
        samples: dict[str, list[Sample]] = {}
        errors: list[SourceError] = []
        for page in dict.fromkeys(page for one in asked for page in one.pages):
            try:
                samples[page] = self._samples(page)
            except SourceError as error:
                errors.append(error)
        counts = {
            one.signal: {
                key: count
                for page in one.pages
                if page in samples
                for key, count in counts_of(one.question, samples[page], page=page).items()
            }
            for one in asked
        }
        elapsed_s = math.nan if before is None else (now - before.at).total_seconds()
        answers = {
            one.signal: answer(one.question, counts[one.signal], None if before is None else before.counts.get(one.signal), elapsed_s)
            for one in asked
        }
        return Look(at=now, counts=counts), answers, errors

    def _samples(self, page: str) -> list[Sample]:
        from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415  # commands that read no page need it not

        parts = urlsplit(page)
        try:
            if page not in self._apis:
                self._apis[page] = Api(Endpoint(base_url=f"{parts.scheme}://{parts.netloc}", timeout_s=_TIMEOUT_S, attempts=1))
                weakref.finalize(self, self._apis[page].close)
            said = self._apis[page].answer(Call(method="GET", path=parts.path or "/metrics"))
        except Unreachable as error:
            msg = f"the page of metrics {page} cannot be read: {error}; see that the engine runs and lets us in"
            raise SourceUnavailable(msg) from error
        except Unusable as error:
            msg = f"the page of metrics {page} cannot be asked for: {error}"
            raise SourceRejected(msg) from error
        if said.status != _OK:
            kind = SourceUnavailable if said.transient else SourceRejected
            remedy = "it is asked again at the next tick" if said.transient else "correct its address in the configuration"
            msg = f"the page of metrics {page} answers HTTP {said.status}: {remedy}"
            raise kind(msg)
        try:
            return [(s.name, s.labels, s.value) for family in text_string_to_metric_families(said.text) for s in family.samples]
        except ValueError as error:
            msg = f"the page {page} is not in Prometheus' text format: is it the address of /metrics?"
            raise SourceRejected(msg) from error
