"""The pure core of Forecaster: values and `now` in, values and reasons out; no clock, no client, no configuration object."""
