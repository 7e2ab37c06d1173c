"""Readings of this very moment, from whoever has them first."""
