"""What a run leaves to the next one: which files it read, what became of their jobs, and what it said."""
