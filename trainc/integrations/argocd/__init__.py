"""Argo CD: applications in the repository, and what its plugin server hands over."""
