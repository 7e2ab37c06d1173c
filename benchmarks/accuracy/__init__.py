"""How sharp and how honest the forecasts are, against what anybody has for nothing: rolling daily origins on real and generated traces."""
