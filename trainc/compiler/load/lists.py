"""`kind: List`: one document that holds several."""

from collections.abc import Iterable, Iterator

from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report

NOT_AN_OBJECT = Rule("not-an-object", ERROR, admission=True)


def expand(documents: Iterable[Document], report: Report) -> Iterator[Document]:
    """Each document, a List replaced by its items; what is not a mapping is a finding."""
    for document in documents:
        if type(document.tree) is not dict:
            report.add(
                NOT_AN_OBJECT.at(
                    document.span(),
                    "this document is not a mapping",
                    help="separate documents with `---`; each needs `apiVersion` and `kind`",
                )
            )
        elif type(items := document.tree.get("items")) is list and document.kind.endswith("List"):
            parts = (document.part(item, "items", index) for index, item in enumerate(items))
            yield from expand(parts, report)
        else:
            yield document
