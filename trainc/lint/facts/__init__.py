"""What rules ask of a job: its pods, containers, commands, hosts, ranks and storage."""
