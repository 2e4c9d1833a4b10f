"""Holds documents against each other: what they say of one release must be the same in all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from energydb.errors import DocumentError
from energydb.sources.records import Document, Head


def disagreements(documents: Sequence[Document]) -> Iterator[DocumentError]:
    """Find what stops documents from lying in one database: unlike heads or a slug twice in one release.

    A head is held against the one that most documents of its release have.
    """
    heads: dict[object, Counter[Head]] = {}
    first: dict[Head, Document] = {}
    for document in documents:
        heads.setdefault(document.head.release, Counter())[document.head] += 1
        first.setdefault(document.head, document)
    common = {release: counted.most_common(1)[0][0] for release, counted in heads.items()}
    holders: dict[tuple[object, str], Document] = {}
    for document in documents:
        usual = common[document.head.release]
        for field in Head.__struct_fields__ if document.head != usual else ():
            expected, got = getattr(usual, field), getattr(document.head, field)
            if expected != got:
                yield DocumentError(
                    document.path,
                    document.head_places.get(field, field),
                    f'expected "{expected}" as in {first[usual].path}, of the same release, got "{got}"',
                )
        for model in document.models:
            holder = holders.setdefault((document.head.release, model.slug), document)
            if holder is not document:
                yield DocumentError(
                    document.path,
                    "$.slug",
                    f'expected a slug once in a release, got "{model.slug}" as in {holder.path}',
                )
