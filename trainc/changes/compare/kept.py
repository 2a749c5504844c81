"""What a run keeps is judged as it will be applied: by servers, policies, rules and locks that may be younger than the run."""

from collections.abc import Iterator

from trainc.apiserver.policy.judge import judge_bundle
from trainc.changes.compare.updates import Update, key_of, pieces_of
from trainc.compiler.resolve.locks import held
from trainc.lint import verify
from trainc.model.bundle import Bundle, runs_pods, view_of
from trainc.model.finding import ERROR, WARNING, Finding, Label
from trainc.model.paths import located
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Tree


def judge_kept(
    bundle: Bundle, objects: tuple[Tree, ...], updates: list[Update], project: Project, report: Report
) -> None:
    """Warn of each error of a rendering that stays which the present one does not have: it is older than the rule."""
    cluster = next(one for one in project.clusters if one.name == bundle.cluster)
    present = project.at(cluster)
    target = next((tree for tree in objects if runs_pods(tree)), None)
    if target is None:
        return
    view = view_of(target) if bundle.keeps_job else target
    kept = Bundle(bundle.document, objects, bundle.plan, cluster=bundle.cluster, jobset=view)
    known = {finding.rule.name for finding in _errors(bundle, present)}
    findings = [finding for finding in _errors(kept, present) if finding.rule.name not in known]
    for finding in [*findings, *_broken_locks(bundle, target, updates)]:
        place = _present_place(bundle, objects, finding.span)
        also = (Label(place, "what would set it now"),) if place is not None else ()
        note = f"run `{bundle.name}` keeps its rendering, which is older; `trainc run {bundle.document.name}` starts one without it"
        report.add(
            finding._replace(level=WARNING, labels=(*finding.labels, *also), notes=(*finding.notes, note), fix=())
        )


def _errors(bundle: Bundle, project: Project) -> list[Finding]:
    report = Report(level_of=project.level_of)
    verify(bundle, project, report)
    if project.policies or project.cluster.policies:
        judge_bundle(bundle, project, report)
    return [finding for finding in report.findings if finding.level == ERROR]


def _broken_locks(bundle: Bundle, target: Tree, updates: list[Update]) -> Iterator[Finding]:
    """A finding for each locked field of the runtime's template that a rendering has otherwise."""
    runtime = bundle.plan.runtime if bundle.plan is not None else None
    if runtime is None:
        return
    every = [lock for source in runtime.sources for lock in held(source, runtime.tree["spec"], Report(), whole=False)]
    locks = [lock for lock in every if lock.steps[:1] == ("template",)]
    for update in updates if locks else ():
        if not runs_pods(update.tree):
            continue
        for lock in locks:
            steps = lock.steps[1:]
            changed = next((one for one in update.changed if one.steps[: len(steps)] == steps), None)
            if changed is not None:
                path = located(target, changed.steps) or ()
                yield lock.broken(bundle.span(target, path), f"the rendering of run `{bundle.name}`")


def _present_place(bundle: Bundle, objects: tuple[Tree, ...], span: Span) -> Span | None:
    """Where the present files say what a rendering says at a place."""
    present = {key_of(bundle, tree): tree for tree in bundle.objects}
    for tree in objects:
        if (now := present.get(key_of(bundle, tree))) is None:
            continue
        for steps, _, leaf in pieces_of(tree).leaves:
            if leaf.origin.at == span:
                path = located(now, steps)
                return bundle.span(now, path) if path is not None else None
    return None
