"""Texts of small jobs: a kind, its roles, and what else its spec says."""

FIELDS = {
    "JAXJob": ("jaxReplicaSpecs", "jax"),
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch"),
    "TFJob": ("tfReplicaSpecs", "tensorflow"),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost"),
    "PaddleJob": ("paddleReplicaSpecs", "paddle"),
    "MPIJob": ("mpiReplicaSpecs", "mpi"),
}


def role(name: str, replicas: int | None = 1, policy: str = "", container: str = "", **more: str) -> tuple[str, str]:
    """One role; `container` replaces the whole container, other fields go beside it in the pod."""
    pod = ", ".join([f"containers: [{container or 'MAIN'}]", *(f"{key}: {text}" for key, text in more.items())])
    lines = [f"replicas: {replicas}"] if replicas is not None else []
    lines += [f"restartPolicy: {policy}"] if policy else []
    lines += [f"template: {{spec: {{{pod}}}}}"]
    return name, "".join(f"      {line}\n" for line in lines)


def job(
    kind: str, *roles: tuple[str, str], api: str = "kubeflow.org/v1", name: str = "demo", spec: str = "", meta: str = ""
) -> str:
    field, main = FIELDS[kind]
    body = "".join(f"    {key}:\n{lines}" for key, lines in roles).replace("MAIN", f"{{name: {main}, image: img}}")
    extra = "".join(f"  {line}\n" for line in spec.splitlines())
    head = f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns1{meta}}}\n"
    return f"{head}spec:\n{extra}  {field}:\n{body}"


TFJOB = """\
apiVersion: {api}
kind: TfJob
metadata: {{name: demo, namespace: ns1}}
spec:
  RuntimeId: "1234"
  replicaSpecs:
{entries}"""
ENTRY = "  - {{tfReplicaType: {0}, replicas: {1}, template: {{spec: {{containers: [{{name: {2}, image: img}}], restartPolicy: OnFailure}}}}}}\n"


def old(*entries: str, api: str = "mlkube.io/v1beta1", spec: str = "") -> str:
    return TFJOB.format(api=api, entries="".join(entries)) + spec


def entry(role_: str, replicas: int = 1, container: str = "tensorflow") -> str:
    return ENTRY.format(role_, replicas, container)
