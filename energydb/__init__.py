"""Published measurements of AI-inference energy as one SQL database file."""

__version__ = "0.1.0"
