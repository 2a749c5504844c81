"""KubeRay's RayJob: a head, groups of workers, and a driver that submits the program, as a JobSet (KubeRay 1.7)."""
