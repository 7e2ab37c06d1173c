"""Files as people have them: what of them is read, and the sentence for what cannot be."""

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.sources.csv import CsvConfig, CsvSource, read_trace
from forecaster.errors import SourceRejected, TraceRejected
from forecaster.ports import Query, Unit
from forecaster.series import Signal, Window

NAN = float("nan")
DEMO = Path(__file__).parents[3] / "jobs" / "demo" / "llm_azure2024_conv_1m.csv.gz"
RPM = Query(signal=Signal.RPM, expression="value", unit=Unit.COUNT)


def written(folder: Path, *rows: str, header: str = "timestamp,value", end: str = "\n") -> Path:
    path = folder / "trace.csv"
    path.write_bytes(end.join([header, *rows, ""]).encode())
    return path


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


class TestWhatIsRead:
    def test_a_real_trace_in_gzip(self) -> None:
        trace = read_trace(DEMO)
        assert (trace.start, trace.bucket_s, trace.counts.size) == (at("2024-05-12T00:00:00Z"), 60, 7 * 1_440)
        assert trace.counts[:2].tolist() == [1425, 1497]

    def test_empty_cells_and_absent_rows_are_missing(self, tmp_path: Path) -> None:
        trace = read_trace(
            written(
                tmp_path, "2024-05-12T00:00Z,1", "2024-05-12T00:05Z,", "2024-05-12T00:10Z,3", "2024-05-12T00:20Z,5", "2024-05-12T00:25Z,6"
            )
        )
        assert trace.bucket_s == 300
        np.testing.assert_array_equal(trace.counts, [1, NAN, 3, NAN, 5, 6])

    def test_infinite_and_negative_numbers_are_not_measured_and_zero_is(self, tmp_path: Path) -> None:
        rows = [f"2024-05-12T00:0{i}:00Z,{value}" for i, value in enumerate(["0", "-1", "inf", "-inf", "NaN", "2.5"])]
        np.testing.assert_array_equal(read_trace(written(tmp_path, *rows)).counts, [0, NAN, NAN, NAN, NAN, 2.5])

    def test_stamps_off_the_round_minute_fall_into_the_bucket_that_holds_them(self, tmp_path: Path) -> None:
        rows = ["2024-05-12T21:42:53Z,1", "2024-05-12T21:47:53.5Z,2", "2024-05-12T21:52:53Z,3"]
        trace = read_trace(written(tmp_path, *rows))
        assert (trace.start, trace.bucket_s) == (at("2024-05-12T21:40:00Z"), 300)
        assert trace.counts.tolist() == [1, 2, 3]

    def test_a_jittering_clock_still_has_its_nominal_bucket(self, tmp_path: Path) -> None:
        rows = [f"2024-05-12T0{i}:01:{30 + 13 * i % 20}Z,{i}" for i in range(6)]
        trace = read_trace(written(tmp_path, *rows))
        assert trace.bucket_s == 3_600
        assert trace.counts.tolist() == [0, 1, 2, 3, 4, 5]

    def test_a_repeated_row_does_not_double_the_load(self, tmp_path: Path) -> None:
        rows = ["2024-05-12T00:00Z,10", "2024-05-12T00:01Z,20", "2024-05-12T00:01Z,20", "2024-05-12T00:02Z,30"]
        assert read_trace(written(tmp_path, *rows)).counts.tolist() == [10, 20, 30]

    def test_rows_may_stand_in_any_order(self, tmp_path: Path) -> None:
        rows = ["2024-05-12T00:02Z,30", "2024-05-12T00:00Z,10", "2024-05-12T00:01Z,20"]
        assert read_trace(written(tmp_path, *rows)).counts.tolist() == [10, 20, 30]

    def test_offsets_are_converted_and_may_differ(self, tmp_path: Path) -> None:
        rows = ["2024-05-12T02:00:00+02:00,1", "2024-05-12T00:01:00Z,2", "2024-05-11T20:02:00-0400,3", "2024-05-12 00:03:00+00,4"]
        trace = read_trace(written(tmp_path, *rows))
        assert trace.start == at("2024-05-12T00:00:00Z")
        assert trace.counts.tolist() == [1, 2, 3, 4]

    def test_other_columns_in_any_order_are_ignored(self, tmp_path: Path) -> None:
        path = written(tmp_path, 'x,1,"a,b",2024-05-12T00:00Z', "y,2,,2024-05-12T00:01Z", header="fault,load,note,when")
        assert read_trace(path, column="load", timestamp="when").counts.tolist() == [1, 2]

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_line_ends_and_byte_order_marks_of_other_systems(self, tmp_path: Path, end: str, mark: str) -> None:
        path = written(tmp_path, "2024-05-12T00:00Z, 1", "2024-05-12T00:01Z, 2", "", header=f"{mark}timestamp, value", end=end)
        assert read_trace(path).counts.tolist() == [1, 2]

    def test_gzip_is_known_by_its_content(self, tmp_path: Path) -> None:
        path = tmp_path / "trace.txt"
        path.write_bytes(gzip.compress(b"timestamp,value\n2024-05-12T00:00Z,1\n2024-05-12T00:01Z,2\n"))
        assert read_trace(path).counts.tolist() == [1, 2]


