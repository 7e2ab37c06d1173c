"""The one client of the Kubernetes API against its loopback double."""
