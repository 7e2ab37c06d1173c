"""Which counters an expression takes the rate() of, and the same expression over a second."""

import pytest

from connectors.sources.promql_ranges import over_a_second, rated

NAMED = r'rate(x_total{path="/a[1m]",note="say \"}\""}[2m])'


@pytest.mark.parametrize(
    ("expression", "counters"),
    [
        ('sum(rate(x_total{a="b"}[2m]))', ('x_total{a="b"}',)),
        ("rate(x_total[5m]) * 60", ("x_total",)),
        ("sum by (model) ( irate( ns:x_total [1m30s] offset 1m ) )", ("ns:x_total",)),
        ('sum(rate({__name__="x_total"}[2m]))', ('{__name__="x_total"}',)),
        ("sum(rate(a_total{}[2m])) or sum(rate(b_total{}[2m])) + sum(rate(a_total{}[1m]))", ("a_total{}", "b_total{}")),
        (NAMED, (r'x_total{path="/a[1m]",note="say \"}\""}',)),
        ("increase(x_total[1m])", ()),
        ("rate(a_total[2m]) + increase(b_total[1m])", ()),
        ("max_over_time(rate(x_total[2m])[1h:1m])", ()),
        ("myrate(x_total[2m])", ()),
        ("rate(x_total[$__rate_interval])", ()),
        ("sum(llm:rpm)", ()),
        ("42", ()),
    ],
)
def test_counters_are_those_whose_rate_is_taken_and_none_where_a_number_hangs_on_another_range(
    expression: str, counters: tuple[str, ...]
) -> None:
    assert rated(expression) == counters


@pytest.mark.parametrize(
    ("expression", "spacing_s", "becomes"),
    [
        ('sum(rate(x_total{a="b"}[2m]))', 1, 'sum(rate(x_total{a="b"}[1999ms]))'),
        ("rate(a[2m]) + rate(b[5m] offset 1m) * 60", 0.5, "rate(a[1499ms]) + rate(b[1499ms] offset 1m) * 60"),
        (NAMED, 1, NAMED.replace("[2m]", "[1999ms]")),
    ],
)
def test_every_range_is_cut_to_a_second_and_the_time_between_two_scrapes(expression: str, spacing_s: float, becomes: str) -> None:
    assert over_a_second(expression, spacing_s) == becomes
