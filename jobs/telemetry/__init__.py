"""Logs and metrics of our own work. Event names are the verbs of the line."""

from jobs.telemetry.logs import start_logging

__all__ = ["start_logging"]
