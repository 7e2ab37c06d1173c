"""The frontier in a terminal: one letter a setting, replica-hours to the right, late requests upwards."""

from jobs.cli.canvas import Canvas
from jobs.proof.chart import marked
from jobs.proof.judged import CRONS, FLOORS, HPAS, OURS, Judged, Point
from jobs.proof.scales import Scales, on_chart, percent_of, scales

_COLUMNS, _ROWS = 71, 14
_MARGIN = 8  # room for `<0.01 %`
_LETTERS = {CRONS: "c", HPAS: "h", FLOORS: "o"}
_MARKS = {"your HPA": "Y", "recommended": "@"}


def frontier_chart(judged: Judged, limit_ratio: float) -> str:
    """Every setting of a kind as its letter, later ones over earlier ones, and the policies that a person would compare as signs."""
    cheapest = judged.rows[OURS].replica_hours
    lines = {kind: on_chart(judged.frontier[kind], cheapest) for kind in _LETTERS}
    marks = {words: point for words, point in marked(judged).items() if on_chart((point,), cheapest)}
    frame = scales((*(point for points in lines.values() for point in points), *marks.values()))
    labels = {_row(frame, late): percent_of(late) for late in frame.lates()}
    canvas = Canvas(top=1.0, columns=_COLUMNS, rows=_ROWS, margin=_MARGIN, labels=labels)
    for column in range(0, _COLUMNS, 2):
        canvas.put(_row(frame, limit_ratio), column, "·")
    for kind, points in lines.items():
        for point in points:
            canvas.put(*_place(frame, point), _LETTERS[kind])
    for words, point in marks.items():
        canvas.put(*_place(frame, point), _MARKS[words])
    names = [f"{_LETTERS[kind]} {kind}" for kind in (HPAS, CRONS, FLOORS)] + [f"{_MARKS[words]} {words}" for words in marks]
    return "\n".join([f"late requests  {'  '.join(names)}  · limit", *canvas.lines(), *_axis(frame)])


def _row(frame: Scales, late_ratio: float) -> int:
    return round(frame.up(late_ratio) * (_ROWS - 1))


def _place(frame: Scales, point: Point) -> tuple[int, int]:
    return _row(frame, point.late_ratio), round(frame.across(point.replica_hours) * (_COLUMNS - 1))


def _axis(frame: Scales) -> list[str]:
    axis, labels = ["─"] * _COLUMNS, [" "] * (_COLUMNS + _MARGIN)
    free_from = 0
    for hours in frame.hours():
        column, text = round(frame.across(hours) * (_COLUMNS - 1)), f"{hours:,.10g}"
        axis[column] = "┬"
        if column >= free_from:
            labels[column : column + len(text)] = text
            free_from = column + len(text) + 2
    words = "replica-hours"
    margin = " " * _MARGIN
    return [f"{margin}└{''.join(axis)}", f"{margin} {''.join(labels).rstrip()}", f"{words:>{_COLUMNS + _MARGIN}}"]
