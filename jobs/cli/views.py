"""The commands for people: review, status, explain, history."""
