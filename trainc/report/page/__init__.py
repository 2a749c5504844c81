"""A repository on one page: what its jobs become, what they inherit, what was found, and what clusters hold."""
