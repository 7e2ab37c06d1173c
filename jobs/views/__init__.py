"""What people are shown, assembled from the store alone: no network, no clock, no formatting."""
