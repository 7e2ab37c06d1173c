"""The endpoint's first answer: what a replay needs to know, and one clear sentence for what is no such endpoint."""

import pytest

from connectors.loadgen.endpoint import Served, first_answer
from forecaster.errors import LoadTestFailed
from tests.json_server import JsonServer
from tests.openai_replica import Replica
from tests.services import free_port


def asked(url: str, *, model: str | None = None, key: str | None = None) -> Served:
    return first_answer(url, model=model, key=key, key_variable="OPENAI_API_KEY")


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_only_model_is_the_one_that_is_driven_however_the_address_ends(ending: str) -> None:
    with Replica(service_s=0.01) as replica:
        served = asked(replica.url + ending)
    assert (served.url, served.model, served.takes_ignore_eos) == (replica.url, "llama-8b", True)
    assert replica.asked[0]["stream"] is True


def test_of_several_models_the_one_that_is_said_is_driven() -> None:
    with Replica(service_s=0.01, models=("small", "large")) as replica:
        assert asked(replica.url, model="large").model == "large"
        with pytest.raises(LoadTestFailed, match=r"serves small, large: say which as `serving: {model: ...}` of the pool"):
            asked(replica.url, model="huge")


def test_the_only_model_may_have_another_name_there() -> None:
    with Replica(service_s=0.01) as replica:
        assert asked(replica.url, model="meta-llama/Llama-3.1-8B").model == "llama-8b"


def test_where_ignore_eos_is_refused_it_is_not_sent() -> None:
    with Replica(service_s=0.01, refuses=("ignore_eos",)) as replica:
        assert not asked(replica.url).takes_ignore_eos


def test_a_key_is_sent_and_never_told() -> None:
    with Replica(service_s=0.01, key="sk-right") as replica:
        served = asked(replica.url, key="sk-right")
        assert "sk-right" not in repr(served)
        with pytest.raises(LoadTestFailed, match=r"refuses the key \(HTTP 401\): put it into the variable OPENAI_API_KEY"):
            asked(replica.url, key="sk-wrong")
        with pytest.raises(LoadTestFailed, match="needs a key"):
            asked(replica.url)


def test_what_does_not_answer_is_told() -> None:
    with pytest.raises(LoadTestFailed, match=r"endpoint http://127.0.0.1:\d+ does not answer"):
        asked(f"http://127.0.0.1:{free_port()}")


def test_an_address_without_a_scheme_is_told() -> None:
    with pytest.raises(LoadTestFailed, match="--endpoint must begin with http"):
        asked("replica:8000")


def test_one_that_knows_the_older_name_of_a_length_is_asked_by_it() -> None:
    with Replica(service_s=0.01, length_field="max_tokens") as replica:
        served = asked(replica.url)
    assert (served.length_field, served.takes_ignore_eos) == ("max_tokens", True)


def test_one_that_takes_no_length_is_driven_all_the_same() -> None:
    with Replica(service_s=0.01, length_field="whatever") as replica:
        assert asked(replica.url) == Served(url=replica.url, model="llama-8b")


def test_one_that_does_not_stream_is_driven_all_the_same() -> None:
    with Replica(service_s=0.01, answers="whole") as replica:
        assert not asked(replica.url).streams


def test_what_completes_nothing_is_not_compatible() -> None:
    with Replica(answers="nothing") as replica, pytest.raises(LoadTestFailed, match="there is no chat completion at /v1/chat/completions"):
        asked(replica.url)


def test_a_web_page_is_not_compatible() -> None:
    with JsonServer(lambda _: (404, "<html>hello</html>")) as server, pytest.raises(LoadTestFailed, match="is not OpenAI-compatible"):
        asked(server.url, model="m")
    with JsonServer(lambda _: (404, "<html>hello</html>")) as server, pytest.raises(LoadTestFailed, match="lists no model at /v1/models"):
        asked(server.url)


def test_a_refusal_is_told_in_the_servers_own_words() -> None:
    with (
        Replica(refuses=("stream_options",)) as replica,
        pytest.raises(LoadTestFailed, match=r"llama-8b: HTTP 400, unknown field stream_o"),
    ):
        asked(replica.url)