ROW = "2024-05-12T00:00:00Z,1"
NEXT = "2024-05-12T00:01:00Z,2"


class TestWhatIsRefused:
    """Each with one sentence that names the file, the place in it and the remedy."""

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"", "trace.csv is empty"),
            (b"\n\n", "trace.csv is empty"),
            (b"timestamp,value\n", "trace.csv has a header but no rows"),
            (b"timestamp,value\n\n\n", "trace.csv has a header but no rows"),
            (f"timestamp,value\n{ROW}\n".encode(), "trace.csv has one timestamp only"),
            (f"timestamp,value\n{ROW}\n{ROW}\n".encode(), "trace.csv has one timestamp only"),
            (f"timestamp,load\n{ROW}\n".encode(), "trace.csv has no column 'value'; its columns are 'timestamp', 'load'"),
            (f"time,value\n{ROW}\n".encode(), "trace.csv has no column 'timestamp'; its columns are 'time', 'value'"),
            (f"timestamp;value\n{ROW.replace(',', ';')}\n".encode(), "trace.csv separates its columns with ';'; write commas"),
            (f"timestamp,value\n{ROW}\n\n2024-05-12T00:02Z,many\n".encode(), "trace.csv, line 4: 'many' is not a number"),
            (f"timestamp,value\n{ROW}\n2024-05-12T00:01Z,True\n".encode(), "trace.csv, line 3: 'True' is not a number"),
            (f"timestamp,value\n{ROW}\nyesterday,2\n".encode(), "trace.csv, line 3: 'yesterday' is not an ISO 8601 timestamp"),
            (f"timestamp,value\n{ROW}\n1715472060,2\n".encode(), "trace.csv, line 3: '1715472060' is not an ISO 8601 timestamp"),
            (f"timestamp,value\n{ROW}\n,2\n".encode(), "trace.csv, line 3: an empty cell is not an ISO 8601 timestamp"),
            (f"timestamp,value\n{ROW}\n2024-05-12T00:01:00,2\n".encode(), "line 3: '2024-05-12T00:01:00' has no offset from UTC; write Z"),
            (b"timestamp,value\n2024-05-12,1\n2024-05-13,2\n", "line 2: '2024-05-12' has no offset from UTC; write Z"),
            (
                f"timestamp,value\n{ROW}\n2024-05-12T00:00:07Z,2\n".encode(),
                "trace.csv has a row every 7 s (median), which does not divide a day",
            ),
            (f"timestamp,value\n{ROW}\n2024-05-12T00:07:00Z,2\n".encode(), "trace.csv has a row every 420 s (median)"),
            (f"timestamp,value\n{ROW}\n2024-05-12T00:00:00.05Z,2\n".encode(), "trace.csv has a row every 0.05 s (median)"),
            (f"timestamp,value\n{ROW}\n2024-05-14T00:00:00Z,2\n".encode(), "trace.csv has a row every 172800 s (median)"),
            (f"timestamp,value\n{ROW}\n{NEXT}\n2204-05-12T00:02Z,2\n2204-05-12T00:03Z,2\n".encode(), "look for a mistyped timestamp"),
            (b"timestamp,value\n2024-05-12T00:00Z,\n2024-05-12T00:01Z,-3\n", "trace.csv has no number in column 'value'"),
            (b'timestamp,value\n"2024-05-12T00:00Z,1\n', "trace.csv is not a CSV file in UTF-8"),
            (b"\x7fELF\x02\x01\x01\x00\xff\xfe\x00\n\x00", "trace.csv is not a CSV file in UTF-8"),
            ("timestamp,value\n".encode("utf-16"), "trace.csv is not a CSV file in UTF-8"),
            (gzip.compress(f"timestamp,value\n{ROW}\n{NEXT}\n".encode(), mtime=0)[:-12], "trace.csv is a broken gzip file"),
            (b"\x1f\x8b nothing of the kind", "trace.csv is a broken gzip file"),
        ],
    )
    def test_content_that_is_no_trace(self, tmp_path: Path, content: bytes, sentence: str) -> None:
        path = tmp_path / "trace.csv"
        path.write_bytes(content)
        with pytest.raises(TraceRejected) as refused:
            read_trace(path)
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(TraceRejected, match=r"absent\.csv cannot be read: No such file"):
            read_trace(tmp_path / "absent.csv")

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(TraceRejected, match="cannot be read: Is a directory"):
            read_trace(tmp_path)

    def test_a_path_that_the_system_refuses(self, tmp_path: Path) -> None:
        (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
        with pytest.raises(TraceRejected, match=r"loop\.csv cannot be read: "):
            read_trace(tmp_path / "loop.csv")

    def test_a_source_refuses_what_a_trace_refuses(self, tmp_path: Path) -> None:
        source = CsvSource(CsvConfig(type="csv", path=written(tmp_path, ROW, "2024-05-12T00:02Z,many")))
        with pytest.raises(SourceRejected, match="line 3: 'many' is not a number"):
            source.fetch(RPM, Window(start=at("2024-05-12T00:00Z"), end=at("2024-05-12T01:00Z")), 60)


class TestTheSource:
    def test_a_count_in_a_bucket_becomes_requests_per_minute(self, tmp_path: Path) -> None:
        path = written(tmp_path, "2024-05-12T00:00Z,600", "2024-05-12T01:00Z,1200")
        series = CsvSource(CsvConfig(type="csv", path=path)).fetch(
            RPM, Window(start=at("2024-05-12T00:00Z"), end=at("2024-05-12T02:00Z")), 1_800
        )
        assert series.mean.tolist() == [10, 10, 20, 20]
        assert series.peak.tolist() == [10, 10, 20, 20]

    def test_a_bucket_that_has_not_ended_by_the_end_of_the_window_is_not_known(self, tmp_path: Path) -> None:
        path = written(tmp_path, "2024-05-12T00:00Z,600", "2024-05-12T01:00Z,1200")
        series = CsvSource(CsvConfig(type="csv", path=path)).fetch(
            RPM, Window(start=at("2024-05-12T00:30Z"), end=at("2024-05-12T01:30Z")), 1_800
        )
        np.testing.assert_array_equal(series.mean, [10, NAN])

    def test_the_peak_of_a_file_finer_than_a_minute_is_its_largest_minute(self, tmp_path: Path) -> None:
        path = written(tmp_path, *(f"2024-05-12T00:0{i // 6}:{i % 6}0Z,{100 if i == 0 else 10}" for i in range(12)))
        series = CsvSource(CsvConfig(type="csv", path=path)).fetch(
            RPM, Window(start=at("2024-05-12T00:00Z"), end=at("2024-05-12T00:02Z")), 120
        )
        assert series.mean.tolist() == [105]
        assert series.peak.tolist() == [150]

    def test_a_changed_file_is_read_again(self, tmp_path: Path) -> None:
        path = written(tmp_path, ROW, NEXT)
        source = CsvSource(CsvConfig(type="csv", path=path))
        window = Window(start=at("2024-05-12T00:00Z"), end=at("2024-05-12T00:03Z"))
        np.testing.assert_array_equal(source.fetch(RPM, window, 60).mean, [1, 2, NAN])
        written(tmp_path, ROW, NEXT, "2024-05-12T00:02Z,3")
        np.testing.assert_array_equal(source.fetch(RPM, window, 60).mean, [1, 2, 3])

    def test_a_file_of_the_same_size_and_time_is_not_read_again(self, tmp_path: Path) -> None:
        path = written(tmp_path, ROW, NEXT)
        source = CsvSource(CsvConfig(type="csv", path=path))
        window = Window(start=at("2024-05-12T00:00Z"), end=at("2024-05-12T00:02Z"))
        first = source.fetch(RPM, window, 60)
        before = path.stat()
        written(tmp_path, ROW, "2024-05-12T00:01:00Z,9")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert source.fetch(RPM, window, 60) == first
        source.close()
        assert source.fetch(RPM, window, 60).mean.tolist() == [1, 9]

    def test_a_probe_tells_the_span_the_share_measured_and_the_age(self) -> None:
        source = CsvSource(CsvConfig(type="csv", path=DEMO))
        sentence = source.probe(RPM, at("2024-05-19T00:00:00Z") + timedelta(hours=30))
        assert sentence == (
            "column 'value' has 10080 buckets of 60 s from 2024-05-12T00:00:00Z to 2024-05-19T00:00:00Z, 100% measured, "
            "the last 1551 requests/min; it ends 30 h before now"
        )

    def test_a_probe_tells_rows_that_no_load_can_have(self, tmp_path: Path) -> None:
        source = CsvSource(CsvConfig(type="csv", path=written(tmp_path, ROW, "2024-05-12T00:01Z,-5", "2024-05-12T00:02Z,inf")))
        sentence = source.probe(RPM, at("2024-05-12T00:03Z"))
        assert sentence.endswith("; 2 rows negative or infinite, taken as not measured")

    def test_a_probe_of_a_column_without_numbers_says_so(self, tmp_path: Path) -> None:
        source = CsvSource(CsvConfig(type="csv", path=written(tmp_path, "2024-05-12T00:00Z,", "2024-05-12T00:01Z,")))
        assert "none of them measured" in source.probe(RPM, datetime(2024, 5, 12, tzinfo=UTC))
