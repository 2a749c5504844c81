"""XGBoostJob of the training operator."""
