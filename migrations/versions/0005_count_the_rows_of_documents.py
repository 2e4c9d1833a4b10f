"""Count the rows that each document gave, and the documents, so that a loss shows.

What was loaded before isn't counted after the fact: what is lost by then would count as whole.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "build",
        sa.Column(
            "documents",
            sa.Integer(),
            nullable=True,
            comment="Files that were loaded; NULL in a file from before this was counted.",
        ),
    )
    op.add_column(
        "build",
        sa.Column(
            "licence_evidence",
            sa.Integer(),
            nullable=True,
            comment="Items of evidence that were loaded; NULL in a file from before this was counted.",
        ),
    )
    op.add_column(
        "build",
        sa.Column(
            "scenarios",
            sa.Integer(),
            nullable=True,
            comment="Scenarios that were loaded; NULL in a file from before this was counted.",
        ),
    )
    op.create_table(
        "document_rows",
        sa.Column("document_key", sa.Integer(), nullable=False, comment="Key of a document, given at load."),
        sa.Column("models", sa.Integer(), nullable=False, comment="Models in the document."),
        sa.Column(
            "runs", sa.Integer(), nullable=False, comment="Measured runs in the document: text, image and video."
        ),
        sa.Column(
            "published_picks", sa.Integer(), nullable=False, comment="Picks that the document itself calls best."
        ),
        sa.Column(
            "output_length_bins", sa.Integer(), nullable=False, comment="Bins of output lengths, over all runs."
        ),
        sa.CheckConstraint("models >= 1 and runs >= 1 and published_picks >= 0 and output_length_bins >= 0"),
        sa.ForeignKeyConstraint(["document_key"], ["document.document_key"]),
        sa.PrimaryKeyConstraint("document_key"),
        comment="How many rows a document gave, counted as it was read: energydb check finds what is missing.",
    )


def downgrade() -> None:
    op.drop_table("document_rows")
    op.drop_column("build", "scenarios")
    op.drop_column("build", "licence_evidence")
    op.drop_column("build", "documents")
