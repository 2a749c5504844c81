"""The catalogue: runtimes and components that trainc ships."""

import os

import trainc
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.yaml.reader import read

SHIPPED = "trainc:runtimes/"  # how places in the catalogue are named
COMPONENTS = "components"


def catalogue() -> str:
    """The folder of runtimes that trainc ships: in the wheel, or beside the package in a checkout."""
    here = os.path.dirname(os.path.abspath(trainc.__file__))
    packed = os.path.join(here, "_data", "runtimes")
    return packed if os.path.isdir(packed) else os.path.join(os.path.dirname(here), "runtimes")


def shipped_names(folder: str = "") -> list[str]:
    """The names of all runtimes in the catalogue, or of all its components."""
    path = os.path.join(catalogue(), folder)
    return sorted(name[:-5] for name in os.listdir(path) if name.endswith(".yaml")) if os.path.isdir(path) else []


def shipped_documents(inner: str) -> list[Document]:
    """The documents of a file of the catalogue by its path there, empty where it has no such file."""
    path = os.path.join(catalogue(), inner)
    if not os.path.isfile(path):
        return []
    with open(path, "rb") as stream:
        return list(read(stream.read(), f"{SHIPPED}{inner}", Report()))
