"""Findings -> words."""
