"""Plain Indexed Jobs."""
