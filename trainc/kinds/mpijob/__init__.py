"""MPIJobs of the training operator and of the mpi-operator."""
