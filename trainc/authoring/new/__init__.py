"""What `trainc new` writes: a first job, and the runtime that it needs."""
