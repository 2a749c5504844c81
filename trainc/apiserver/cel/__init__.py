"""CEL: the rules of the built-in schemas, the operators that they are made of, and when they are asked."""
