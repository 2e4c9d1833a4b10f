"""Tells what is one thing under several spellings: a model by its id."""

import re
import unicodedata

_ZERO_WIDTH = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def model_identity(model_id: str) -> str:
    """Return what two spellings of one Hugging Face id have in common.

    >>> model_identity(" Qwen/Qwen3-14B\u200b ")
    'qwen/qwen3-14b'
    """
    return unicodedata.normalize("NFC", _ZERO_WIDTH.sub("", model_id)).strip().casefold()
