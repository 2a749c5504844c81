"""TFJob of the training operator, and its ancestors with lists of replica specs."""
