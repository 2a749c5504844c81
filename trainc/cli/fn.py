"""`trainc fn`: a KRM function, as kustomize and kpt call it: a ResourceList on standard input, one on standard output."""

import os
import sys
from contextlib import chdir

from trainc.changes.git.scratch import Scratch, unpack
from trainc.cli.compiling import one_stream
from trainc.cli.options import Options
from trainc.cli.output import data, tell
from trainc.cli.process import Orderly
from trainc.cli.session import Session, standard_input
from trainc.compiler import pipeline
from trainc.compiler.admit.function_config import BUILD
from trainc.compiler.project.assignments import SETTINGS
from trainc.integrations.krm import Item, ItemSpool, Package, configuration, read_list, write_list
from trainc.model.finding import ERROR, WARNING, Finding
from trainc.model.tree import dotted, value
from trainc.report.krm import ItemPlace, message_of, results
from trainc.text.trouble import Trouble


def run(options: Options) -> int:
    """Compile the items that are jobs in their places, or judge them; findings are results, and errors change nothing."""
    if options.arguments:
        raise Trouble(
            "trainc fn takes no arguments: it reads the ResourceList and its functionConfig from standard input"
        )
    if sys.stdin.isatty():
        raise Trouble("trainc fn reads a ResourceList from standard input, as kustomize and kpt write it")
    given = read_list(standard_input())
    config = configuration(given.config, SETTINGS)
    items, is_build = (*given.items, *config.resources), config.command == BUILD
    package = Package(items)
    with Orderly(), Scratch() as folder:
        unpack(folder, package.files())
        with chdir(folder):
            session = Session(Options(["."], config.options), os.getcwd(), compiles=is_build, has_cache=False)
            one_stream(session)
            spool = ItemSpool(package, items, session.project.output)
            pipeline.build(session.project, session.selection, spool, session.report)
    findings = [(finding, _place(finding, package, items)) for finding in session.report.findings]
    if is_build and not session.report.failed:
        texts = spool.texts_in_place(session.report.account)
    else:
        texts = [item.text for item in given.items]
    data(write_list(given, texts, results(findings)))
    # Errors and warnings on standard error, one line each: kustomize shows no results.
    for finding, place in findings:
        if finding.level in (ERROR, WARNING):
            where = ""
            if place is not None:  # the object, or the file and field
                owner = place.path or f"{value(place.tree, 'kind')}/{value(place.tree, 'metadata', 'name')}"
                where = f"{owner}: {dotted(place.field)}: " if place.field else f"{owner}: "
            tell(f"{where}{finding.level}[{finding.rule.name}] {message_of(finding)}")
    return session.verdict()


def _place(finding: Finding, package: Package, items: tuple[Item, ...]) -> ItemPlace | None:
    if (number := package.item_at(finding.span)) is None:
        return None
    item = items[number]
    return ItemPlace(item.tree, item.path, item.position, *package.field_at(finding.span))
