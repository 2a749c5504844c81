"""Dated facts about machines, accelerators and environment variables, each with its source."""
