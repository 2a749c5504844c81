"""The vocabulary of the compiler; it imports nothing else of trainc."""
