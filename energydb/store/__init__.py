"""The database file: its tables and views, how it is built and published, and what it must hold."""
