"""Every format of load-test files, and how a set of files becomes one profile."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from connectors.loadtests import aibrix, aiperf, guidellm, inference_perf, llmperf, vllm
from connectors.loadtests.result_file import Mix, ResultFile, read_json
from forecaster.errors import LoadTestRejected
from forecaster.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One tool's files: whether one is its, and what a set of them comes to."""

    name: str
    claims: Callable[[ResultFile], bool]
    read: Callable[[Sequence[ResultFile], Mix | None], Profile]


FORMATS = tuple(
    Format(name=each.NAME, claims=each.claims, read=each.read) for each in (vllm, guidellm, aiperf, inference_perf, llmperf, aibrix)
)
_KNOWN = ", ".join(each.name for each in FORMATS)


def read_profile(paths: Sequence[Path], mix: Mix | None = None) -> Profile:
    """The profile of result files, or of those in folders. mix: a typical request, for formats with a figure for each length.

    A folder's other files are passed over, one that was named must be a result. Raises LoadTestRejected with one sentence: a file that
    cannot be read, is of no known format or version, lacks percentiles, or whose units contradict each other.
    """
    found = [result for path in paths for result in _results(path)]
    by_format = {each.name: each for each, _ in found}
    if len(by_format) > 1:
        raise LoadTestRejected(f"the files are of several tools ({', '.join(by_format)}): import those of one at a time")
    if not found:
        raise LoadTestRejected(f"{', '.join(map(str, paths))} holds no result of {_KNOWN}")
    return found[0][0].read([file for _, file in found], mix)


def _results(path: Path) -> Iterator[tuple[Format, ResultFile]]:
    is_folder = path.is_dir()
    for each in sorted(path.rglob("*.json")) if is_folder else [path]:
        data = read_json(each)  # one that is damaged is told in a folder too: without it the sweep would be another
        file = ResultFile(name=str(each.relative_to(path)) if is_folder else each.name, data=data) if isinstance(data, Mapping) else None
        known = None if file is None else next((one for one in FORMATS if one.claims(file)), None)
        if file is not None and known is not None:
            yield known, file
        elif not is_folder:
            raise LoadTestRejected(f"{each} is no result of a known tool, which are {_KNOWN}")
