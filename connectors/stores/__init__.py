"""The memory of Forecaster: in a process, in a SQLite file, in PostgreSQL."""
