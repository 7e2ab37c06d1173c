"""Proof before install: the user's last weeks, read without a trace of us, as they would have run."""
