"""Kubeflow's SDK over a repository: `client.train()` writes a job as a file to review, instead of submitting it."""

from trainc.integrations.kubeflow import trainer_client

__all__ = ["trainer_client"]
