"""The commands that one meets first: init, check, demo, migrate."""
