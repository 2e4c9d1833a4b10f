"""${message}.

Revision ID: ${up_revision}
Revises: ${down_revision}
"""

import sqlalchemy as sa
from alembic import op

from energydb.store.upgrade import refuse_downgrade

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

downgrade = refuse_downgrade


def upgrade() -> None:
    ${upgrades if upgrades else "raise NotImplementedError"}
