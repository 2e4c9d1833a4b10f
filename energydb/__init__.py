"""Published measurements of AI-inference energy as one SQL database file."""

from datetime import date

__version__ = "0.1.0"
RELEASED = date(2026, 12, 3)  # of this version
