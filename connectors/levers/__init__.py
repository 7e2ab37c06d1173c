"""Levers: what is moved while more replicas are on their way."""
