"""Where load is read from: one file a system, a registry above them."""
