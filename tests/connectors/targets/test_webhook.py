"""The webhook target against the receiver of examples/webhook: what is signed, what is sent twice, and what each answer becomes."""

import json
from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus

import pytest
from pydantic import SecretStr, ValidationError

from connectors.http.signing import signed
from connectors.targets.registry import Target, open_target
from connectors.targets.webhook import WebhookConfig
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from tests.connectors.targets.cloud_subjects import WebhookSubject
from tests.connectors.targets.subjects import FOUND, NOW, decided, let_go, stand
from tests.json_server import Json, JsonServer
from tests.webhook_receiver import SECRET, WebhookReceiver

STATE: Json = {"floor": 2, "version": "1"}


@pytest.fixture
def hook() -> Iterator[WebhookReceiver]:
    with WebhookReceiver(NOW) as server:
        yield server


def opened(url: str, *, secret: str = SECRET, name: str = "llm") -> Target:
    return open_target(WebhookConfig(type="webhook", name=name, url=url, secret=SecretStr(secret)))


def answering(*answers: tuple[int, Json | str]) -> JsonServer:
    """A receiver that gives these answers in turn, the last one for good."""
    left = list(answers)
    return JsonServer(lambda _: left.pop(0) if len(left) > 1 else left[0])


def test_the_signature_is_hmac_sha256_over_timestamp_method_and_body() -> None:
    assert signed("POST", b'{"floor": 8}', secret=SECRET, at=NOW) == {
        "Forecaster-Timestamp": "1714982400",
        "Forecaster-Signature": "v1=0ac25ded5ee33ca2b41c453783b0a61adcb0c5fd569498960f38b43e0e2a4262",
    }


def test_a_post_tells_what_is_to_stand_until_when_and_why(hook: WebhookReceiver) -> None:
    subject = WebhookSubject(hook=hook)
    stand(subject.open(), 8)
    (said,) = hook.carried_out
    marks = {"forecaster/original": "2", "forecaster/floor": "8", "forecaster/valid-until": "2024-05-06T12:00:00Z"}
    assert said == {
        "action": "set",
        "target": subject.name,
        "floor": 8,
        "valid_until": "2024-05-06T12:00:00Z",
        "original": FOUND,
        "workload": "llm",
        "pool": "main",
        "plan": "llm/main@2024-05-06T08:00:00Z",
        "reason": "the plan",
        "version": "1",
        "marks": marks,
    }
    let_go(subject.open())
    assert hook.carried_out[-1] == {
        "action": "release",
        "target": subject.name,
        "floor": FOUND,
        "reason": "the original is put back",
        "version": "2",
        "marks": {},
    }


def test_one_decision_has_one_key_at_whatever_instant_it_is_sent_and_another_decision_another() -> None:
    with answering((200, STATE)) as server:
        target = opened(f"{server.url}/floors")
        for now, floor in ((NOW, 8), (NOW + timedelta(minutes=1), 8), (NOW, 9)):
            with pytest.raises(TargetRefused, match="floor is 2 after we set"):
                target.set_floor(decided(target.name, floor), target.observe(now))
        keys = [asked.headers["Idempotency-Key"] for asked in server.asked if asked.method == "POST"]
        stamps = {asked.headers["Forecaster-Timestamp"] for asked in server.asked}
    assert keys[0] == keys[1] != keys[2]
    assert stamps == {"1714982400", "1714982460"}


def test_l33_a_post_whose_answer_got_lost_is_sent_again_and_carried_out_once(hook: WebhookReceiver) -> None:
    subject = WebhookSubject(hook=hook)
    hook.lose_next_answer()
    assert stand(subject.open(), 8).written
    assert (subject.floor(), len(hook.carried_out)) == (8, 1)


def test_what_somebody_listened_to_and_sends_again_changes_nothing(hook: WebhookReceiver) -> None:
    subject = WebhookSubject(hook=hook)
    with JsonServer(lambda _: (HTTPStatus.OK, {**STATE, "floor": 8})) as server:
        listened = opened(f"{server.url}/floors", name=subject.name)
        stand(listened, 8)
        (overheard,) = [asked for asked in server.asked if asked.method == "POST"]
    assert hook.send(overheard.body, dict(overheard.headers)) == HTTPStatus.OK
    subject.meddle(3)
    assert hook.send(overheard.body, dict(overheard.headers)) == HTTPStatus.OK
    assert (subject.floor(), len(hook.carried_out)) == (3, 1)


