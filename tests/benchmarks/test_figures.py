"""A figure says whether its goal was reached, in the direction that is better."""

from benchmarks.figures import Figure, Table


def test_a_goal_is_reached_at_the_very_figure() -> None:
    assert Figure(name="pinball", value=0.58, unit="x", goal=0.58).verdict == "reached"
    assert Figure(name="pinball", value=0.581, unit="x", goal=0.58).verdict == "missed"
    assert Figure(name="coverage", value=0.94, unit="", goal=0.94, better="higher").verdict == "reached"
    assert Figure(name="coverage", value=0.93, unit="", goal=0.94, better="higher").verdict == "missed"


def test_a_missing_figure_says_why_instead() -> None:
    assert Figure(name="load", value=None, unit="ms", goal=30, note="needs initdb").line == "| load |  | at most 30 | needs initdb |"


def test_a_figure_for_the_record_is_neither_reached_nor_missed() -> None:
    assert Figure(name="size", value=5.875, unit="bytes").line == "| size | 5.88 bytes |  |  |"


def test_a_table_is_markdown() -> None:
    table = Table(title="By trace", header=("trace", "x"), rows=(("taxi", "0.5"),))
    assert str(table) == "By trace\n\n| trace | x |\n| --- | ---: |\n| taxi | 0.5 |"
