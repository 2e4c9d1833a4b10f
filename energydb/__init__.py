"""Published measurements of AI-inference energy as one SQL database file."""

from importlib.metadata import version

__version__ = version("energydb")
