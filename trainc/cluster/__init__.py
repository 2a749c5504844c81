"""What a cluster has and what happened on it, from dumps alone: inventory, capacity, diagnosis."""
