"""Calendar files that others keep: one sealed file a format, above what they all answer with; the registry on top."""
