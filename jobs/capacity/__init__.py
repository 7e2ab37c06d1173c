"""What one replica carries: profiles of load tests brought into the store, and what they come to for each pool."""
