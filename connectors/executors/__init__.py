"""Where a function runs over chunks."""
