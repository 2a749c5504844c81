"""Volcano's Job: its webhooks, its plugins, its policies and its PodGroup, for a JobSet (Volcano 1.16)."""
