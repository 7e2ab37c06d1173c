"""The layer below connectors that speak HTTP."""
