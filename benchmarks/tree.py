"""Writes a repository of N realistic jobs that share one runtime: `python benchmarks/tree.py N FOLDER [KIND]`.

The kinds are how much the jobs have in common:

* `sweep`: each team has one job many times, with other names, seeds and numbers of a build; 7 spellings in all.
* `mixed`: numbers of nodes, batch sizes, learning rates and pools differ as well; 7 spellings.
* `dissimilar`: each job has a word of its own besides; 7 spellings.
"""

import os
import sys

TEAMS = ("speech", "vision", "ranking", "search", "forecast", "pricing", "translate", "robots")
KINDS = SWEEP, MIXED, DISSIMILAR = ("sweep", "mixed", "dissimilar")
PER_FOLDER = 50

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-shared
  labels:
    trainer.kubeflow.org/framework: torch
spec:
  mlPolicy:
    numNodes: 2
    torch: {}
  template:
    metadata:
      labels:
        owner: ml-platform
    spec:
      failurePolicy:
        maxRestarts: 3
        restartStrategy: BlockingRecreate
      replicatedJobs:
        - name: node
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              backoffLimit: 0
              template:
                spec:
                  terminationGracePeriodSeconds: 60
                  tolerations:
                    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
                  containers:
                    - name: node
                      image: registry.example.com/ml/torch:2.8.0
                      command: [torchrun, /opt/train/main.py]
                      env:
                        - {name: NCCL_SOCKET_IFNAME, value: eth0}
                        - {name: OMP_NUM_THREADS, value: "8"}
                      resources:
                        limits: {nvidia.com/gpu: 8, memory: 512Gi}
                        requests: {cpu: "32", memory: 512Gi}
                      volumeMounts:
                        - {name: shm, mountPath: /dev/shm}
                        - {name: data, mountPath: /data, readOnly: true}
                  volumes:
                    - name: shm
                      emptyDir: {medium: Memory, sizeLimit: 64Gi}
                    - name: data
                      persistentVolumeClaim: {claimName: datasets}
"""

GANGS = {
    "spec:\n": "spec:\n  podGroupPolicy:\n    coscheduling: {scheduleTimeoutSeconds: 300}\n",
    "containers:\n": "schedulerName: scheduler-plugins-scheduler\n                  containers:\n",
}

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {team}
  labels:
    team: {team}
    experiment: {word}-{sweep}
  annotations:
    example.com/ticket: ML-{number}
spec:
  runtimeRef:
    name: torch-shared
  trainer:
    image: registry.example.com/{team}/train:{number}
    numNodes: {nodes}
    command:
      - torchrun
      - /opt/train/main.py
    args:
      - --learning-rate=3e-{exponent}
      - --batch-size={batch}
      - --run-name={name}
    env:
      - name: WANDB_PROJECT
        value: {team}
      - name: SEED
        value: "{number}"
      - name: WANDB_API_KEY
        valueFrom:
          secretKeyRef:
            name: wandb
            key: token
    resourcesPerNode:
      limits:
        nvidia.com/gpu: 8
        memory: 768Gi
      requests:
        cpu: 48
        memory: 768Gi
  runtimePatches:
    - manager: example.com/platform
      trainingRuntimeSpec:
        template:
          spec:
            replicatedJobs:
              - name: node
                template:
                  spec:
                    template:
                      spec:
                        serviceAccountName: {team}-train
                        nodeSelector:
                          example.com/pool: a100-{pool}
"""


def job(number: int, kind: str = MIXED) -> tuple[str, str]:
    """The path and the text of one job."""
    team = TEAMS[number % len(TEAMS)]
    choice = number % len(TEAMS) if kind == SWEEP else number
    name = f"{team}-{number:05d}"
    text = JOB.format(
        name=name,
        team=team,
        number=number,
        word=_word(number) if kind == DISSIMILAR else "sweep",
        sweep=number // 20,
        nodes=2 + choice % 7,
        exponent=3 + choice % 3,
        batch=16 << choice % 4,
        pool="abc"[choice % 3],
    )
    return f"jobs/{number // PER_FOLDER:03d}/{name}.yaml", text


def _word(number: int) -> str:
    """A word that no other number has."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05d}")


def write(count: int, folder: str, kind: str = MIXED, *, gangs: bool = False, clusters: int = 0) -> None:
    """The repository: `trainc.yaml`, `runtimes/` and `jobs/`; with `gangs` each job comes out with a PodGroup as well.

    With `clusters` each job runs on so many.
    """
    runtime = RUNTIME
    for place, more in GANGS.items() if gangs else ():
        runtime = runtime.replace(place, more, 1)
    files = {
        "trainc.yaml": "apiVersion: trainc.dev/v1alpha1\nkind: Project\n",
        "runtimes/torch-shared.yaml": runtime,
        **dict(job(number, kind) for number in range(count)),
    }
    if clusters:
        names = [f"c{number:03d}" for number in range(clusters)]
        files["trainc.yaml"] += "spec:\n  clusters:\n" + "".join(f"    {name}: {{}}\n" for name in names)
        bound = f"  annotations:\n    trainc.dev/cluster: {','.join(names)}\n"
        files |= {
            path: text.replace("  annotations:\n", bound, 1) for path, text in files.items() if path[:5] == "jobs/"
        }
    for path, text in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)


if __name__ == "__main__":
    write(int(sys.argv[1]), *sys.argv[2:])
