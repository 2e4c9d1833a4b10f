"""Holds documents against each other: what they say of one release must be the same in all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from energydb.errors import DocumentError
from energydb.sources.records import Document, Head


def disagreements(documents: Sequence[Document]) -> Iterator[DocumentError]:
    """Find what stops documents from lying in one database: unlike heads in one release.

    A head is held against the one that most documents of its release have; of equally many that is the first by what
    they say, wherever the documents lie. How much was read of a document is nothing that it says.
    """
    heads: dict[object, Counter[Head]] = {}
    first: dict[Head, str] = {}
    for document in documents:
        head, name = _said(document), Path(document.path).name
        heads.setdefault(head.release, Counter())[head] += 1
        first[head] = min(first.get(head, name), name)
    common = {
        release: min(counted, key=lambda head: (-counted[head], repr(head))) for release, counted in heads.items()
    }
    for document in documents:
        usual = common[document.head.release]
        head = _said(document)
        for field in Head.__struct_fields__ if head != usual else ():
            expected, got = getattr(usual, field), getattr(head, field)
            if expected != got:
                yield DocumentError(
                    document.path,
                    document.head_places.get(field, field),
                    f'expected "{expected}" as in {first[usual]}, of the same release, got "{got}"',
                )


def _said(document: Document) -> Head:
    return msgspec.structs.replace(document.head, is_complete=False, has_all_tasks=False)
