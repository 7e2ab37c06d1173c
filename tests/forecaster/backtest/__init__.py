"""Rules of the backtest."""
