"""What a person may say on the command line, and what is refused before it is kept."""

from datetime import UTC, datetime, timedelta

import pytest

from forecaster.errors import ConfigRejected
from jobs.cli.session import author, instant, said, until

NOW = datetime(2024, 3, 26, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("2024-03-26T07:30:00Z", NOW), ("2024-03-26T09:30:00+02:00", NOW), ("2024-03-26 07:30+00:00", NOW), ("20240326T073000Z", NOW)],
)
def test_an_instant_is_the_same_in_every_zone(text: str, meant: datetime) -> None:
    assert instant(text) == meant


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("noon", "is no instant; write ISO 8601"),
        ("2024-02-30T00:00:00Z", "is no instant"),
        ("2024-03-26", "has no zone"),
        ("2024-03-26T07:30:00", "has no zone"),
        ("0024-03-26T07:30:00Z", "mistyped year"),
        ("9999-12-31T23:59:59Z", "mistyped year"),
    ],
)
def test_an_instant_that_means_nothing_or_many_things_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ConfigRejected, match=fault):
        instant(text)


def test_an_end_is_an_instant_or_a_duration_from_now_or_never() -> None:
    assert until("2h", NOW) == NOW + timedelta(hours=2)
    assert until("2024-03-26T08:00:00Z", NOW) == NOW + timedelta(minutes=30)
    assert until(None, NOW) is None


@pytest.mark.parametrize("text", ["2024-03-26T07:30:00Z", "2020-01-01T00:00:00Z"])
def test_an_end_that_has_passed_is_refused(text: str) -> None:
    with pytest.raises(ConfigRejected, match="has passed; name an instant ahead"):
        until(text, NOW)


@pytest.mark.parametrize("text", ["99999999999w", "1e400h", "soon"])
def test_an_end_beyond_all_time_is_refused(text: str) -> None:
    with pytest.raises(ConfigRejected):
        until(text, NOW)


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_reason_or_name_is_refused(blank: str) -> None:
    with pytest.raises(ConfigRejected, match="--reason is blank"):
        said("--reason", blank)
    with pytest.raises(ConfigRejected, match="--author is blank"):
        author(blank)


def test_without_a_name_the_user_of_the_process_speaks() -> None:
    assert author(None).strip()
    assert author("ada") == "ada"
