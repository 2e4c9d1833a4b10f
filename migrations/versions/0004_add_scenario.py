"""Add scenarios: places and prices, so that energy can be told as cost, emissions and water.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "scenario",
        sa.Column("name", sa.String(), nullable=False, comment="Name of the scenario."),
        sa.Column(
            "pue",
            sa.Double(),
            nullable=False,
            comment="Power usage effectiveness of the site: its energy over that of its IT equipment.",
        ),
        sa.Column("pue_source", sa.String(), nullable=False, comment="Where the PUE is from."),
        sa.Column("price_per_kwh", sa.Double(), nullable=True, comment="Price of electricity per kWh, in currency."),
        sa.Column("currency", sa.String(), nullable=True, comment="Currency of the price."),
        sa.Column("price_source", sa.String(), nullable=True, comment="Where the price is from."),
        sa.Column(
            "gco2e_per_kwh",
            sa.Double(),
            nullable=True,
            comment="Greenhouse gases per kWh of electricity, g CO2-equivalent; gco2e_source says what is counted.",
        ),
        sa.Column("gco2e_source", sa.String(), nullable=True, comment="Where the emission figure is from."),
        sa.Column("litres_per_kwh", sa.Double(), nullable=True, comment="Water per kWh of IT energy, litres."),
        sa.Column("litres_source", sa.String(), nullable=True, comment="Where the water figure is from."),
        sa.CheckConstraint("pue >= 1 and price_per_kwh >= 0 and gco2e_per_kwh >= 0 and litres_per_kwh >= 0"),
        sa.PrimaryKeyConstraint("name"),
        comment="Where, and at what price, the energy is used; NULL where a figure isn't known.",
    )


def downgrade() -> None:
    op.drop_table("scenario")
