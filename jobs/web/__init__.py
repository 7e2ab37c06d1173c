"""Pages over HTTP: what monitoring asks of the daemon."""
