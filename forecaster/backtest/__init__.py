"""Rolling origins on a recorded trace: forecast, plan, correct and guard as in production, then replay against what others do."""
