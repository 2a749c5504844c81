"""Armada's submit files."""
