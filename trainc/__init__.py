"""Compile high-level training specs into plain Kubernetes manifests."""

__version__ = "0.1.0"
