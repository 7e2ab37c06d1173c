"""The file is YAML 1.2, and whatever is wrong with it as YAML is one sentence with file, line and remedy."""

from pathlib import Path

import pytest

from forecaster.errors import ConfigRejected
from jobs.config.yaml_file import load_yaml


def loaded(folder: Path, text: str | bytes) -> object:
    path = folder / "forecaster.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_yaml(path)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("18:00", "18:00"),
        ("no", "no"),
        ("on", "on"),
        ("2024-05-18", "2024-05-18"),
        ("017", 17),
        ("0o17", 15),
        ("0x1f", 31),
        ("1e3", 1000.0),
        ("1_000", "1_000"),
        ("true", True),
        ("~", None),
        ("", None),
        ('"5"', "5"),
    ],
)
def test_plain_values_are_what_yaml_1_2_says(tmp_path: Path, written: str, meant: object) -> None:
    assert loaded(tmp_path, f"key: {written}") == {"key": meant}


def test_anchors_and_merge_keys_spare_repetition(tmp_path: Path) -> None:
    text = "one: &pool {share: 0.5, name: a}\ntwo: {<<: *pool, name: b}"
    assert loaded(tmp_path, text) == {"one": {"share": 0.5, "name": "a"}, "two": {"share": 0.5, "name": "b"}}


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert loaded(tmp_path, b"\xef\xbb\xbfkey: 1") == {"key": 1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("key: 1\nkey: 2", "line 2, column 1: the key key is there twice; keep one of them"),
        ("a:\n  b: 1\n  c: 2\n  b: 3", "line 4, column 3: the key b is there twice; keep one of them"),
        ("a:\n\t- b", "line 2, column 1: found character"),
        ("a: b: c", "line 1, column 5: mapping values are not allowed"),
        ("a: [1, 2", "line 2, column 1: "),
        ("a: *nobody", "line 1, column 4: found undefined alias"),
        ("a: &loop [*loop]", "line 1, column 4: "),
        ("a: 1\n---\nb: 2", "line 2, column 1: "),
        ("a: !!python/object:os.system x", "line 1, column 4: could not determine a constructor"),
        ("? [a, b]\n: c", "line 1, column 3: "),
        ("", "is empty; `forecaster init` writes a commented example"),
        ("# only a comment\n", "is empty; `forecaster init` writes a commented example"),
        ("- a\n- b", "does not hold keys and values; `forecaster init` writes a commented example"),
        ("a: !!bool perhaps", "holds a value that cannot be what it says to be"),
        ("a: " + "9" * 5_000, "holds a value that cannot be what it says to be"),
        ("a: \x00", "is not text"),
        (b"\x89PNG\r\n\x1a\n\xff\xd8", "is not UTF-8 text; save it as UTF-8"),
    ],
)
def test_what_is_no_configuration_is_refused_with_the_place(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(ConfigRejected) as refused:
        loaded(tmp_path, text)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path / 'forecaster.yaml'}: {sentence}")
    assert "\n" not in said


def test_brackets_without_end_are_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(ConfigRejected, match="nest"):
        loaded(tmp_path, "a: " + "[" * 5_000)


def test_a_directory_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigRejected, match="is a directory; name the file in it"):
        load_yaml(tmp_path)


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigRejected, match="cannot be read"):
        load_yaml(tmp_path / name)
