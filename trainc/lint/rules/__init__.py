"""What can be wrong with pods, one function per mistake, grouped by what it concerns."""
