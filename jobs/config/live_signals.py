"""The `signals` of `tiers`: numbers of this moment, from pages of metrics or from a source."""

from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from connectors.live.exposition import parse_question
from jobs.config.policy import SECTION
from jobs.config.scalars import Name

Page = Annotated[str, Field(pattern=r"^https?://[^\s?#]+$")]


def _asked(text: str) -> str:
    parse_question(text)
    return text


class PageSignalSection(BaseModel):
    """A number that a page of metrics has right now."""

    model_config = SECTION
    pages: tuple[Page, ...] = Field(min_length=1)
    """Addresses of `/metrics`, one for each replica of the engine or gateway; their samples are counted together. No default."""
    query: Annotated[str, AfterValidator(_asked)]
    """What is asked of them: `NAME{label="value"}` (a sum), `max(NAME)`, and since the look before `rate(NAME)`, `ratio(NAME, NAME)` and
    `p99(NAME)` of a histogram. No default."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        twice = next((page for page in self.pages if self.pages.count(page) > 1), None)
        if twice is not None:
            msg = f"the page {twice} stands twice in pages, and its samples would count twice: keep one of them"
            raise ValueError(msg)
        return self


class SourceSignalSection(BaseModel):
    """A number of one of the sources: Prometheus tells it of this moment, the others of the last whole minute."""

    model_config = SECTION
    source: Name
    """Which of `sources` is asked. No default."""
    query: str = Field(min_length=1)
    """In the source's own language; the number is taken as it is. No default."""


def _one_kind(value: object) -> object:
    if isinstance(value, dict):
        said = [key for key in ("pages", "source") if key in value]
        if len(said) != 1:
            told = "says pages and a source as well" if said else "says neither pages nor a source"
            msg = f"{told}: a signal is read from one of them; write `pages` and a `query`, or `source` and a `query`"
            raise ValueError(msg)
    return value


def _kind(value: object) -> str:
    is_source = "source" in value if isinstance(value, dict) else isinstance(value, SourceSignalSection)
    return "SourceSignalSection" if is_source else "PageSignalSection"


SignalSection: TypeAlias = Annotated[
    Annotated[PageSignalSection, Tag("PageSignalSection")] | Annotated[SourceSignalSection, Tag("SourceSignalSection")],
    Discriminator(_kind),
    BeforeValidator(_one_kind),
]
"""Where the number comes from is told by the key that is there, so that a fault is one of that kind of signal and of no other."""
