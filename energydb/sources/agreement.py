"""Holds documents against each other: what they say of one release must be the same in all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from energydb.errors import DocumentError
from energydb.sources.records import Document, Head


def disagreements(documents: Sequence[Document]) -> Iterator[DocumentError]:
    """Find what stops documents from lying in one database: unlike heads in one release.

    A head is held against the one that most documents of its release have. How much was read of a document is
    nothing that it says.
    """
    heads: dict[object, Counter[Head]] = {}
    first: dict[Head, Document] = {}
    for document in documents:
        head = _said(document)
        heads.setdefault(head.release, Counter())[head] += 1
        first.setdefault(head, document)
    common = {release: counted.most_common(1)[0][0] for release, counted in heads.items()}
    for document in documents:
        usual = common[document.head.release]
        head = _said(document)
        for field in Head.__struct_fields__ if head != usual else ():
            expected, got = getattr(usual, field), getattr(head, field)
            if expected != got:
                yield DocumentError(
                    document.path,
                    document.head_places.get(field, field),
                    f'expected "{expected}" as in {first[usual].path}, of the same release, got "{got}"',
                )


def _said(document: Document) -> Head:
    return msgspec.structs.replace(document.head, is_complete=False, has_all_tasks=False)
