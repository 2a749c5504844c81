"""What kustomize and kpt hand to `trainc fn`: the documents of a project as the items of one list, odd ones as well."""

import random
import re

_SEPARATOR = re.compile(rb"^---.*\n?", re.MULTILINE)
_METADATA = b"\nmetadata:\n"
CONFIGS = (
    "{apiVersion: trainc.dev/v1alpha1, kind: Build, metadata: {name: trainc}}",
    "{apiVersion: trainc.dev/v1alpha1, kind: Validate, spec: {failOn: warning, scheduler: volcano}}",
    "{apiVersion: trainc.dev/v1alpha1, kind: Build, spec: {namespace: team, set: [scheduler=kueue], cluster: eu}}",
    "{apiVersion: trainc.dev/v1alpha1, kind: Build, spec: {resources: [{kind: TrainJob}, 1]}}",
    "{apiVersion: v1, kind: ConfigMap, data: {command: validate, namespace: 'a b', x: '1'}}",
    "{apiVersion: v1, kind: ConfigMap, data: [1]}",
    "{kind: Build, spec: [], metadata: 1}",
    "[]",
)
PATHS = ("jobs/job.yaml", "trainc.yaml", "../x.yaml", "/etc/passwd", "a\\nb", "", "clusters/eu/dump.yaml")


def resource_list(files: dict[str, bytes], chance: random.Random) -> bytes:
    """A ResourceList of the documents in these files; most say which file they are from, as the tools note it."""
    head = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    items = [
        _item(_noted(document, path, number, chance))
        for path, data in files.items()
        for number, document in enumerate(_SEPARATOR.split(data))
        if document.strip()
    ]
    config = f"functionConfig: {chance.choice(CONFIGS)}\n" if chance.random() < 0.9 else ""
    text = head + (b"items:\n" + b"".join(items) if items else b"items: []\n") + config.encode()
    return text if chance.random() < 0.95 else text[: chance.randrange(len(text))]


def _noted(document: bytes, path: str, number: int, chance: random.Random) -> bytes:
    if b"annotations:" in document or document.count(_METADATA) != 1 or chance.random() < 0.2:
        return document
    shown = path if chance.random() < 0.9 else chance.choice(PATHS)
    name = chance.choice(("internal.config.kubernetes.io", "config.kubernetes.io"))
    notes = f'  annotations:\n    {name}/path: "{shown}"\n    {name}/index: "{number}"\n'
    return document.replace(_METADATA, _METADATA + notes.encode("utf-8", "surrogateescape"))


def _item(document: bytes) -> bytes:
    return b"- " + b"\n".join(b"  " + line if line else line for line in document.splitlines())[2:] + b"\n"
