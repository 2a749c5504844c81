"""PaddleJob of the training operator."""
