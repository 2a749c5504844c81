"""The nouns that stages hand to each other.

Nothing here reads a file, judges a job or knows a stage.
"""
