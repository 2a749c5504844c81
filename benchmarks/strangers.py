"""Writes a repository as several teams would have written it: `python -m benchmarks.strangers N FOLDER`.

The spellings are those of public manifests: commands as lists, a flag and its value as two words, scripts in blocks,
comments, several documents in a file, jobs of other operators, three clusters, components, and findings in a tenth of
the jobs. What it writes depends on the number of jobs alone, never on trainc: figures of different versions compare.
"""

import os
import sys
from collections.abc import Callable

TEAMS = ("speech", "vision", "ranking", "search", "forecast", "pricing", "translate", "robots")
CLUSTERS = ("east", "west", "edge")
MODELS = ("bert-large", "resnet50", "llama-3-8b", "t5-xl", "whisper-medium", "dlrm", "vit-h14")
PER_FOLDER = 25

PROJECT = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
metadata:
  name: research-training
spec:
  clusters:
    east:
      paths: ["jobs/east/**"]
      components: [large-shm]
    west:
      paths: ["jobs/west/**"]
      components: [large-shm]
    edge:
      paths: ["jobs/edge/**"]
      components: [large-shm]
"""

COMPONENT = """\
# Shared memory for data loaders: Docker's 64 MiB are too little for more than one worker.
apiVersion: trainc.dev/v1alpha1
kind: RuntimeComponent
metadata:
  name: large-shm
spec:
  job:
    spec:
      template:
        spec:
          containers:
            - name: node
              volumeMounts:
                - name: dshm
                  mountPath: /dev/shm
          volumes:
            - name: dshm
              emptyDir:
                medium: Memory
                sizeLimit: 64Gi
"""

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-research
  labels:
    trainer.kubeflow.org/framework: torch
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  template:
    spec:
      failurePolicy:
        maxRestarts: 3
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
                  tolerations:
                    - key: nvidia.com/gpu
                      operator: Exists
                      effect: NoSchedule
                  containers:
                    - name: node
                      image: registry.example.com/research/torch:2.8.0-cuda12.8
                      env:
                        - name: NCCL_DEBUG
                          value: WARN
                        - name: OMP_NUM_THREADS
                          value: "8"
"""

LIST = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {team}
  labels:
    team: {team}
spec:
  runtimeRef:
    name: torch-research
  trainer:
    numNodes: {nodes}
    image: registry.example.com/{team}/{model}:{number}
    command:
      - torchrun
      - train.py
      - --model
      - {model}
      - --lr
      - "{rate}"
      - --batch-size
      - "{batch}"
      - --output_dir
      - s3://{team}-checkpoints/{name}
    env:
      - name: WANDB_PROJECT
        value: {team}
      - name: HF_TOKEN
        valueFrom:
          secretKeyRef:
            name: hf-token
            key: token
    resourcesPerNode:
      requests:
        cpu: {cpus}
        memory: {memory}Gi
      limits:
        memory: {memory}Gi
        nvidia.com/gpu: {gpus}
"""

FLOW = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: {name}, namespace: {team}}}
spec:
  runtimeRef: {{name: torch-research}}
  trainer:
    image: registry.example.com/{team}/{model}:{number}
    numNodes: {nodes}
    command: ["torchrun", "train.py", "--epochs", "{epochs}", "--lr", "{rate}"]
    resourcesPerNode:
      requests: {{cpu: {cpus}, memory: {memory}Gi}}
      limits: {{nvidia.com/gpu: {gpus}, memory: {memory}Gi}}
"""

SCRIPT = """\
# Fine-tuning of {model} for {team}; ask in the channel of the team before changing the batch size.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {team}
  annotations:
    example.com/owner: {team}@example.com
    example.com/ticket: ML-{number}
spec:
  runtimeRef:
    apiGroup: trainer.kubeflow.org
    kind: ClusterTrainingRuntime
    name: torch-research
  trainer:
    numNodes: {nodes}
    numProcPerNode: {gpus}
    image: registry.example.com/{team}/{model}:{number}
    command:
      - bash
      - -c
      - |
        set -euo pipefail
        export TOKENIZERS_PARALLELISM=false
        # The image has the code; the data is mounted.
        pip install --no-deps -e /workspace
        torchrun \\
          --nproc_per_node={gpus} \\
          /workspace/finetune.py \\
          --model_name {model} \\
          --learning_rate {rate} \\
          --per_device_train_batch_size {batch} \\
          --num_train_epochs {epochs} \\
          --save_steps 500
    resourcesPerNode:
      limits:
        nvidia.com/gpu: "{gpus}"
        memory: "{memory}Gi"
      requests:
        cpu: "{cpus}"
        memory: "{memory}Gi"
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
                        serviceAccountName: {team}-training
                        nodeSelector:
                          example.com/pool: {pool}
                        volumes:
                          - name: workspace
                            persistentVolumeClaim:
                              claimName: {team}-workspace
                        containers:
                          - name: node
                            volumeMounts:
                              - name: workspace
                                mountPath: /checkpoints
"""

