"""What a server says to one document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.finding import Refusal


class Answer:
    """What a server says to one document: nothing against it, or the stage that refuses (`by`) and its messages."""

    __slots__ = ("_known", "by", "kind", "messages", "name", "namespace", "span")

    def __init__(self, document: Document) -> None:
        self.kind = document.kind
        self.name = document.name
        self.namespace = document.namespace
        self.span = document.span(("metadata", "name"))
        self.by = ""
        self.messages: list[str] = []
        self._known: set[str] = set()  # the messages again: there may be thousands

    def refuse(self, refusal: Refusal) -> None:
        """Note one refusal; the first stage that refuses is the one that answers."""
        self.by = self.by or refusal.by
        if refusal.text not in self._known:
            self._known.add(refusal.text)
            self.messages.append(refusal.text)
