"""What requests, tokens and tasks of a workload cost, and what to do about it, from the store."""
