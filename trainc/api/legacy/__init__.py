"""The job kinds of the operators before Trainer v2, as classes; `trainc.api` names them all."""
