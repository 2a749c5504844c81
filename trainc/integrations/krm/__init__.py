"""A KRM function's ResourceList: objects in, objects and results out, as kustomize and kpt exchange them."""
