"""The structural schemas of every kind, and the walk over an object that applies them."""
