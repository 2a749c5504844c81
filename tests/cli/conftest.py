"""A plugin behind its server, for every kind of server that is here, with a namespace and without."""

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT
from tests.integrations.plugin_server.client import Client
from tests.integrations.plugin_server.server import PluginServer
from tests.warm import program
from tests.working_tree import WorkingTree

REAL = shutil.which("argocd-cmp-server")
KINDS = ["stand-in", pytest.param("real", marks=pytest.mark.skipif(not REAL, reason="no argocd-cmp-server here"))]
# What the repo-server sets for an application besides its path and namespace; the source hydrator empties the last two.
APPLICATION = {
    "ARGOCD_APP_NAME": "argocd_training",
    "ARGOCD_APP_PROJECT_NAME": "default",
    "ARGOCD_APP_REVISION": "0" * 40,
    "ARGOCD_APP_REVISION_SHORT": "0" * 7,
    "ARGOCD_APP_REVISION_SHORT_8": "0" * 8,
    "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/training.git",
    "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
    "ARGOCD_APP_PARAMETERS": "null",
    "KUBE_VERSION": "1.36.0",
    "KUBE_API_VERSIONS": "v1,jobset.x-k8s.io/v1alpha2,jobset.x-k8s.io/v1alpha2/JobSet",
}


@pytest.fixture(scope="session")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    made = WorkingTree(tmp_path_factory.mktemp("hooked"), "bert", "line")
    assert made.trainc("build", "-w").returncode == 0
    made.hooks()
    assert made.commit().returncode == 0
    return made


@pytest.fixture
def tree(hooked: WorkingTree, tmp_path: Path) -> WorkingTree:
    """A work tree of two jobs, rendered and committed with the hooks that trainc ships under pre-commit."""
    return hooked.copy(tmp_path)


@pytest.fixture(params=["", "team"], ids=["nowhere", "team"])
def destination(request: pytest.FixtureRequest) -> str:
    """The application's namespace: every test runs with one and without."""
    return str(request.param)


@pytest.fixture(params=KINDS)
def client(tmp_path: Path, request: pytest.FixtureRequest, destination: str) -> Iterator[Client]:
    folder = tmp_path / "server"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(stat.S_IRUSR | stat.S_IXUSR)
    path = f"{program().parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(home)}
    plugin = yaml.safe_load((ROOT / "deploy/argocd/plugin.yaml").read_text("utf-8"))
    server = PluginServer(folder, plugin, environment) if request.param == "stand-in" else Real(folder, environment)
    client = Client(server.socket, {**APPLICATION, "ARGOCD_APP_NAMESPACE": destination})
    yield client
    client.close()
    server.stop()


class Real:
    """The server of Argo CD itself."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        shutil.copy(ROOT / "deploy/argocd/plugin.yaml", folder)
        paths = {"ARGOCD_PLUGINSOCKFILEPATH": str(folder), "ARGOCD_CMP_WORKDIR": str(folder)}
        words = [str(REAL), "--config-dir-path", str(folder)]
        self._process = subprocess.Popen(words, env={**environment, **paths})
        self.socket = folder / "trainc-v1.sock"
        while not self.socket.exists():
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
