"""The composition root: configuration, wiring, clock, telemetry, and the two halves of the straight line."""
