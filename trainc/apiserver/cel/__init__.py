"""CEL: rules translated to Python, the operators they call, and when they are asked."""
