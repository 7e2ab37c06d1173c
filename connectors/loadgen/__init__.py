"""What drives load at an endpoint: logs of requests, the endpoint's first answer, and a load generator as a command."""
