"""Jobs that mount a claim, and the claim."""

from tests.repository import job

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}
  namespace: {namespace}
spec:
  accessModes: [ReadWriteMany]
  resources: {{requests: {{storage: 1Ti}}}}
"""
RENDERED = "research/persistentvolumeclaim.data.yaml"


def patched(name: str, fields: str, run: str = "") -> str:
    """The text of a job with these fields in its pods."""
    patch = (
        "spec:\n  runtimePatches:\n  - manager: example.com/a\n    trainingRuntimeSpec: {template: {spec: {replicatedJobs: "
        f"[{{name: node, template: {{spec: {{template: {{spec: {{{fields}}}}}}}}}}}]}}}}}}\n"
    )
    return job(name, run=run).replace("spec:\n", patch, 1)


def mounting(name: str, claim: str = "data", run: str = "") -> str:
    """The text of a job that mounts a claim."""
    return patched(name, f"volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim}}}}}]", run)