PYTORCH = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: {name}
  namespace: {team}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        metadata:
          annotations:
            sidecar.istio.io/inject: "false"
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/{team}/{model}:{number}
              imagePullPolicy: IfNotPresent
              command: &command
                - python3
                - /opt/{model}/main.py
                - --epochs={epochs}
                - --backend=nccl
              resources: &resources
                limits:
                  nvidia.com/gpu: 1
                  memory: {memory}Gi
                requests:
                  cpu: 8
                  memory: {memory}Gi
    Worker:
      replicas: {nodes}
      restartPolicy: OnFailure
      template:
        metadata:
          annotations:
            sidecar.istio.io/inject: "false"
        spec:
          containers:
            - name: pytorch
              image: registry.example.com/{team}/{model}:{number}
              imagePullPolicy: IfNotPresent
              command: *command
              resources: *resources
"""

JOBSET = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}-config
  namespace: {team}
data:
  config.yaml: |
    model: {model}
    optimizer:
      lr: {rate}
      warmup: 500
    batch_size: {batch}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {name}
  namespace: {team}
spec:
  failurePolicy:
    maxRestarts: 2
  network:
    enableDNSHostnames: true
  replicatedJobs:
    - name: workers
      replicas: 1
      template:
        spec:
          parallelism: {nodes}
          completions: {nodes}
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: jax
                  image: registry.example.com/{team}/{model}:{number}
                  ports:
                    - containerPort: 1234
                  env:
                    - name: JAX_COORDINATOR_ADDRESS
                      value: {name}-workers-0-0.{name}:1234
                    - name: JAX_NUM_PROCESSES
                      value: "{nodes}"
                    - name: JAX_PROCESS_ID
                      valueFrom:
                        fieldRef:
                          fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
                  command:
                    - python
                    - train.py
                    - --config
                    - /etc/train/config.yaml
                  volumeMounts:
                    - name: config
                      mountPath: /etc/train
                  resources:
                    limits:
                      nvidia.com/gpu: {gpus}
                      memory: {memory}Gi
                      cpu: {cpus}
              volumes:
                - name: config
                  configMap:
                    name: {name}-config
"""

MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: {name}
  namespace: {team}
spec:
  slotsPerWorker: {gpus}
  runPolicy:
    cleanPodPolicy: Running
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
            - name: mpi
              image: registry.example.com/{team}/{model}:{number}
              command:
                - mpirun
                - --allow-run-as-root
                - -np
                - "{processes}"
                - -bind-to
                - none
                - python
                - /opt/{model}/train.py
                - --lr
                - "{rate}"
              resources:
                limits: {{cpu: 1, memory: 4Gi}}
    Worker:
      replicas: {nodes}
      template:
        spec:
          containers:
            - name: mpi
              image: registry.example.com/{team}/{model}:{number}
              resources:
                limits:
                  nvidia.com/gpu: {gpus}
                  memory: {memory}Gi
                  cpu: {cpus}
"""

# Of each twenty jobs: how people of this repository write them.
SPELLINGS = (LIST,) * 6 + (FLOW,) * 4 + (SCRIPT,) * 4 + (PYTORCH,) * 3 + (JOBSET,) * 2 + (MPI,)
# What is wrong with each tenth job, in turn; none keeps it from being compiled.
SLIPS: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace("/{model}:{number}", "/{model}:latest"),
    lambda text: text.replace("memory: {memory}Gi", "memory: 512", 1),
    lambda text: text.replace('"{rate}"', '"{rate}"\n      - --seed', 1),
)


def job(number: int) -> tuple[str, str]:
    """The path and the text of one file."""
    team = TEAMS[number % len(TEAMS)]
    model = MODELS[number * 5 % len(MODELS)]
    spelling = SPELLINGS[number * 7 % len(SPELLINGS)]
    if number % 10 == 9:
        spelling = SLIPS[number // 10 % len(SLIPS)](spelling)
    cluster = CLUSTERS[number // PER_FOLDER % len(CLUSTERS)]
    nodes, gpus = 2 + number % 7, 8
    name = f"{model}-{number}"
    text = spelling.format(
        name=name,
        team=team,
        model=model,
        number=number,
        nodes=nodes,
        gpus=gpus,
        processes=nodes * gpus,
        cpus=32 + number % 3 * 16,
        memory=256 << number % 3,
        rate=f"{1 + number % 9}e-{4 + number % 2}",
        batch=8 << number % 4,
        epochs=1 + number % 30,
        pool=("a100", "h100", "h200")[number % 3],
    )
    return f"jobs/{cluster}/{team}/{number // PER_FOLDER:03d}/{name}.yaml", text


def write(count: int, folder: str) -> None:
    """The repository: trainc.yaml, a runtime, a component, and as many files of jobs."""
    files = {
        "trainc.yaml": PROJECT,
        "runtimes/torch-research.yaml": RUNTIME,
        "runtimes/components/large-shm.yaml": COMPONENT,
        **dict(job(number) for number in range(count)),
    }
    for path, text in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)


if __name__ == "__main__":
    write(int(sys.argv[1]), sys.argv[2])
