"""The promise to a sceptic: what would have happened on the user's own history."""
