"""Add the measured runs of image and video models: their energy is per image and per video, not per token.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "image_configuration",
        sa.Column(
            "image_configuration_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a measured image run, given at load.",
        ),
        sa.Column(
            "model_key",
            sa.Integer(),
            nullable=False,
            comment="Key of a model as one release describes it, given at load.",
        ),
        sa.Column("gpu", sa.String(), nullable=False, comment="GPU model, as published."),
        sa.Column("num_gpus", sa.Integer(), nullable=False, comment="GPUs that served the model together."),
        sa.Column(
            "ulysses_degree",
            sa.Integer(),
            nullable=False,
            comment="Sequence-parallel degree by attention heads (Ulysses).",
        ),
        sa.Column("ring_degree", sa.Integer(), nullable=False, comment="Sequence-parallel degree by ring attention."),
        sa.Column("precision", sa.String(), nullable=False, comment="Weight format: BF16, FP8 or MXFP4."),
        sa.Column("image_height", sa.Integer(), nullable=False, comment="Height of an image, pixels."),
        sa.Column("image_width", sa.Integer(), nullable=False, comment="Width of an image, pixels."),
        sa.Column("inference_steps", sa.Integer(), nullable=False, comment="Denoising steps of one image or video."),
        sa.Column("batch_size", sa.Integer(), nullable=False, comment="Images or videos that are made together."),
        sa.Column(
            "batch_latency_s", sa.Double(), nullable=False, comment="Time from the start of a batch to its end, s."
        ),
        sa.Column("joules_per_image", sa.Double(), nullable=False, comment="GPU energy per image, J."),
        sa.Column(
            "images_per_second", sa.Double(), nullable=False, comment="Throughput of the whole server, images/s."
        ),
        sa.Column(
            "gpu_power_watts_total",
            sa.Double(),
            nullable=False,
            comment="GPU power, summed over num_gpus, W: equals J times rate at the source.",
        ),
        sa.Column(
            "repeat",
            sa.Integer(),
            nullable=False,
            comment="Ordinal among the runs of a model that share every setting.",
        ),
        sa.CheckConstraint(
            "batch_latency_s > 0 and joules_per_image > 0 and images_per_second > 0 and gpu_power_watts_total > 0"
        ),
        sa.CheckConstraint("image_height >= 1 and image_width >= 1 and inference_steps >= 1 and batch_size >= 1"),
        sa.CheckConstraint("num_gpus >= 1 and ulysses_degree >= 1 and ring_degree >= 1 and repeat >= 1"),
        sa.ForeignKeyConstraint(
            ["gpu"],
            ["gpu.name"],
        ),
        sa.ForeignKeyConstraint(
            ["model_key"],
            ["model.model_key"],
        ),
        sa.PrimaryKeyConstraint("image_configuration_key"),
        comment="One measured run of a model that makes images.",
    )
    op.create_table(
        "video_configuration",
        sa.Column(
            "video_configuration_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a measured video run, given at load.",
        ),
        sa.Column(
            "model_key",
            sa.Integer(),
            nullable=False,
            comment="Key of a model as one release describes it, given at load.",
        ),
        sa.Column("gpu", sa.String(), nullable=False, comment="GPU model, as published."),
        sa.Column("num_gpus", sa.Integer(), nullable=False, comment="GPUs that served the model together."),
        sa.Column(
            "ulysses_degree",
            sa.Integer(),
            nullable=False,
            comment="Sequence-parallel degree by attention heads (Ulysses).",
        ),
        sa.Column("ring_degree", sa.Integer(), nullable=False, comment="Sequence-parallel degree by ring attention."),
        sa.Column("precision", sa.String(), nullable=False, comment="Weight format: BF16, FP8 or MXFP4."),
        sa.Column("video_height", sa.Integer(), nullable=False, comment="Height of a video, pixels."),
        sa.Column("video_width", sa.Integer(), nullable=False, comment="Width of a video, pixels."),
        sa.Column(
            "num_frames", sa.Integer(), nullable=True, comment="Frames of one video; NULL where none is published."
        ),
        sa.Column(
            "fps",
            sa.Double(),
            nullable=True,
            comment="Frames per second of the video when played; NULL where none is published.",
        ),
        sa.Column("inference_steps", sa.Integer(), nullable=False, comment="Denoising steps of one image or video."),
        sa.Column("batch_size", sa.Integer(), nullable=False, comment="Images or videos that are made together."),
        sa.Column(
            "batch_latency_s", sa.Double(), nullable=False, comment="Time from the start of a batch to its end, s."
        ),
        sa.Column("joules_per_video", sa.Double(), nullable=False, comment="GPU energy per video, J."),
        sa.Column(
            "videos_per_second", sa.Double(), nullable=False, comment="Throughput of the whole server, videos/s."
        ),
        sa.Column(
            "gpu_power_watts_total",
            sa.Double(),
            nullable=False,
            comment="GPU power, summed over num_gpus, W: equals J times rate at the source.",
        ),
        sa.Column(
            "repeat",
            sa.Integer(),
            nullable=False,
            comment="Ordinal among the runs of a model that share every setting.",
        ),
        sa.CheckConstraint(
            "batch_latency_s > 0 and joules_per_video > 0 and videos_per_second > 0 and gpu_power_watts_total > 0"
        ),
        sa.CheckConstraint("num_gpus >= 1 and ulysses_degree >= 1 and ring_degree >= 1 and repeat >= 1"),
        sa.CheckConstraint(
            "video_height >= 1 and video_width >= 1 and num_frames >= 1 and fps > 0 and inference_steps >= 1 and batch_size >= 1"
        ),
        sa.ForeignKeyConstraint(
            ["gpu"],
            ["gpu.name"],
        ),
        sa.ForeignKeyConstraint(
            ["model_key"],
            ["model.model_key"],
        ),
        sa.PrimaryKeyConstraint("video_configuration_key"),
        comment="One measured run of a model that makes videos.",
    )


def downgrade() -> None:
    op.drop_table("video_configuration")
    op.drop_table("image_configuration")
