"""One YAML file: its sections, how it is read, and what it means in the core's own types."""
