"""What is asked of a database file: questions, what a person reads of it, and the way back."""
