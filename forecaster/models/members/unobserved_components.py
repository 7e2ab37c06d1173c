"""A structural time series from statsmodels: a level that wanders, beside the cycle of the day or week."""

from forecaster.models.members.coarse import coarse
from forecaster.models.members.cycles import without_cycle
from forecaster.models.members.quiet import quiet
from forecaster.models.past import Past
from forecaster.series import Floats

_GRID_S = 3_600
_MOST_DAYS, _LEAST_DAYS, _WEEKLY_FROM_DAYS = 28, 3, 14
_MOST_STEPS = 20


class UnobservedComponents:
    """log(load) = sines of the day or week by regression + a level that is a random walk + noise, by maximum likelihood on hourly means.

    How fast the level follows is learned per series, which fixed smoothing cannot; gaps are states that nobody saw. The cycle is taken
    off first: inside of the filter it costs five times as much and its error is a quarter higher, since the filter can carry few waves.
    The optimiser has 20 steps; where it has not converged by then its path is still one.

    Reference: Harvey 1989, Forecasting, structural time series models and the Kalman filter; statsmodels.tsa.statespace. Cost: 0.03
    CPU-s a series of 28 days, ten times Holt-Winters. Off by default for that. Worth switching on for fleets of some hundred series
    whose level drifts: its error was 0.77 of last week's load's over eight real traces, where Holt-Winters had 0.80.
    """

    name = "unobserved_components"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than three days of history, or where the filter fails."""
        from statsmodels.tsa.statespace.structural import UnobservedComponents as Library  # noqa: PLC0415  slow; sets filters

        grid = coarse(past, _GRID_S, _MOST_DAYS)

        def path(line: Floats, slots: int) -> Floats:
            rest, cycle = without_cycle(line, slots, grid.step_s, weekly=line.size >= _WEEKLY_FROM_DAYS * grid.per_day)
            fitted = Library(rest, level="local level").fit(disp=False, maxiter=_MOST_STEPS)
            drawn: Floats = cycle + fitted.forecast(slots)
            return drawn

        with quiet():
            return grid.drawn(reach, _LEAST_DAYS, path)
