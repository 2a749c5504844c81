"""The table of commands: names, options, help and examples of each."""
