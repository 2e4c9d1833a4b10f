"""How long work says how far it is, without knowing who looks on."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Track(Protocol):
    """Something that passes items on and shows how far it is: a progress bar."""

    def __call__(self, items: Sequence[T], /, what: str) -> Iterable[T]:
        """Yield each of `items`."""


def silently(items: Sequence[T], /, what: str) -> Iterable[T]:
    """Pass items on, and show nothing."""
    return items
