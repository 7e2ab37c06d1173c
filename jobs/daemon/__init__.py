"""The long-running service: both halves of the line on schedule, with pages for monitoring."""

from jobs.daemon.serve import serve

__all__ = ["serve"]
