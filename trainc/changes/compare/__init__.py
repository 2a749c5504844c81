"""What changes between two states of a repository, in meaning; the one reader of Git."""
