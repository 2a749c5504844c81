"""Kueue's webhooks on JobSets."""
