"""What several commands share: the run, its output, its processes."""
