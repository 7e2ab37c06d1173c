"""The quick loop: read signals, decide by rules and ready capacity, move levers. It needs no forecast."""
