"""MSTL from statsforecast: trend, daily and weekly season by repeated LOESS, the trend carried on by exponential smoothing."""

from forecaster.errors import ModelFailed
from forecaster.models.members.coarse import coarse
from forecaster.models.members.gaps import complete
from forecaster.models.members.quiet import quiet
from forecaster.models.past import Past
from forecaster.series import Floats

_GRID_S = 3_600  # half an hour costs four times as much and gains 1 %
_MOST_DAYS, _LEAST_DAYS, _WEEK = 28, 3, 7


class StatsForecast:
    """log(load) = trend + daily season + weekly season, each a LOESS curve, all of them repeated but the trend, which AutoETS carries on.

    The weekly season joins at two weeks of history. An unmeasured slot repeats the season before it, since MSTL takes no gaps.

    Reference: Bandara, Hyndman and Bergmeir 2021, MSTL; Nixtla's statsforecast, the extra `statsforecast`, which needs pandas before 3.
    Cost: 0.13 CPU-s a series of 28 days, as much as Prophet. Off by default since it brings 190 MB and an older pandas. Worth switching
    on where that does not matter, most of all for loads that grow or jump: its error was 0.75 of last week's load's over eight real traces.
    """

    name = "statsforecast"

    def draw(self, past: Past, reach: int) -> Floats:
        """As Member.draw. No opinion on less than three days of history. Raises ModelFailed where the library is not installed."""
        try:
            from statsforecast.models import MSTL, AutoETS  # noqa: PLC0415  an extra, and slow to import
        except ImportError as error:
            msg = "the member statsforecast needs its library: pip install 'forecaster[statsforecast]'"
            raise ModelFailed(msg) from error
        grid = coarse(past, _GRID_S, _MOST_DAYS)

        def path(line: Floats, slots: int) -> Floats:
            days = line.reshape(-1, grid.per_day)
            season = _WEEK if len(days) >= 2 * _WEEK else 1
            lengths = [grid.per_day * length for length in {1, season} if grid.per_day * length > 1]
            model = MSTL(season_length=sorted(lengths), trend_forecaster=AutoETS(model="ZZN"))
            drawn: Floats = model.forecast(y=complete(days, season), h=slots)["mean"]
            return drawn

        with quiet():
            return grid.drawn(reach, _LEAST_DAYS, path)
