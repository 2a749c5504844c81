"""What kinds share: roles, layout, restarts, hosts and environment of pods."""
