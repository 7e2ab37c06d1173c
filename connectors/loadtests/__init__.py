"""Files of load tests, one format a file."""
