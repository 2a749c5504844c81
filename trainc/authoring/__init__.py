"""What helps people write jobs: a first job, fields explained, a rehearsal on this machine, what runs on a cluster adopted."""
