"""An engine that batches at every step, event by event: what the frontier of batches says is held against it."""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forecaster.profile import Point, Spread
from forecaster.series import Floats
from forecaster.simulate.requests.batching import schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEngine:
    """A step takes alpha + beta x requests in it, and each request takes one a token, after a prefill that holds its slot."""

    alpha_s: float = 0.02
    beta_s: float = 0.0005
    prefill_s: float = 0.2
    tokens: float = 200.0
    sigma: float = 0.5
    slots: int = 64

    def drawn(self, n: int, rng: np.random.Generator) -> Floats:
        """Tokens of so many requests, lognormal."""
        return np.maximum(2.0, self.tokens * rng.lognormal(-(self.sigma**2) / 2, self.sigma, n))

    def served(self, joined_s: Sequence[float], tokens: Floats) -> tuple[Floats, Floats]:
        """When each request got its slot and when it was through; joined_s never falls. All slots go on at one pace."""
        n = len(joined_s)
        began, ended = np.full(n, np.nan), np.full(n, np.nan)
        waiting: deque[int] = deque()
        prefills: list[tuple[float, int]] = []
        decodes: list[tuple[float, int]] = []  # by steps done at their end
        now, steps, arrived = 0.0, 0.0, 0
        while arrived < n or prefills or decodes:
            step_s = self.alpha_s + self.beta_s * (len(prefills) + len(decodes))
            coming = joined_s[arrived] if arrived < n else np.inf
            filled = prefills[0][0] if prefills else np.inf
            through = now + (decodes[0][0] - steps) * step_s if decodes else np.inf
            then = min(coming, filled, through)
            steps += (then - now) / step_s
            now = then
            if then == through:
                ended[heapq.heappop(decodes)[1]] = now
            elif then == filled:
                request = heapq.heappop(prefills)[1]
                heapq.heappush(decodes, (steps + tokens[request] - 1, request))
            else:
                waiting.append(arrived)
                arrived += 1
            while waiting and len(prefills) + len(decodes) < self.slots:
                began[waiting[0]] = now
                heapq.heappush(prefills, (now + self.prefill_s, waiting.popleft()))
        return began, ended

    def run(self, rate: float, n: int, rng: np.random.Generator, *, wait_s: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Time to the first token, time of all, and tokens of requests at so many a second; the first fifth is left out."""
        arrived = np.cumsum(rng.exponential(1 / rate, n))
        batches = schedule((arrived * 1_000).tolist(), self.slots, wait_s * 1_000)
        joined = [batch.closed_ms / 1_000 for batch in batches for _ in batch]
        tokens = self.drawn(n, rng)
        began, ended = self.served(joined, tokens)
        late = slice(n // 5, None)
        return (began + self.prefill_s - arrived)[late], (ended - arrived)[late], tokens[late]

    def most_rpm(self, n: int, rng: np.random.Generator) -> float:
        """What it serves while requests wait at all times."""
        _, ended = self.served([0.0] * n, self.drawn(n, rng))
        through = np.sort(ended)
        first, last = n // 5, n - 2 * self.slots  # without the filling and the emptying
        return float((last - first) / (through[last] - through[first]) * 60)

    def measured(self, rate: float, n: int, rng: np.random.Generator) -> Point:
        """A load step as a tool reports it."""
        ttft, e2e, tokens = self.run(rate, n, rng)
        return Point(
            offered_rpm=60 * rate,
            achieved_rpm=60 * rate,
            ttft=_spread(ttft),
            tpot=_spread((e2e - ttft) / (tokens - 1)),
            e2e=_spread(e2e),
            error_ratio=0.0,
            input_tokens=500.0,
            input_std=100.0,
            output_tokens=float(tokens.mean()),
            output_std=float(tokens.std()),
        )


def _spread(times: Floats) -> Spread:
    p50, p95, p99 = (float(np.quantile(times, level)) for level in (0.5, 0.95, 0.99))
    return Spread(mean_s=float(times.mean()), p50_s=p50, p95_s=p95, p99_s=p99)
