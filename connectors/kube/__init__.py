"""The Kubernetes API, once: how a cluster is reached, and one client that every Kubernetes connector shares."""
