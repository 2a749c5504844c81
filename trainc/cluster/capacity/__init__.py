"""Capacity: whether a job is admitted, by which queue, and on which nodes its pods fit."""
