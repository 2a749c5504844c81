"""Two states side by side, and edits of people's files: compare, why, migrate, fix."""
