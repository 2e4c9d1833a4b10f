"""The first tables.

Nothing has been released yet. Until then this migration is rewritten, under the next number, when a table changes: so a
file that was made before it is told by its revision (0001 to 0008 were such), and built anew.

Revision ID: 0009
Revises:
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from energydb.store.upgrade import refuse_downgrade

revision = "0009"
down_revision = None
branch_labels = None
depends_on = None

downgrade = refuse_downgrade


def of_a_run() -> list[sa.Column[Any]]:
    return [
        sa.Column("model_key", sa.Integer(), sa.ForeignKey("model.model_key"), nullable=False),
        sa.Column("gpu", sa.String(), sa.ForeignKey("gpu.name"), nullable=False),
        sa.Column("num_gpus", sa.Integer(), nullable=False),
        sa.Column("precision", sa.String(), nullable=False),
    ]


def last_of_a_run() -> list[sa.Column[Any]]:
    return [
        sa.Column("other_parallel", sa.String()),
        sa.Column("gpu_as_published", sa.String()),
        sa.Column("precision_as_published", sa.String()),
    ]


def of_a_batch() -> list[sa.Column[Any]]:
    return [
        sa.Column("ulysses_degree", sa.Integer(), nullable=False),
        sa.Column("ring_degree", sa.Integer(), nullable=False),
        sa.Column("inference_steps", sa.Integer(), nullable=False),
        sa.Column("batch_size", sa.Integer(), nullable=False),
        sa.Column("batch_latency_s", sa.Double(), nullable=False),
        sa.Column("gpu_power_watts_total", sa.Double(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        *last_of_a_run(),
    ]


def upgrade() -> None:
    op.create_table(
        "boundary",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("gpu", sa.Boolean()),
        sa.Column("host", sa.Boolean()),
        sa.Column("psu", sa.Boolean()),
        sa.Column("idle_reserve", sa.Boolean()),
        sa.Column("cooling", sa.Boolean()),
        sa.Column("embodied", sa.Boolean()),
        sa.Column("note", sa.String()),
    )
    op.create_table(
        "build",
        sa.Column("energydb_version", sa.String(), primary_key=True),
        sa.Column("energydb_released", sa.Date(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
    )
    op.create_table(
        "gpu",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("memory_gb", sa.Double()),
        sa.Column("rated_watts", sa.Double()),
        sa.Column("facts_source", sa.String()),
        sa.CheckConstraint("memory_gb > 0 and rated_watts > 0"),
    )
    op.create_table(
        "scenario",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("pue", sa.Double(), nullable=False),
        sa.Column("pue_source", sa.String(), nullable=False),
        sa.Column("price_per_kwh", sa.Double()),
        sa.Column("currency", sa.String()),
        sa.Column("price_source", sa.String()),
        sa.Column("gco2e_per_kwh", sa.Double()),
        sa.Column("gco2e_source", sa.String()),
        sa.Column("litres_per_kwh", sa.Double()),
        sa.Column("litres_source", sa.String()),
        sa.CheckConstraint("pue >= 1 and price_per_kwh >= 0 and gco2e_per_kwh >= 0 and litres_per_kwh >= 0"),
    )
    op.create_table(
        "source",
        sa.Column("source_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("publisher", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.UniqueConstraint("name", "publisher", "url"),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.CheckConstraint("kind in ('text', 'image', 'video')"),
    )
    op.create_table(
        "release",
        sa.Column("release_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("source_key", sa.Integer(), sa.ForeignKey("source.source_key"), nullable=False),
        sa.Column("task", sa.String(), sa.ForeignKey("task.id"), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("data_version", sa.Date(), nullable=False),
        sa.Column("compiled", sa.Date(), nullable=False),
        sa.Column("document_version", sa.String()),
        sa.Column("updated", sa.Date()),
        sa.Column("unit", sa.String()),
        sa.Column("itl_deadline_ms", sa.Integer()),
        sa.Column("data_url", sa.String()),
        sa.Column("version", sa.String()),
        sa.Column("released", sa.Date()),
        sa.Column("compiled_evidence", sa.String()),
        sa.Column("retrieved", sa.Date()),
        sa.Column("workload", sa.String(), nullable=False),
        sa.Column("method", sa.String()),
        sa.Column("selection", sa.String()),
        sa.Column("licence", sa.String(), nullable=False),
        sa.Column("cite", sa.String(), nullable=False),
        sa.Column("cite_url", sa.String(), nullable=False),
        sa.Column("used_for", sa.String()),
        sa.Column("configurations_note", sa.String()),
        sa.Column("caveat", sa.String(), nullable=False),
        sa.Column("boundary", sa.String(), sa.ForeignKey("boundary.name"), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("measurement_window", sa.String(), nullable=False),
        sa.Column("basis", sa.String(), nullable=False),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("has_all_tasks", sa.Boolean(), nullable=False),
        sa.CheckConstraint("itl_deadline_ms >= 1"),
        sa.CheckConstraint("origin in ('published', 'own')"),
        sa.CheckConstraint("basis in ('measured', 'modelled', 'stated', 'mixed')"),
        sa.CheckConstraint("measurement_window in ('steady_state', 'whole_run', 'stated')"),
    )
    op.create_table(
        "file",
        sa.Column("file_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("release_key", sa.Integer(), sa.ForeignKey("release.release_key"), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
    )
    op.create_table(
        "licence_evidence",
        sa.Column(
            "release_key", sa.Integer(), sa.ForeignKey("release.release_key"), primary_key=True, autoincrement=False
        ),
        sa.Column("position", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("evidence", sa.String(), nullable=False),
        sa.CheckConstraint("position >= 1"),
    )
    op.create_table(
        "loaded",
        sa.Column("table_name", sa.String(), nullable=False),
        sa.Column("file_key", sa.Integer(), sa.ForeignKey("file.file_key")),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.CheckConstraint("rows >= 0"),
    )
    op.create_table(
        "model",
        sa.Column("model_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("release_key", sa.Integer(), sa.ForeignKey("release.release_key"), nullable=False),
        sa.Column("file_key", sa.Integer(), sa.ForeignKey("file.file_key"), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("params_b", sa.Double(), nullable=False),
        sa.Column("active_params_b", sa.Double(), nullable=False),
        sa.Column("architecture", sa.String()),
        sa.CheckConstraint("params_b > 0 and active_params_b > 0"),
    )
    op.create_table(
        "configuration",
        sa.Column("configuration_key", sa.Integer(), primary_key=True, autoincrement=False),
        *of_a_run(),
        sa.Column("tensor_parallel", sa.Integer(), nullable=False),
        sa.Column("data_parallel", sa.Integer(), nullable=False),
        sa.Column("expert_parallel", sa.Integer(), nullable=False),
        sa.Column("pipeline_parallel", sa.Integer(), nullable=False, server_default=sa.text("1")),
        sa.Column("max_num_seqs", sa.Integer()),
        sa.Column("avg_requests_in_flight", sa.Double(), nullable=False),
        sa.Column("wh_per_million_output_tokens", sa.Double(), nullable=False),
        sa.Column("joules_per_output_token", sa.Double(), nullable=False),
        sa.Column("energy_per_request_joules", sa.Double()),
        sa.Column("median_itl_ms", sa.Double(), nullable=False),
        sa.Column("p90_itl_ms", sa.Double()),
        sa.Column("p95_itl_ms", sa.Double()),
        sa.Column("p99_itl_ms", sa.Double()),
        sa.Column("tokens_per_second", sa.Double(), nullable=False),
        sa.Column("gpu_power_watts_total", sa.Double(), nullable=False),
        sa.Column("avg_output_tokens", sa.Double(), nullable=False),
        sa.Column("under_itl_deadline", sa.Boolean(), nullable=False),
        sa.Column("avg_running_batch", sa.Double()),
        sa.Column("row_id", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("parallel_notes", sa.String()),
        *last_of_a_run(),
        sa.CheckConstraint(
            "num_gpus >= 1 and tensor_parallel >= 1 and data_parallel >= 1 and expert_parallel >= 1 and pipeline_parallel >= 1 and max_num_seqs >= 1 and repeat >= 1"
        ),
        sa.CheckConstraint("median_itl_ms > 0 and p90_itl_ms > 0 and p95_itl_ms > 0 and p99_itl_ms > 0"),
        sa.CheckConstraint(
            "avg_requests_in_flight > 0 and avg_running_batch > 0 and avg_output_tokens > 0 and wh_per_million_output_tokens > 0 and joules_per_output_token > 0 and energy_per_request_joules > 0 and tokens_per_second > 0 and gpu_power_watts_total > 0"
        ),
    )
    op.create_table(
        "image_configuration",
        sa.Column("image_configuration_key", sa.Integer(), primary_key=True, autoincrement=False),
        *of_a_run(),
        sa.Column("image_height", sa.Integer(), nullable=False),
        sa.Column("image_width", sa.Integer(), nullable=False),
        sa.Column("joules_per_image", sa.Double(), nullable=False),
        sa.Column("images_per_second", sa.Double(), nullable=False),
        *of_a_batch(),
        sa.CheckConstraint(
            "num_gpus >= 1 and ulysses_degree >= 1 and ring_degree >= 1 and inference_steps >= 1 and batch_size >= 1 and repeat >= 1 and batch_latency_s > 0 and gpu_power_watts_total > 0"
        ),
        sa.CheckConstraint(
            "image_height >= 1 and image_width >= 1 and joules_per_image > 0 and images_per_second > 0"
        ),
    )
    op.create_table(
        "video_configuration",
        sa.Column("video_configuration_key", sa.Integer(), primary_key=True, autoincrement=False),
        *of_a_run(),
        sa.Column("video_height", sa.Integer(), nullable=False),
        sa.Column("video_width", sa.Integer(), nullable=False),
        sa.Column("num_frames", sa.Integer()),
        sa.Column("fps", sa.Double()),
        sa.Column("joules_per_video", sa.Double(), nullable=False),
        sa.Column("videos_per_second", sa.Double(), nullable=False),
        *of_a_batch(),
        sa.CheckConstraint(
            "num_gpus >= 1 and ulysses_degree >= 1 and ring_degree >= 1 and inference_steps >= 1 and batch_size >= 1 and repeat >= 1 and batch_latency_s > 0 and gpu_power_watts_total > 0"
        ),
        sa.CheckConstraint(
            "video_height >= 1 and video_width >= 1 and num_frames >= 1 and fps > 0 and joules_per_video > 0 and videos_per_second > 0"
        ),
    )
    op.create_table(
        "output_length_bin",
        sa.Column(
            "configuration_key", sa.Integer(), sa.ForeignKey("configuration.configuration_key"), nullable=False
        ),
        sa.Column("bin", sa.Integer(), nullable=False),
        sa.Column("from_tokens", sa.Double(), nullable=False),
        sa.Column("to_tokens", sa.Double(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.CheckConstraint("bin >= 1 and from_tokens < to_tokens and requests >= 0"),
    )
    op.create_table(
        "published_pick",
        sa.Column("model_key", sa.Integer(), sa.ForeignKey("model.model_key"), primary_key=True, autoincrement=False),
        sa.Column("gpu", sa.String(), sa.ForeignKey("gpu.name"), primary_key=True),
        sa.Column(
            "configuration_key", sa.Integer(), sa.ForeignKey("configuration.configuration_key"), nullable=False
        ),
    )
    op.create_table(
        "left_out",
        sa.Column("left_out_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("task", sa.String()),
        sa.Column("runs", sa.Integer()),
        sa.Column("fault", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("model_id", sa.String()),
        sa.Column("release_key", sa.Integer(), sa.ForeignKey("release.release_key")),
        sa.Column("model_key", sa.Integer(), sa.ForeignKey("model.model_key")),
        sa.Column("identity", sa.String()),
        sa.CheckConstraint("runs >= 0"),
    )
    op.create_table(
        "unknown_field",
        sa.Column(
            "release_key", sa.Integer(), sa.ForeignKey("release.release_key"), primary_key=True, autoincrement=False
        ),
        sa.Column("place", sa.String(), primary_key=True),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("objects", sa.Integer(), nullable=False),
        sa.Column("example", sa.String(), nullable=False),
        sa.CheckConstraint("objects >= 1"),
    )
    op.create_table(
        "marked_run",
        sa.Column("kind", sa.String(), primary_key=True),
        sa.Column("run_key", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("has_finding", sa.Boolean(), nullable=False),
        sa.Column("is_withdrawn", sa.Boolean(), nullable=False),
        sa.CheckConstraint("has_finding or is_withdrawn"),
    )
