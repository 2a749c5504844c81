"""The pods that emitted manifests become: their names, environments and files, worked out from the manifests alone."""

import re
from typing import Any

HOST = re.compile(r"\{host:([\w-]+)/(\d+)\}")
DOMAIN = r"(?:\.[a-z0-9-]+(?:\.svc(?:\.cluster\.local)?)?)?"
FIELD = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")
REFERENCE = re.compile(r"\$\$|\$\(([\w.-]+)\)")
INDEX = "batch.kubernetes.io/job-completion-index"
PREFIX = "jobset.sigs.k8s.io/"


class Pod:
    """One pod of a JobSet: its host name, its DNS name in the namespace, and its template."""

    def __init__(self, world: "World", jobset: Any, role: Any, job: int, index: int, total: int) -> None:
        name, spec = jobset["metadata"]["name"], role["template"]["spec"]
        self.world, self.job, self.index = world, spec, index
        self.replicated = role["name"]
        self.host = f"{name}-{role['name']}-{job}-{index}"
        self.subdomain = jobset["spec"].get("network", {}).get("subdomain", name)
        self.namespace = jobset["metadata"].get("namespace", "default")
        self.template = spec["template"]
        self.spec = self.template["spec"]
        metadata = self.template.get("metadata", {})
        own = {
            f"{PREFIX}jobset-name": name,
            f"{PREFIX}replicatedjob-name": role["name"],
            f"{PREFIX}job-index": str(job),
            f"{PREFIX}job-global-index": str(total),
            INDEX: str(index),
        }
        self.labels = {**metadata.get("labels", {}), **own}
        self.annotations = {**metadata.get("annotations", {}), INDEX: str(index)}

    def env(self, container: Any) -> dict[str, str]:
        """The variables of a container, references and the downward API filled in."""
        found: dict[str, str] = {}
        for entry in container.get("env", []):
            text: str = entry.get("value", "")
            if "valueFrom" in entry:
                text = self._looked_up(entry["valueFrom"])
            found[entry["name"]] = _substituted(text, found)
        return found

    def _looked_up(self, source: Any) -> str:
        if "configMapKeyRef" in source:
            reference = source["configMapKeyRef"]
            return str(self.world.configs[reference["name"]][reference["key"]])
        path = source.get("fieldRef", {}).get("fieldPath", "")
        field = FIELD.fullmatch(path)
        if field:
            held = self.labels if field[1] == "labels" else self.annotations
            return str(held.get(field[2], ""))
        known: dict[str, str] = {"metadata.namespace": self.namespace, "metadata.name": f"{self.host}-xxxxx"}
        return known.get(path, f"<{path}>")

    def words(self, container: Any) -> list[str]:
        """The command line of a container, with references to variables filled in as Kubernetes does."""
        env = self.env(container)
        said = [*container.get("command", []), *container.get("args", [])]
        return [_substituted(word, env) for word in said]

    def files(self, container: Any) -> dict[str, str | None]:
        """What is mounted into a container from ConfigMaps, and None for each key of a Secret, by path."""
        found: dict[str, str | None] = {}
        volumes = {volume["name"]: volume for volume in self.spec.get("volumes", [])}
        for mount in container.get("volumeMounts", []):
            texts = self._contents(volumes.get(mount["name"], {}))
            inner = mount.get("subPath", "")
            for name, text in texts.items():
                if inner and name == inner:
                    found[mount["mountPath"]] = text
                elif not inner or name.startswith(f"{inner}/"):
                    found[f"{mount['mountPath'].rstrip('/')}/{name.removeprefix(f'{inner}/' if inner else '')}"] = text
        return found

    def _contents(self, volume: Any) -> dict[str, str | None]:
        if "configMap" in volume:
            return _selected(self.world.configs.get(volume["configMap"]["name"], {}), volume["configMap"])
        if "secret" in volume:
            return dict.fromkeys(item["path"] for item in volume["secret"].get("items", []))
        found: dict[str, str | None] = {}
        for source in volume.get("projected", {}).get("sources", []):
            found |= self._contents(source if "configMap" in source else _as_volume(source))
        return found


def _substituted(text: str, env: dict[str, str]) -> str:
    return REFERENCE.sub(lambda match: env.get(match[1], match[0]) if match[1] else "$", text)


def _as_volume(source: Any) -> Any:
    """A projected Secret with its keys."""
    return {"secret": {"items": source["secret"].get("items", [])}} if "secret" in source else {}


def _selected(data: Any, source: Any) -> dict[str, str | None]:
    items = source.get("items")
    return {item["path"]: data[item["key"]] for item in items} if items else dict(data)


class World:
    """All that a run printed: pods in order, ConfigMaps, Services, PodGroups, JobSets."""

    def __init__(self, objects: list[Any]) -> None:
        self.objects = [one for one in objects if one]
        self.jobsets = self.of_kind("JobSet")
        self.configs = {one["metadata"]["name"]: one.get("data", {}) for one in self.of_kind("ConfigMap")}
        self.pods = [pod for jobset in self.jobsets for pod in self._pods(jobset)]

    def of_kind(self, kind: str) -> list[Any]:
        """The objects of one kind."""
        return [one for one in self.objects if one["kind"] == kind]

    def _pods(self, jobset: Any) -> list[Pod]:
        found, total = [], 0
        for role in jobset["spec"]["replicatedJobs"]:
            for job in range(role.get("replicas", 1)):
                width = role["template"]["spec"].get("parallelism", 1)
                found += [Pod(self, jobset, role, job, index, total) for index in range(width)]
                total += 1
        return found

    def roles(self, expected: dict[str, int]) -> dict[str, list[Pod]]:
        """The pods of each role of the input: those of the replicatedJob of its name, or the next that nobody has."""
        found: dict[str, list[Pod]] = {}
        names = {pod.replicated for pod in self.pods}
        rest = [pod for pod in self.pods if pod.replicated not in expected]
        for role, count in expected.items():
            if role in names:
                found[role] = [pod for pod in self.pods if pod.replicated == role]
            else:
                found[role], rest = rest[:count], rest[count:]
        return found

    def selected(self, service: Any) -> list[Pod]:
        """The pods that a Service selects."""
        wanted = service["spec"].get("selector", {}).items()
        return [pod for pod in self.pods if wanted and wanted <= pod.labels.items()]

    def names(self, pod: Pod) -> list[str]:
        """The DNS names that reach this pod alone."""
        own = [service for service in self.of_kind("Service") if self.selected(service) == [pod]]
        return [f"{pod.host}.{pod.subdomain}", *(service["metadata"]["name"] for service in own)]

    def pattern(self, expected: str, roles: dict[str, list[Pod]]) -> re.Pattern[str]:
        """What a text must look like in which `{host:role/i}` stands for any name of that pod."""
        out, at = "", 0
        for match in HOST.finditer(expected):
            out += re.escape(expected[at : match.start()])
            names = self.names(roles[match[1]][int(match[2])])
            out += f"(?:{'|'.join(map(re.escape, names))}){DOMAIN}"
            at = match.end()
        return re.compile(out + re.escape(expected[at:]))
