"""How Go programs decode and print the objects that reach them."""
