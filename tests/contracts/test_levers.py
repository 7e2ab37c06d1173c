"""What `forecaster.ports.Lever` promises, over every kind of lever and its counterpart."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Protocol

import pytest
from pydantic import SecretStr

from connectors.kube.connection import KubeConnection
from connectors.levers.apisix import ApisixLeverConfig
from connectors.levers.kong import KongLeverConfig
from connectors.levers.kubernetes_field import MARK, KubernetesFieldLeverConfig
from connectors.levers.litellm import LitellmLeverConfig
from connectors.levers.recording import RecordingLever
from connectors.levers.registry import OPENERS, LeverConfig, lever_name, open_levers
from connectors.levers.webhook import WebhookLeverConfig
from forecaster.errors import TargetConflict, TargetMissing
from forecaster.ladder import LeverValue
from forecaster.levers import Moved
from forecaster.ports import Lever
from tests.admin_apis import APISIX_KEY, KONG_TOKEN, MASTER_KEY, AdminApis
from tests.kube_api import KubeApi
from tests.lever_receiver import SECRET, LeverReceiver

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)
FOUND = 100
_names = (f"lever-{i}" for i in count())
POLICIES = "backendtrafficpolicies"


class Subject(Protocol):
    """The value behind a lever, found at 100."""

    config: LeverConfig

    def stands(self) -> object: ...
    def marked(self) -> bool: ...
    def writes(self) -> int: ...
    def meddle(self, value: int) -> None: ...
    def remove(self) -> None: ...


@dataclass(kw_only=True)
class FieldSubject:
    """A field of an Envoy Gateway BackendTrafficPolicy, a key of a ConfigMap, or an entry of a list."""

    api: KubeApi
    plural: str = POLICIES
    path: str = "spec.circuitBreaker.maxParallelRequests"
    name: str = field(default_factory=lambda: next(_names))
    config: LeverConfig = field(init=False)

    def __post_init__(self) -> None:
        rules = [{"limit": {"requests": FOUND, "unit": "Minute"}}, {"limit": {"requests": 7, "unit": "Hour"}}]
        spec = {"circuitBreaker": {"maxParallelRequests": FOUND, "maxPendingRequests": 20}, "rateLimit": {"local": {"rules": rules}}}
        policy = self.plural == POLICIES
        parts: dict[str, Any] = {} if policy else {"data": {"max_batch": str(FOUND), "other": "kept"}}
        self.api.put(self.plural, "serving", self.name, metadata={}, spec=spec if policy else {}, **parts)
        self.config = KubernetesFieldLeverConfig(
            type="kubernetes-field",
            api_version="gateway.envoyproxy.io/v1alpha1" if policy else "v1",
            kind="BackendTrafficPolicy" if policy else "ConfigMap",
            namespace="serving",
            name=self.name,
            field=self.path,
            cluster=KubeConnection(server=self.api.url),
        )

    def whole(self) -> dict[str, Any]:
        return self.api.look(self.plural, "serving", self.name)

    def stands(self) -> object:
        whole = self.whole()
        if self.plural != POLICIES:
            return int(whole["data"]["max_batch"])
        rules = whole["spec"]["rateLimit"]["local"]["rules"]
        assert rules[1] == {"limit": {"requests": 7, "unit": "Hour"}}
        limits = {"spec.circuitBreaker.maxParallelRequests": whole["spec"]["circuitBreaker"]["maxParallelRequests"]}
        return limits.get(self.path, rules[0]["limit"]["requests"])

    def marked(self) -> bool:
        return any(key.startswith(MARK) for key in self.whole()["metadata"].get("annotations", {}))

    def writes(self) -> int:
        return sum(request.path.endswith(f"/{self.name}") for request in self.api.writes)

    def meddle(self, value: int) -> None:
        if self.plural != POLICIES:
            self.api.change(self.plural, "serving", self.name, {"data": {"max_batch": str(value)}})
        elif "rules" in self.path:
            rules = self.whole()["spec"]["rateLimit"]["local"]["rules"]
            rules[0]["limit"]["requests"] = value
            self.api.change(self.plural, "serving", self.name, {"spec": {"rateLimit": {"local": {"rules": rules}}}})
        else:
            self.api.change(self.plural, "serving", self.name, {"spec": {"circuitBreaker": {"maxParallelRequests": value}}})

    def remove(self) -> None:
        self.api.remove(self.plural, "serving", self.name)


@dataclass(kw_only=True)
class WebhookSubject:
    """A value behind the receiver."""

    hook: LeverReceiver
    name: str = field(default_factory=lambda: next(_names))
    config: LeverConfig = field(init=False)

    def __post_init__(self) -> None:
        self.hook.values[self.name] = FOUND
        self.config = WebhookLeverConfig(type="webhook", name=self.name, url=self.hook.url, secret=SecretStr(SECRET))

    def stands(self) -> object:
        return self.hook.values[self.name]

    def marked(self) -> bool:
        return self.hook.held(self.name) is not None

    def writes(self) -> int:
        return sum(post["lever"] == self.name for post in self.hook.posts)

    def meddle(self, value: int) -> None:
        self.hook.change(self.name, value)

    def remove(self) -> None:
        del self.hook.values[self.name]


@dataclass(kw_only=True)
class DocumentSubject:
    """A value of a plugin in Kong or APISIX, or a limit of a key of LiteLLM."""

    apis: AdminApis
    kind: str
    name: str = field(default_factory=lambda: next(_names))
    config: LeverConfig = field(init=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        url, document = self.apis.url, dict[str, Any]()
        match self.kind:
            case "kong":
                self.address = f"/plugins/{self.name}"
                document = {"id": self.name, "name": "rate-limiting", "tags": ["team-a"], "config": {"minute": FOUND, "hour": None}}
                self.config = KongLeverConfig(type="kong", url=url, plugin=self.name, field="config.minute", token=SecretStr(KONG_TOKEN))
            case "apisix":
                self.address = f"/apisix/admin/routes/{self.name}"
                document = {"id": self.name, "plugins": {"limit-count": {"count": FOUND, "time_window": 60}}}
                self.config = ApisixLeverConfig(
                    type="apisix",
                    url=url,
                    resource="routes",
                    id=self.name,
                    field="plugins.limit-count.count",
                    key=SecretStr(APISIX_KEY),
                )
            case _:
                self.address = f"sk-{self.name}"
                document = {"key_alias": self.name, "rpm_limit": FOUND, "tpm_limit": None, "metadata": {"team": "a"}}
                self.config = LitellmLeverConfig(
                    type="litellm",
                    name=self.name,
                    url=url,
                    master_key=SecretStr(MASTER_KEY),
                    key=SecretStr(self.address),
                    limit="rpm_limit",
                )
        self.apis.documents[self.address] = document

    def whole(self) -> dict[str, Any]:
        return self.apis.documents[self.address]

    def _holder(self) -> dict[str, Any]:
        match self.kind:
            case "kong":
                inside: dict[str, Any] = self.whole()["config"]
            case "apisix":
                inside = self.whole()["plugins"]["limit-count"]
            case _:
                inside = self.whole()
        return inside

    @property
    def _key(self) -> str:
        return {"kong": "minute", "apisix": "count"}.get(self.kind, "rpm_limit")

    def stands(self) -> object:
        assert "team-a" in self.whole().get("tags", ["team-a"])
        assert self.whole().get("metadata", {"team": "a"})["team"] == "a"
        return self._holder()[self._key]

    def marked(self) -> bool:
        return "forecaster-lever-" in str(self.whole())

    def writes(self) -> int:
        return self.apis.writes.count(self.address)

    def meddle(self, value: int) -> None:
        self._holder()[self._key] = value

    def remove(self) -> None:
        del self.apis.documents[self.address]


def _document(kind: str, request: pytest.FixtureRequest) -> Subject:
    return DocumentSubject(apis=request.getfixturevalue("apis"), kind=kind)


SUBJECTS: Mapping[str, Callable[[pytest.FixtureRequest], Subject]] = {
    "kubernetes-field": lambda request: FieldSubject(api=request.getfixturevalue("api")),
    "kubernetes-field in a list": lambda request: FieldSubject(
        api=request.getfixturevalue("api"), path="spec.rateLimit.local.rules.0.limit.requests"
    ),
    "kubernetes-field of a ConfigMap": lambda request: FieldSubject(
        api=request.getfixturevalue("api"), plural="configmaps", path="data.max_batch"
    ),
    "webhook": lambda request: WebhookSubject(hook=request.getfixturevalue("hook")),
    "litellm": partial(_document, "litellm"),
    "kong": partial(_document, "kong"),
    "apisix": partial(_document, "apisix"),
}


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        server.define(POLICIES, kind="BackendTrafficPolicy", api_version="gateway.envoyproxy.io/v1alpha1")
        yield server


@pytest.fixture(scope="module")
def hook() -> Iterator[LeverReceiver]:
    with LeverReceiver() as server:
        yield server


@pytest.fixture(scope="module")
def apis() -> Iterator[AdminApis]:
    with AdminApis() as server:
        yield server


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param](request)


def opened(subject: Subject) -> Lever:
    return open_levers({"it": subject.config})["it"]


def moved_to(lever: Lever, value: LeverValue, until: datetime = UNTIL) -> Moved:
    return lever.set(value, until, lever.observe(NOW))


def released(lever: Lever) -> Moved:
    return lever.release(lever.observe(NOW))


def test_every_kind_of_lever_stands_in_this_suite(subject: Subject) -> None:
    assert {kind.model_fields["type"].annotation.__args__[0] for kind in OPENERS} == {kind.split()[0] for kind in SUBJECTS}  # type: ignore[union-attr]  # a Literal
    assert opened(subject).name == lever_name(subject.config)


def test_a_lever_that_was_never_moved_is_seen_as_it_stands_and_observing_writes_nothing(subject: Subject) -> None:
    seen = opened(subject).observe(NOW)
    assert seen.until is None
    assert not seen.is_theirs
    assert str(seen.value) == str(seen.original) == str(FOUND)
    assert subject.writes() == 0


def test_a_value_stands_with_its_original_and_its_end_on_the_object(subject: Subject) -> None:
    assert moved_to(opened(subject), 8).written
    seen = opened(subject).observe(NOW)
    assert (subject.stands(), seen.value, seen.left, seen.until) == (8, 8, 8, UNTIL)
    assert str(seen.original) == str(FOUND)


def test_the_same_value_twice_is_one_write_also_from_another_process(subject: Subject) -> None:
    moved_to(opened(subject), 8)
    assert not moved_to(opened(subject), 8).written
    assert subject.writes() == 1


def test_a_further_value_keeps_the_first_original(subject: Subject) -> None:
    moved_to(opened(subject), 8)
    moved_to(opened(subject), 4)
    assert released(opened(subject)).written
    assert subject.stands() == FOUND


def test_release_puts_the_original_back_and_leaves_no_mark(subject: Subject) -> None:
    moved_to(opened(subject), 8)
    assert released(opened(subject)).written
    assert subject.stands() == FOUND
    assert not subject.marked()
    assert not released(opened(subject)).written


def test_a_change_since_it_was_observed_is_a_conflict_and_nothing_is_written(subject: Subject) -> None:
    lever = opened(subject)
    seen = lever.observe(NOW)
    subject.meddle(50)
    with pytest.raises(TargetConflict, match="observe it again"):
        lever.set(8, UNTIL, seen)
    assert (subject.stands(), subject.writes()) == (50, 0)


def test_what_somebody_else_set_after_us_stays_and_is_named(subject: Subject) -> None:
    moved_to(opened(subject), 8)
    subject.meddle(50)
    moved = moved_to(opened(subject), 4)
    assert not moved.written
    assert "50 by somebody else after we had set 8" in str(moved.note)
    assert released(opened(subject)).written
    assert subject.stands() == 50
    assert not subject.marked()


def test_an_object_that_is_gone_is_missing(subject: Subject) -> None:
    moved_to(opened(subject), 8)
    subject.remove()
    with pytest.raises(TargetMissing, match="configuration"):
        opened(subject).observe(NOW)


def test_a_rehearsal_tells_what_would_be_written_and_writes_nothing(subject: Subject) -> None:
    lever = RecordingLever(opened(subject))
    moved = moved_to(lever, 8)
    assert (moved.after, moved.written) == (8, True)
    assert (subject.stands(), subject.writes()) == (FOUND, 0)
    moved_to(opened(subject), 8)
    assert released(lever).written
    assert subject.stands() == 8
