"""A drill: the promises of docs/safety.md, rehearsed on the user's own objects without a write."""
