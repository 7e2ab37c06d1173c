"""What `forecaster check` does: every connector is asked what it can answer, one finding each, and nothing is written anywhere."""
