"""Plain functions and constants without state: numbers, quantities, globs, spelling, names in texts."""
