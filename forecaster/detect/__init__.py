"""Finding what lies in a history: pure functions from measured load to marks. Where in doubt, data stays."""
