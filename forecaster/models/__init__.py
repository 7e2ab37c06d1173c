"""One file a model; `conformal` turns any median path into calibrated quantiles."""
