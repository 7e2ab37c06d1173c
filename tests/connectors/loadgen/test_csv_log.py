"""Request logs as people have them: whose columns are understood, and one clear sentence for what is none."""

import gzip
from pathlib import Path

import pytest

from connectors.loadgen.csv_log import read_request_log
from forecaster.errors import TraceRejected

HEADER = "timestamp,input_tokens,output_tokens"
ROWS = [f"2023-11-16T18:15:{second:02d}.5Z,{100 + second},{second + 1}" for second in range(30)]


def written(folder: Path, *lines: str) -> Path:
    path = folder / "requests.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_is_read(tmp_path: Path) -> None:
    log = read_request_log(written(tmp_path, HEADER, *ROWS))
    assert (log.arrived_s - log.arrived_s[0]).tolist() == list(range(30))
    assert (log.input_tokens[0], log.output_tokens[-1]) == (100, 30)
    assert log.rpm == pytest.approx(60)


def test_a_gzipped_one_with_a_byte_order_mark_and_blank_lines_is_read(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv.gz"
    path.write_bytes(gzip.compress("\n\n".join(["\ufeff" + HEADER, *ROWS]).encode()))
    assert read_request_log(path).input_tokens.size == 30


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("TIMESTAMP,ContextTokens,GeneratedTokens", "2023-11-16 18:15:{:02d}.6805900,10,20"),
        ("Timestamp,Model,Request tokens,Response tokens", "{},ChatGPT,10,20"),
        ("timestamp_ms,prompt_tokens,completion_tokens", "{}000,10,20"),
        ("output_length,input_length,arrival_time", "20,10,17000000{:02d}"),
    ],
)
def test_what_others_call_the_columns_is_understood(tmp_path: Path, header: str, row: str) -> None:
    log = read_request_log(written(tmp_path, header, *(row.format(second) for second in range(30))))
    assert log.rpm == pytest.approx(60, rel=1e-3)
    assert (log.input_tokens.mean(), log.output_tokens.mean()) == (10, 20)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["timestamp,input_tokens", *ROWS], "there is no column output_tokens; it has timestamp, input_tokens: a request log has"),
        (["timestamp,prompt_tokens,input_tokens,output_tokens"], "columns prompt_tokens, input_tokens could all be input_tokens"),
        ([HEADER], "holds no request below its header"),
        ([], "there is no column timestamp: a request log has"),
        ([HEADER, *ROWS[:5]], "needs at least 20 requests"),
        ([HEADER, ROWS[3], ROWS[2]], "line 3 arrives before the line above it: sort the log by timestamp"),
        ([HEADER, "2023-11-16T18:15:00Z,374,"], "line 2: output_tokens is missing"),
        ([HEADER, "2023-11-16T18:15:00Z,374"], "line 2: output_tokens is missing"),
        ([HEADER, "2023-11-16T18:15:00Z,0,4"], "line 2: input_tokens must be a whole number of at least 1, got '0'"),
        ([HEADER, "2023-11-16T18:15:00Z,nan,4"], "input_tokens must be a whole number"),
        ([HEADER, "yesterday,10,4"], "timestamp is neither ISO 8601 nor a number of seconds, got 'yesterday'"),
        ([HEADER, "1700000000000,10,4"], "is not in seconds; call the column timestamp_ms"),
        ([HEADER, '"1,2,3'], "line 2 is no CSV"),
        ([HEADER, *["5,10,4"] * 30], "all requests arrived at the same instant"),
    ],
)
def test_what_is_no_log_is_one_sentence_with_its_place(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(TraceRejected) as refused:
        read_request_log(written(tmp_path, *lines))
    assert str(refused.value).startswith("requests.csv")
    assert said in str(refused.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"x" * 1_000)[:20])
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, said in ((tmp_path / "none.csv", "cannot be read"), (broken, "broken gzip file"), (binary, "is no text")):
        with pytest.raises(TraceRejected, match=said):
            read_request_log(path)
