"""Expressions of CEL, drawn over all functions that Kubernetes declares, put to trainc and to the API server's own code."""
