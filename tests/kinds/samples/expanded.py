"""The pods that a JobSet becomes, with their host names and the variables that each container sees."""

import re
from typing import Any

REFERENCE = re.compile(r"\$\((\w+)\)")


class Pod:
    """Pod `index` of Job `job` of a replicatedJob; `number` counts the Jobs of the whole JobSet."""

    def __init__(self, jobset: Any, role: Any, place: tuple[int, int, int]) -> None:
        self.job, self.index, self.number = place
        self.template = role["template"]["spec"]["template"]
        name = jobset["metadata"]["name"]
        domain = jobset["spec"].get("network", {}).get("subdomain", name)
        self.host = f"{name}-{role['name']}-{self.job}-{self.index}.{domain}"

    def environments(self) -> dict[str, dict[str, str]]:
        """By container, its variables as its program sees them."""
        spec = self.template["spec"]
        containers = [*spec["containers"], *spec.get("initContainers", ())]
        return {container["name"]: self.environment(container) for container in containers}

    def environment(self, container: Any) -> dict[str, str]:
        """The variables of one container; a reference sees those above it."""
        out: dict[str, str] = {}
        for entry in container.get("env", ()):
            source = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            text = self.field(source) if source else entry.get("value", "")
            out[entry["name"]] = REFERENCE.sub(lambda found: out.get(found[1], found[0]), text)
        return out

    def field(self, path: str) -> str:
        """What the downward API says of a field."""
        numbers = {"completion-index": self.index, "job-global-index": self.number, "job-index": self.job}
        known = next((str(number) for word, number in numbers.items() if word in path), None)
        if known is not None:
            return known
        if path.startswith("metadata.labels['"):
            return str(self.template["metadata"]["labels"][path.split("'")[1]])
        return {"metadata.namespace": "ml", "metadata.name": "some-pod"}[path]


def pods(jobset: Any) -> dict[str, list[Pod]]:
    """The pods of a JobSet by replicatedJob, in the order of their Jobs."""
    out: dict[str, list[Pod]] = {}
    number = 0
    for role in jobset["spec"]["replicatedJobs"]:
        found = out.setdefault(role["name"], [])
        for job in range(role["replicas"]):
            found += [
                Pod(jobset, role, (job, index, number)) for index in range(role["template"]["spec"]["parallelism"])
            ]
            number += 1
    return out
