"""Objects whose floor we may move. The registry stands above them; a target knows its own API and no other target."""
