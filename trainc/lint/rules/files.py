"""What programs read and write: volumes, checkpoints, paths that variables name."""

from collections.abc import Iterator, Mapping

from trainc.apiserver.names import NAME_HELP, subdomain
from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.storage import access_modes, is_for_one_node, mount_of
from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, value
from trainc.text.spelling import meant

Reference = tuple[str, str, Path]
Fields = Mapping[str, tuple[str, str]]

ONE_NODE = Rule("one-node-volume", WARNING)
LOST = Rule("checkpoints-in-empty-dir", WARNING)
READ_ONLY = Rule("output-on-read-only-mount", WARNING)
NOT_MOUNTED = Rule("path-not-mounted", WARNING)
MISSING = Rule("object-not-declared", WARNING)
IMPOSSIBLE = Rule("invalid-object-name", ERROR)

_OUTPUTS = (
    "output_dir", "output-dir", "checkpoint_dir", "checkpoint_path", "ckpt_dir", "save_dir", "save",
    "default_root_dir", "base_output_directory", "logging_dir",
)  # fmt: skip
_CHECKPOINTS = ("output_dir", "checkpoint_dir", "checkpoint_path", "ckpt_dir", "save_dir", "save", "checkpoint.dir")
_PATHS = {
    "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "dumps of hung collectives",
    "NCCL_TOPO_FILE": "the topology",
    "NCCL_TUNER_CONFIG_PATH": "the tuner's tables",
}
_CACHES = (
    "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "TRANSFORMERS_CACHE", "TORCH_HOME", "XDG_CACHE_HOME",
    "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "WANDB_DIR", "MPLCONFIGDIR",
)  # fmt: skip
_IN_IMAGE = ("/opt/amazon", "/opt/aws", "/usr/share", "/opt/hpcx", "/opt/nvidia", "/opt/conda", "/app", "/workspace")

