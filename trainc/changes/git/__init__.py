"""Git, read with plumbing commands alone."""
