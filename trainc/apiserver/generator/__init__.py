"""Models to CRDs, JSON Schemas and the run-time tables; for development, never imported by the commands people run."""
