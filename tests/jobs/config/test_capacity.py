"""Where a pool's capacity shall come from: figures, profiles, an estimate; what contradicts itself is refused in one sentence."""

from pathlib import Path

import pytest

from forecaster.capacity import Capacity
from forecaster.estimate import Lengths, Terms
from forecaster.profile_best import Asked, Follows
from jobs.config.reading import read_config
from tests.jobs.config.samples import faults_of, with_workload

AT = "forecaster.yaml: workloads[0].pools[0].capacity"
TERMS = Terms(output_tokens_s=35, coefficient=0.1, lengths=Lengths(input_tokens=1_200))


def with_capacity(written: str) -> str:
    return with_workload("capacity: {rpm: 60}", f"capacity: {written}")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("{}", Asked()),
        ("{rpm: 60}", Asked(figures=Capacity(rpm=60))),
        ("{profile: imported}", Asked(follows=Follows.IMPORTED)),
        ("{profile: best}", Asked(follows=Follows.BEST)),
        ("{estimate: {output_tokens_per_s: 35, coefficient: 0.1, input_tokens: 1200}}", Asked(terms=TERMS)),
        (
            "{profile: best, estimate: {output_tokens_per_s: 35, coefficient: 0.1, input_tokens: 1200}}",
            Asked(follows=Follows.BEST, terms=TERMS),
        ),
    ],
)
def test_what_is_asked_for_is_read(tmp_path: Path, written: str, asked: Asked) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_capacity(written))
    assert read_config(path).workloads[0].pools[0].capacity.asked() == asked


@pytest.mark.parametrize("field", ["max_batch", "tensor_parallelism", "kv_tokens"])
def test_a_number_beyond_what_a_float_holds_is_refused_at_its_key(tmp_path: Path, field: str) -> None:
    serving = with_workload("capacity: {rpm: 60}", f"serving: {{{field}: 1{'0' * 400}}}")
    (said,) = faults_of(tmp_path, serving)
    assert said.startswith(f"{AT.removesuffix('.capacity')}.serving.{field}: must be at most 1e+24, got 1000")
    assert len(said) < 200


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{profile: newest}", f"{AT}.profile: must be imported or best, got 'newest'; did you mean best?"),
        (
            "{estimate: {output_tokens_per_s: 35}}",
            (
                f"{AT}.estimate.coefficient: is missing: what an input token costs in output tokens: about the tokens/s that a full batch "
                "generates over the tokens/s of prompts that a replica reads when it does nothing else"
            ),
        ),
        (
            "{estimate: {coefficient: 0.1}}",
            f"{AT}.estimate.output_tokens_per_s: is missing: generated tokens a second of one request while the whole batch is in flight",
        ),
        ("{estimate: {output_tokens_per_s: 0, coefficient: 0.1}}", f"{AT}.estimate.output_tokens_per_s: must be above 0, got 0"),
        (
            "{profile: imported, estimate: {output_tokens_per_s: 35, coefficient: 0.1}}",
            f"{AT}: profile: imported takes no estimate: write profile: best to follow both, or leave one out",
        ),
    ],
)
def test_what_contradicts_itself_or_is_left_out_is_refused_in_one_sentence(tmp_path: Path, written: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_capacity(written)) == [sentence]
