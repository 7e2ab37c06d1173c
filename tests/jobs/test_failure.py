from forecaster.errors import SourceRejected, SourceUnavailable
from jobs.failure import Failure, failure, told_once, unfetched

DOWN = SourceUnavailable("the server is down; start it")


def test_signals_that_fail_for_one_cause_are_one_failure() -> None:
    other = SourceRejected("two series; take one")
    found = list(unfetched([("rpm", DOWN), ("tokens", other), ("concurrency", DOWN)], "could not be fetched"))
    assert [(f.error, f.sentence) for f in found] == [
        ("SourceUnavailable", "rpm and concurrency could not be fetched: the server is down; start it"),
        ("SourceRejected", "tokens could not be fetched: two series; take one"),
    ]


def test_what_fails_at_two_steps_for_one_cause_is_told_by_the_first() -> None:
    first, second = failure("fetch", DOWN, "history: down"), failure("fetch", DOWN, "live load: down")
    without_cause = Failure(verb="plan", error="no-capacity", sentence="no capacity")
    assert list(told_once([first, without_cause, second, without_cause])) == [first, without_cause, without_cause]


def test_an_error_without_words_is_told_by_its_type() -> None:
    assert failure("apply", KeyError()).sentence == "KeyError"
