"""Replay of a fleet under a policy, minute by minute."""
