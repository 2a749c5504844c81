"""Renders what `benchmarks/templates.py` wrote and prints it: `python benchmarks/render.py helm|kcl|jsonnet FOLDER`."""

import importlib
import os
import sys


def main(tool: str, folder: str) -> None:
    """Print the objects of all jobs."""
    os.chdir(folder)
    sys.stdout.write({"helm": helm, "kcl": kcl, "jsonnet": jsonnet}[tool]())


def helm() -> str:
    """With Helm's own SDK, without the start of a program of its own."""
    with importlib.import_module("helm_python").Chart.load("chart") as chart:
        return "".join(chart.render(None, name="jobs", namespace="default").values())


def kcl() -> str:
    """YAML, as `kcl run` prints it."""
    api = importlib.import_module("kcl_lib.api")
    done = api.API().exec_program(api.ExecProgramArgs(k_filename_list=["jobs.k"]))
    return str(done.yaml_result)


def jsonnet() -> str:
    """JSON, as jsonnet prints it."""
    return str(importlib.import_module("rjsonnet").evaluate_file("jobs.jsonnet"))


if __name__ == "__main__":
    main(*sys.argv[1:])