@pytest.mark.parametrize("apart", [timedelta(seconds=301), timedelta(seconds=-301)])
def test_beyond_the_window_of_five_minutes_nothing_is_accepted(hook: WebhookReceiver, apart: timedelta) -> None:
    subject = WebhookSubject(hook=hook)
    hook.now = NOW + apart
    with pytest.raises(TargetForbidden, match="set their clocks"):
        subject.open().observe(NOW)
    hook.now = NOW + apart - apart / 301
    assert subject.open().observe(NOW).floor == FOUND


def test_another_secret_is_not_accepted(hook: WebhookReceiver) -> None:
    subject = WebhookSubject(hook=hook)
    with pytest.raises(TargetForbidden, match="the same secret"):
        opened(hook.url, secret="x" * 16, name=subject.name).observe(NOW)


def test_a_body_that_was_changed_under_way_is_not_accepted(hook: WebhookReceiver) -> None:
    subject = WebhookSubject(hook=hook)
    body = json.dumps({"target": subject.name, "floor": 8, "version": "1", "marks": {}}).encode()
    headers = signed("POST", body, secret=SECRET, at=NOW)
    assert hook.send(body.replace(b"8", b"0"), headers) == HTTPStatus.UNAUTHORIZED
    assert hook.send(body, headers) == HTTPStatus.OK


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"version": "1"}, "floor"),
        ({**STATE, "floor": -1}, "floor"),
        ({**STATE, "floor": "2"}, "floor"),
        ({**STATE, "floor": 2.5}, "floor"),
        ({**STATE, "version": 1}, "version"),
        ({**STATE, "ready": -1}, "ready"),
        ({**STATE, "min_replicas": 3}, "min_replicas"),
        ({**STATE, "marks": {"forecaster/original": 2}}, "marks"),
        ("<html>Sign in</html>", "no JSON object"),
        ("[1]", "no JSON object"),
    ],
)
def test_an_answer_that_we_do_not_know_is_refused_with_the_place(answer: Json | str, told: str) -> None:
    with answering((200, answer)) as server, pytest.raises(TargetRefused, match=told):
        opened(f"{server.url}/floors").observe(NOW)


def test_what_is_not_said_is_unknown() -> None:
    with answering((200, STATE)) as server:
        seen = opened(f"{server.url}/floors").observe(NOW)
    assert (seen.ceiling, seen.ready, seen.pending, seen.original) == (None, None, None, 2)


def test_a_receiver_that_knows_who_wrote_after_us_and_what_is_short_says_so() -> None:
    with answering((200, {**STATE, "writer": "terraform", "shortage": "no H100 left"})) as server:
        seen = opened(f"{server.url}/floors").observe(NOW)
    assert (seen.writer, seen.shortage) == ("terraform", "no H100 left")


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (403, TargetForbidden, "the same secret"),
        (404, TargetMissing, "correct name and url"),
        (409, TargetConflict, "observe it again"),
        (422, TargetRefused, "over budget"),
        (302, TargetRefused, "see what the receiver says"),
    ],
)
def test_a_final_answer_is_told_at_once_in_the_receivers_words(status: int, error: type[TargetError], told: str) -> None:
    with answering((200, STATE), (status, {"error": "over budget"})) as server:
        target = opened(f"{server.url}/floors")
        seen = target.observe(NOW)
        with pytest.raises(error, match=told):
            target.set_floor(decided(target.name, 8), seen)
        assert len(server.asked) == 2


def test_a_receiver_that_is_away_is_unavailable_and_its_address_is_said() -> None:
    with pytest.raises(TargetUnavailable, match=r"webhook:llm: http://127\.0\.0\.1:1 cannot be reached: .*refused; try again later"):
        opened("http://127.0.0.1:1/floors").observe(NOW)


def test_the_address_is_asked_as_it_is_written() -> None:
    with answering((200, STATE)) as server:
        for path in ("/a/b", "/a/b/", ""):
            opened(f"{server.url}{path}").observe(NOW)
        assert [asked.path for asked in server.asked] == ["/a/b", "/a/b/", "/"]
        assert {asked.query for asked in server.asked} == {"target=llm"}


@pytest.mark.parametrize(
    ("field", "value"), [("url", "ftp://host/x"), ("url", "https://host/x?y=1"), ("secret", "short"), ("name", ""), ("replicas", 3)]
)
def test_settings_that_cannot_be_are_refused_by_name_and_the_secret_is_never_shown(field: str, value: object) -> None:
    document = {"type": "webhook", "name": "llm", "url": "https://host/x", "secret": SECRET}
    with pytest.raises(ValidationError, match=field) as raised:
        WebhookConfig.model_validate({**document, field: value})
    assert SECRET not in str(raised.value)
