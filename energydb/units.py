"""Conversions between the units that sources publish in."""

JOULES_PER_WATT_HOUR = 3600
TOKENS_PER_MILLION = 1e6


def wh_per_million_tokens(joules_per_token: float) -> float:
    """Convert energy per token (J) to energy per million tokens (Wh).

    >>> wh_per_million_tokens(3.6)
    1000.0
    """
    return joules_per_token / JOULES_PER_WATT_HOUR * TOKENS_PER_MILLION
