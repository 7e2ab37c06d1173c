"""The command as operators and crontabs use it: real processes, real counterparts, nothing reached into."""
