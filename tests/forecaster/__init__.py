"""Rules of the pure core."""
