"""What the kinds of Kubeflow's training operator have in common."""
