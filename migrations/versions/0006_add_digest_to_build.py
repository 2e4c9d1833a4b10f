"""Say which build a file is, so that a macro can tell whether it reads the file that it belongs to.

What was loaded before has none: its macros answer in any database.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "build",
        sa.Column(
            "digest",
            sa.String(),
            nullable=True,
            comment="SHA-256 of what was loaded and by which energydb: files with one digest hold the same rows.",
        ),
    )


def downgrade() -> None:
    op.drop_column("build", "digest")
