"""LeaderWorkerSets that run to completion."""
