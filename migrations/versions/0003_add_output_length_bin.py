"""Add how long the outputs of each run were: the leaderboard publishes them in bins.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "output_length_bin",
        sa.Column(
            "configuration_key",
            sa.Integer(),
            nullable=False,
            comment="Key of a measured run, given at load: ascending in document order.",
        ),
        sa.Column("bin", sa.Integer(), nullable=False, comment="Place of the bin in its run, from 1."),
        sa.Column("from_tokens", sa.Double(), nullable=False, comment="Lower edge of the bin, tokens."),
        sa.Column("to_tokens", sa.Double(), nullable=False, comment="Upper edge of the bin, tokens."),
        sa.Column(
            "requests", sa.Integer(), nullable=False, comment="Requests whose output length lies within the bin."
        ),
        sa.CheckConstraint("bin >= 1 and from_tokens < to_tokens and requests >= 0"),
        sa.ForeignKeyConstraint(
            ["configuration_key"],
            ["configuration.configuration_key"],
        ),
        comment="How many requests of a run gave an output of a length within one bin.",
    )


def downgrade() -> None:
    op.drop_table("output_length_bin")
