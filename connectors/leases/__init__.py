"""Mutual exclusion between processes: a file lock beside SQLite, an advisory lock in PostgreSQL."""
