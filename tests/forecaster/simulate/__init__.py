"""Rules of the replay."""
