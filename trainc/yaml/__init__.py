"""Kubernetes' YAML: one scalar table, and the reader and the writer made from it."""
