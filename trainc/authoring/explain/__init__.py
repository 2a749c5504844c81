"""What a field of any kind is: type, default, bounds, rules, description, version and an example, from the schemas."""
