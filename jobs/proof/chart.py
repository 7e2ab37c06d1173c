"""The frontier as a picture that any browser shows: replica-hours against late requests, in SVG."""

from collections.abc import Iterator, Sequence
from html import escape

from jobs.proof.judged import CRONS, FLOORS, HPAS, OURS, YOURS, Judged, Point
from jobs.proof.scales import LEAST_LATE, Scales, on_chart, percent_of, scales

_WIDTH, _HEIGHT = 860, 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 30, 70, 60
_COLOURS = {HPAS: "#c2410c", CRONS: "#7c3aed", FLOORS: "#0369a1"}
_STYLE = "font-family='system-ui, sans-serif' font-size='14'"


def frontier_svg(judged: Judged, title: str, limit_ratio: float) -> str:
    """One SVG document: a line a kind of policy, a dot a setting, and the points that a person would compare named."""
    lines = {kind: on_chart(points, _cheapest(judged)) for kind, points in judged.frontier.items()}
    marks = {name: point for name, point in marked(judged).items() if on_chart((point,), _cheapest(judged))}
    frame = scales((*(point for points in lines.values() for point in points), *marks.values()))
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' height='{_HEIGHT}' {_STYLE}>",
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>",
        f"<text x='{_LEFT}' y='26' font-size='17' font-weight='600'>{escape(title)}</text>",
        *_legend(lines),
        *_axes(frame),
        *_limit(frame, limit_ratio),
        *(part for kind, points in lines.items() for part in _line(frame, points, _COLOURS[kind], kind)),
        *(part for name, point in marks.items() for part in _mark(frame, name, point)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def marked(judged: Judged) -> dict[str, Point]:
    """The policies that are named on the chart, by the words for them."""
    named = {"your HPA": YOURS, "recommended": OURS}
    rows = {words: judged.rows[name] for words, name in named.items() if name in judged.rows}
    return {words: Point(replica_hours=row.replica_hours, late_ratio=row.late_ratio, target=0.0) for words, row in rows.items()}


def _cheapest(judged: Judged) -> float:
    return judged.rows[OURS].replica_hours


def _at(frame: Scales, hours: float, late_ratio: float) -> tuple[float, float]:
    across, up = frame.across(hours), frame.up(late_ratio)
    return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)


def _legend(lines: dict[str, tuple[Point, ...]]) -> Iterator[str]:
    for i, kind in enumerate(lines):
        x = _LEFT + 170 * i
        yield f"<circle cx='{x + 6}' cy='48' r='5' fill='{_COLOURS[kind]}'/><text x='{x + 18}' y='53'>{escape(kind)}</text>"


def _axes(frame: Scales) -> Iterator[str]:
    left, bottom = _LEFT, _HEIGHT - _BOTTOM
    for late in frame.lates():
        _, y = _at(frame, frame.least_hours, late)
        yield f"<line x1='{left}' y1='{y:.1f}' x2='{_WIDTH - _RIGHT}' y2='{y:.1f}' stroke='#e5e7eb'/>"
        yield f"<text x='{left - 10}' y='{y + 5:.1f}' text-anchor='end'>{escape(percent_of(late))}</text>"
    for hours in frame.hours():
        x, _ = _at(frame, hours, LEAST_LATE)
        yield f"<line x1='{x:.1f}' y1='{bottom}' x2='{x:.1f}' y2='{bottom + 6}' stroke='#6b7280'/>"
        yield f"<text x='{x:.1f}' y='{bottom + 22}' text-anchor='middle'>{hours:,.10g}</text>"
    yield f"<line x1='{left}' y1='{bottom}' x2='{_WIDTH - _RIGHT}' y2='{bottom}' stroke='#6b7280'/>"
    yield f"<text x='{(left + _WIDTH - _RIGHT) / 2}' y='{_HEIGHT - 14}' text-anchor='middle'>replica-hours (less is cheaper)</text>"
    middle = (_TOP + bottom) / 2
    yield f"<text x='20' y='{middle}' text-anchor='middle' transform='rotate(-90 20 {middle})'>late requests, % (log scale)</text>"


def _limit(frame: Scales, limit_ratio: float) -> Iterator[str]:
    if not LEAST_LATE < limit_ratio < frame.most_late:
        return
    _, y = _at(frame, frame.least_hours, limit_ratio)
    yield f"<line x1='{_LEFT}' y1='{y:.1f}' x2='{_WIDTH - _RIGHT}' y2='{y:.1f}' stroke='#16a34a' stroke-dasharray='6 4'/>"
    yield f"<text x='{_WIDTH - _RIGHT}' y='{y - 6:.1f}' text-anchor='end' fill='#16a34a'>limit</text>"


def _line(frame: Scales, points: Sequence[Point], colour: str, kind: str) -> Iterator[str]:
    places = [_at(frame, point.replica_hours, point.late_ratio) for point in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-opacity='0.5'/>"
    for point, (x, y) in zip(points, places, strict=True):
        said = f"{kind}, HPA target {point.target:.0%}: {point.replica_hours:,.0f} replica-hours, {point.late_ratio:.3%} late"
        yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{colour}'><title>{escape(said)}</title></circle>"


def _mark(frame: Scales, name: str, point: Point) -> Iterator[str]:
    x, y = _at(frame, point.replica_hours, point.late_ratio)
    anchor, shift = ("end", -12) if x > _WIDTH / 2 else ("start", 12)
    yield f"<circle cx='{x:.1f}' cy='{y:.1f}' r='8' fill='none' stroke='black' stroke-width='2'/>"
    halo = "paint-order='stroke' stroke='white' stroke-width='4'"  # legible over points and lines
    yield f"<text x='{x + shift:.1f}' y='{y - 10:.1f}' text-anchor='{anchor}' font-weight='600' {halo}>{escape(name)}</text>"
