"""Rules of the composition root."""
