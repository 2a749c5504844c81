"""CEL as the API server compiles and evaluates it: for admission policies, and for the rules of a cluster's definitions."""
