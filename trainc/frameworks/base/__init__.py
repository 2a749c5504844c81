"""What frameworks share: host names, process counts, and what each requires of a plan."""
