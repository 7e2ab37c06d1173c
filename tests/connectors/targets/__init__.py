"""Targets against counterparts that answer over HTTP."""
