"""What a cluster has and what happened on it.

Dumps and inventories come in; whether jobs fit and why they stand goes out. It never asks a cluster.
"""
