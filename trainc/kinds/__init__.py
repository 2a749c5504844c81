"""The job kinds of the operators before Trainer v2, from their admission to the environment of their pods."""
