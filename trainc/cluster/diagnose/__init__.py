"""Why a job stands: facts read from a cluster's objects, causes found in them, and the first cause named."""