# Fields that name an object, each with the object's kind and the key that has its name.
_SOURCES = {
    "secret": ("Secret", "secretName"),
    "configMap": ("ConfigMap", "name"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
}
_PROJECTED = {"secret": ("Secret", "name"), "configMap": ("ConfigMap", "name")}
_KEYS = {"secretKeyRef": ("Secret", "name"), "configMapKeyRef": ("ConfigMap", "name")}
_WHOLE = {"secretRef": ("Secret", "name"), "configMapRef": ("ConfigMap", "name")}
_JUDGED = frozenset((*_KEYS, *_WHOLE))  # the API server judges the names that variables have
_NO_NAME = ("None", "null")  # what templates write for no pull secret; the kubelet pulls without one
_LOOKING = frozenset(("[", "[[", "test", "ls", "rm", "mkdir", "echo"))  # programs for which a file need not be there


def one_node_volume(role: ExpandedRole) -> Findings:
    if not role.several:
        return
    for name, (volume, claim, modes) in _claims(role).items():
        if not is_for_one_node(claim):
            continue
        mode = access_modes(claim)[0]
        one = "pod" if mode == "ReadWriteOncePod" else "node"
        message = f"{role.count} pods of `{role.name}` mount `{name}`, which one {one} at a time can mount"
        effect = "pods on a second node stay in ContainerCreating: the volume is attached to the first, unless its storage ignores access modes"
        if one == "pod":
            effect = "one pod runs, and the scheduler leaves the others Pending"
        help_ = "use a PVC with `ReadWriteMany`, or one PVC for each pod (`ephemeral`)"
        yield ONE_NODE.at(role.job.at(volume), message, also=[Label(modes, f"{mode} here")], effect=effect, help=help_)


def _claims(role: ExpandedRole) -> dict[str, tuple[Path, Tree, Span]]:
    """The PVCs that the pods of a role share, by name: where they are mounted, each PVC, and where its modes are."""
    job = role.job
    claims: dict[str, tuple[Path, Tree, Span]] = {}
    for index, volume in enumerate(rows(role.pod, "volumes")):
        name = text(table(volume, "persistentVolumeClaim"), "claimName")
        claim = job.claim(name) if name else None
        if claim is not None:
            where = job.at_object(claim, ("spec", "accessModes"))
            claims.setdefault(name, ((*role.pod_path, "volumes", index), claim, where))
    if not job.claimed:
        return claims
    mounts = [
        (text(mount, "name"), (*container.path, "volumeMounts", index))
        for container in role.containers
        for index, mount in enumerate(rows(container.tree, "volumeMounts"))
    ]
    for index, policy in enumerate(rows(job.spec, "volumeClaimPolicies")):
        for at, template in enumerate(rows(policy, "templates")):
            name = text(table(template, "metadata"), "name")
            mounted = next((path for volume, path in mounts if volume == name), None)
            if mounted is not None:
                where = job.at(("spec", "volumeClaimPolicies", index, "templates", at, "spec", "accessModes"))
                claims.setdefault(name, (mounted, template, where))
    return claims


def _output(container: Container, names: tuple[str, ...]) -> str:
    given = container.options if "/" in container.text else {}
    return next((given[name] for name in names if given.get(name, "").startswith("/")), "")


def checkpoints_in_empty_dir(job: Job) -> Findings:
    restarts = job.max_restarts
    if type(restarts) is not int or restarts < 1:
        return
    for container in job.main:
        path = _output(container, _CHECKPOINTS) if container.role.volumes else ""
        volume = mount_of(container, path)[0] if path else ""
        if path and "emptyDir" in container.role.volumes.get(volume, {}):
            message = f"`{path}` is on `{volume}`, an emptyDir that is deleted with the pod"
            also = [Label(job.at(("spec", "failurePolicy", "maxRestarts")), f"{restarts} restarts")]
            effect = "a restart loses the checkpoints, and training restarts from step 0"
            help_ = "write them to a PVC or a bucket"
            yield LOST.at(container.at_word(path), message, also=also, effect=effect, help=help_)


def output_on_read_only_mount(container: Container) -> Findings:
    path = _output(container, _OUTPUTS) if "volumeMounts" in container.tree else ""
    volume, read_only = mount_of(container, path) if path else ("", False)
    if read_only:
        message = f"`{path}` is on `{volume}`, which is mounted read-only"
        help_ = "mount it read-write, or write elsewhere"
        yield READ_ONLY.at(container.at_word(path), message, effect="the first write fails", help=help_)


def cache_on_read_only_mount(container: Container) -> Findings:
    for name in _CACHES:
        path = container.literals.get(name, "")
        volume, read_only = mount_of(container, path) if path.startswith("/") else ("", False)
        if read_only and not container.sets("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            message = f"`{name}` is `{path}`, on `{volume}`, which is mounted read-only"
            help_ = 'set it to a directory that can be written, or `HF_HUB_OFFLINE: "1"` for one that is filled already'
            effect = "the library cannot write its cache, and most programs fail at start"
            yield READ_ONLY.at(container.env_at(name, "value"), message, effect=effect, help=help_)
            return


def keys_of_sub_paths(container: Container) -> Findings:
    job = container.role.job
    for index, mount in enumerate(rows(container.tree, "volumeMounts")):
        sub_path, volume = text(mount, "subPath"), container.role.volumes.get(text(mount, "name"), {})
        for field, (kind, key) in _PROJECTED.items():
            source = table(volume, field)
            name = text(source, "secretName" if field == "secret" else key)
            known = _data(job, kind, name) if sub_path and name and "items" not in source else []
            if not known or sub_path in known or "$" in sub_path or "optional" in source:
                continue
            message = f"{kind} `{name}` has no key `{sub_path}`"
            effect = f"`{text(mount, 'mountPath')}` is an empty directory"
            help_ = meant(sub_path, known, f"its keys are {', '.join(f'`{one}`' for one in known[:3])}")
            yield MISSING.at(container.at("volumeMounts", index, "subPath"), message, effect=effect, help=help_)


def path_not_mounted(job: Job) -> Findings:
    for name, what in _PATHS.items():
        if name not in job.names:
            continue
        for container in job.main:
            path = container.literals.get(name)
            if not path or not path.startswith("/") or path.startswith(_IN_IMAGE) or "$" in path:
                continue
            is_file = path.count("/") > 1 or name == "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
            if is_file and not mount_of(container, path)[0]:
                message = f"`{name}` is set to `{path}`, but no volume is mounted there"
                effect = f"{what} {'are lost with the pod' if 'dumps' in what else 'may be missing'}"
                help_ = "mount the volume that contains it, or correct the path"
                level = WARNING if "dumps" in what else "note"
                yield NOT_MOUNTED.at(container.env_at(name, "value"), message, effect=effect, help=help_, level=level)


def objects_of_pods(job: Job) -> Findings:
    is_listed = job.cluster.closed or bool(job.cluster.objects)
    for kind, name, path in _references(job):
        if not name or "$" in name or ("imagePullSecrets" in path and name in _NO_NAME):
            continue
        beside = [text(table(tree, "metadata"), "name") for tree in job.kinds.get(kind, ())]
        if path[-2] not in _JUDGED and subdomain(name):
            effect = "the API server accepts the pods, and the kubelet pulls their images without it"
            if "volumes" in path:
                effect = "the API server accepts the pods, and they wait for the volume forever"
            yield IMPOSSIBLE.at(job.at(path), f"no {kind} can have the name `{name}`", effect=effect, help=NAME_HELP)
        elif is_listed and name not in beside and job.cluster.has(kind, name, job.namespace or "default") is False:
            message = f"{kind} `{name}` is neither with this job nor in the cluster"
            help_ = "add it to the job's file, or to the cluster's folder"
            yield MISSING.at(job.at(path), message, effect="the pods wait for it and never start", help=help_)


def keys_of_objects(job: Job) -> Findings:
    for kind, name, key, path in _used_keys(job):
        known = _data(job, kind, name)
        if not known or key in known or not key or "$" in key:
            continue
        effect = "the pods stay in ContainerCreating: the volume cannot be mounted"
        if path[-2] in _KEYS:
            effect = "the container stays in CreateContainerConfigError"
        help_ = meant(key, known, f"its keys are {', '.join(f'`{one}`' for one in known[:3])}")
        yield MISSING.at(job.at(path), f"{kind} `{name}` has no key `{key}`", effect=effect, help=help_)


def files_of_config_maps(container: Container) -> Findings:
    for mount in rows(container.tree, "volumeMounts"):
        name, above = text(mount, "name"), text(mount, "mountPath").rstrip("/")
        source = table(container.role.volumes.get(name, {}), "configMap")
        is_whole = above and source and not text(mount, "subPath") and "optional" not in source
        known = _data(container.role.job, "ConfigMap", text(source, "name")) if is_whole else []
        known = [text(item, "path").partition("/")[0] for item in rows(source, "items")] or known if known else []
        commands = [one for one in container.commands if one.program not in _LOOKING] if known else []
        for word in [word for one in commands for word in one.words]:
            first = word.removeprefix(f"{above}/").partition("/")[0] if word.startswith(f"{above}/") else ""
            is_name = first.replace(".", "").replace("-", "").replace("_", "").isalnum()
            if not is_name or first in known or mount_of(container, word)[0] != name:
                continue
            config = text(source, "name")
            message = f"ConfigMap `{config}`, which is mounted at `{above}`, has no file `{first}`"
            effect = f"`{word}` does not exist, and the program that reads it fails"
            help_ = meant(first, known, f"its files are {', '.join(f'`{one}`' for one in known[:3])}")
            yield MISSING.at(container.at_word(word), message, effect=effect, help=help_)


def _data(job: Job, kind: str, name: str) -> list[str]:
    """The keys of the objects of a name, beside the job or else in the cluster.

    An object whose contents are written elsewhere, or left out of a dump, has none.
    """
    held = [tree for tree in job.kinds.get(kind, ()) if text(table(tree, "metadata"), "name") == name]
    if not held:
        held = [job.cluster.objects.get(kind, {}).get(f"{job.namespace or 'default'}/{name}") or {}]
    return sorted(
        {key for tree in held for field in ("data", "binaryData", "stringData") for key in table(tree, field)}
    )


def _used_keys(job: Job) -> Iterator[tuple[str, str, str, Path]]:
    """The keys of Secrets and ConfigMaps without which the pods do not start: kind, name, key, and where the key stands."""
    for tree, path, fields in _sources(job):
        for kind, name, at in _named(tree, path, fields):
            source = table(tree, str(at[-2]))
            if fields is _KEYS:
                yield kind, name, text(source, "key"), (*at[:-1], "key")
            for index, item in enumerate(rows(source, "items")):
                yield kind, name, text(item, "key"), (*at[:-1], "items", index, "key")


def _references(job: Job) -> Iterator[Reference]:
    """The Secrets, ConfigMaps and PVCs without which the pods do not start: kind, name, and where the name stands."""
    for tree, path, fields in _sources(job):
        yield from _named(tree, path, fields)
    for role in job.roles:
        for index, secret in enumerate(rows(role.pod, "imagePullSecrets")):
            yield "Secret", text(secret, "name"), (*role.pod_path, "imagePullSecrets", index, "name")


def _sources(job: Job) -> Iterator[tuple[Tree, Path, Fields]]:
    """What volumes and variables of the pods may take from objects, where that is written, and the fields that name one."""
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes")):
            at = (*role.pod_path, "volumes", index)
            yield volume, at, _SOURCES
            for place, source in enumerate(rows(table(volume, "projected"), "sources")):
                yield source, (*at, "projected", "sources", place), _PROJECTED
        for container in role.containers:
            for index, entry in enumerate(rows(container.tree, "env")):
                if "valueFrom" in entry:
                    yield table(entry, "valueFrom"), (*container.path, "env", index, "valueFrom"), _KEYS
            for index, entry in enumerate(rows(container.tree, "envFrom")):
                yield entry, (*container.path, "envFrom", index), _WHOLE


def _named(tree: Tree, path: Path, fields: Fields) -> Iterator[Reference]:
    """The objects that some fields name, unless the pod starts without them."""
    for field, (kind, key) in fields.items():
        if (source := table(tree, field)) and value(source, "optional") is not True:
            yield kind, text(source, key), (*path, field, key)


CHECKS = (
    each(lambda job: job.roles, one_node_volume),
    each(lambda job: job.main, output_on_read_only_mount, files_of_config_maps, cache_on_read_only_mount),
    each(lambda job: job.containers, keys_of_sub_paths),
    checkpoints_in_empty_dir, path_not_mounted, objects_of_pods, keys_of_objects,
)  # fmt: skip
