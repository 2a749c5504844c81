"""PyTorchJob of the training operator."""
