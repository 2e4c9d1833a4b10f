"""Make the first tables: sources, releases, documents, models and the measured runs of text models.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "build",
        sa.Column(
            "energydb_version", sa.String(), nullable=False, comment="Version of energydb that loaded this file."
        ),
        sa.PrimaryKeyConstraint("energydb_version"),
        comment="What made this file: one row.",
    )
    op.create_table(
        "gpu",
        sa.Column("name", sa.String(), nullable=False, comment="GPU model, as published."),
        sa.Column("memory_gb", sa.Double(), nullable=True, comment="Memory of one GPU, GB (vendor)."),
        sa.Column("rated_watts", sa.Double(), nullable=True, comment="Rated power of one GPU, W (vendor)."),
        sa.Column("facts_source", sa.String(), nullable=True, comment="Where the vendor's figures stand."),
        sa.CheckConstraint("memory_gb > 0 and rated_watts > 0"),
        sa.PrimaryKeyConstraint("name"),
        comment="A GPU model, with what its vendor states; NULL where energydb doesn't know.",
    )
    op.create_table(
        "source",
        sa.Column(
            "source_key", sa.Integer(), autoincrement=False, nullable=False, comment="Key of a source, given at load."
        ),
        sa.Column("name", sa.String(), nullable=False, comment="Name of the source."),
        sa.Column("publisher", sa.String(), nullable=False, comment="Who publishes the source."),
        sa.Column("url", sa.String(), nullable=False, comment="Address of the source."),
        sa.PrimaryKeyConstraint("source_key"),
        sa.UniqueConstraint("name", "publisher", "url"),
        comment="Who publishes measurements. A source that redescribes itself keeps both rows.",
    )
    op.create_table(
        "task",
        sa.Column("id", sa.String(), nullable=False, comment="Task (workload) that was run, by the publisher's id."),
        sa.Column("kind", sa.String(), nullable=False, comment="What the task makes: text, image or video."),
        sa.CheckConstraint("kind in ('text', 'image', 'video')"),
        sa.PrimaryKeyConstraint("id"),
        comment="What the models were asked to do.",
    )
    op.create_table(
        "release",
        sa.Column(
            "release_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a release, given at load.",
        ),
        sa.Column("source_key", sa.Integer(), nullable=False, comment="Key of a source, given at load."),
        sa.Column(
            "task", sa.String(), nullable=False, comment="Task (workload) that was run, by the publisher's id."
        ),
        sa.Column(
            "format",
            sa.String(),
            nullable=False,
            comment="Format the release was read in: model_document or leaderboard.",
        ),
        sa.Column("data_version", sa.Date(), nullable=False, comment="Version of the data: its date."),
        sa.Column("compiled", sa.Date(), nullable=False, comment="Date on which the source compiled the data."),
        sa.Column("document_version", sa.String(), nullable=True, comment="Version of the document format."),
        sa.Column("updated", sa.Date(), nullable=True, comment="Date on which the documents were updated."),
        sa.Column("unit", sa.String(), nullable=True, comment="Unit of the published index."),
        sa.Column(
            "itl_deadline_ms",
            sa.Integer(),
            nullable=True,
            comment="Ceiling on the median inter-token latency for a published pick, ms.",
        ),
        sa.Column("data_url", sa.String(), nullable=True, comment="Address of the data as the source serves it."),
        sa.Column("version", sa.String(), nullable=True, comment="Version of the source, in its own words."),
        sa.Column("released", sa.Date(), nullable=True, comment="Date on which the source's version came out."),
        sa.Column("compiled_evidence", sa.String(), nullable=True, comment="Where the compilation date stands."),
        sa.Column("retrieved", sa.Date(), nullable=True, comment="Date on which the data was retrieved."),
        sa.Column("workload", sa.String(), nullable=False, comment="Title of the workload."),
        sa.Column("method", sa.String(), nullable=True, comment="How the source measured."),
        sa.Column("selection", sa.String(), nullable=True, comment="How the source chose its published picks."),
        sa.Column("licence", sa.String(), nullable=False, comment="Licence of the data."),
        sa.Column("cite", sa.String(), nullable=False, comment="Citation for the data."),
        sa.Column("cite_url", sa.String(), nullable=False, comment="Address of the cited work."),
        sa.Column("used_for", sa.String(), nullable=True, comment="What the publisher used the data for."),
        sa.Column(
            "configurations_note",
            sa.String(),
            nullable=True,
            comment="How many runs the source published, in its own words.",
        ),
        sa.Column(
            "caveat", sa.String(), nullable=False, comment="What the figures don't say, in the document's words."
        ),
        sa.Column(
            "boundary",
            sa.String(),
            nullable=False,
            comment="What the energy counts: gpu_only leaves out host, network, cooling and idle time.",
        ),
        sa.CheckConstraint("itl_deadline_ms >= 1"),
        sa.ForeignKeyConstraint(
            ["source_key"],
            ["source.source_key"],
        ),
        sa.ForeignKeyConstraint(
            ["task"],
            ["task.id"],
        ),
        sa.PrimaryKeyConstraint("release_key"),
        comment="One dated publication of a source's data, for one task, in one format.",
    )
    op.create_table(
        "document",
        sa.Column(
            "document_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a document, given at load.",
        ),
        sa.Column("release_key", sa.Integer(), nullable=False, comment="Key of a release, given at load."),
        sa.Column("file_name", sa.String(), nullable=False, comment="Base name of the file."),
        sa.Column("sha256", sa.String(), nullable=False, comment="SHA-256 of the file's bytes, in hexadecimal."),
        sa.ForeignKeyConstraint(
            ["release_key"],
            ["release.release_key"],
        ),
        sa.PrimaryKeyConstraint("document_key"),
        comment="A file that was loaded.",
    )
    op.create_table(
        "licence_evidence",
        sa.Column(
            "release_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a release, given at load.",
        ),
        sa.Column(
            "position",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Place of the item in its list, from 1.",
        ),
        sa.Column("evidence", sa.String(), nullable=False, comment="The evidence, as published."),
        sa.CheckConstraint("position >= 1"),
        sa.ForeignKeyConstraint(
            ["release_key"],
            ["release.release_key"],
        ),
        sa.PrimaryKeyConstraint("release_key", "position"),
        comment="Why a release's licence is believed to hold, item by item.",
    )
    op.create_table(
        "model",
        sa.Column(
            "model_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a model as one release describes it, given at load.",
        ),
        sa.Column("release_key", sa.Integer(), nullable=False, comment="Key of a release, given at load."),
        sa.Column("document_key", sa.Integer(), nullable=False, comment="Key of a document, given at load."),
        sa.Column("slug", sa.String(), nullable=False, comment="Short name of the model, as published."),
        sa.Column("name", sa.String(), nullable=False, comment="Name of the model."),
        sa.Column("model_id", sa.String(), nullable=False, comment="Hugging Face id of the model."),
        sa.Column("params_b", sa.Double(), nullable=False, comment="Total parameters, billions."),
        sa.Column(
            "active_params_b",
            sa.Double(),
            nullable=False,
            comment="Parameters active for one token, billions; equal to params_b for dense models.",
        ),
        sa.Column(
            "architecture",
            sa.String(),
            nullable=True,
            comment="Architecture of the model, as published; NULL for image and video models.",
        ),
        sa.CheckConstraint("params_b > 0 and active_params_b > 0"),
        sa.ForeignKeyConstraint(
            ["document_key"],
            ["document.document_key"],
        ),
        sa.ForeignKeyConstraint(
            ["release_key"],
            ["release.release_key"],
        ),
        sa.PrimaryKeyConstraint("model_key"),
        sa.UniqueConstraint("release_key", "slug"),
        comment="A model as one release describes it: a later release may correct its parameters.",
    )
    op.create_table(
        "configuration",
        sa.Column(
            "configuration_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a measured run, given at load: ascending in document order.",
        ),
        sa.Column(
            "model_key",
            sa.Integer(),
            nullable=False,
            comment="Key of a model as one release describes it, given at load.",
        ),
        sa.Column("gpu", sa.String(), nullable=False, comment="GPU model, as published."),
        sa.Column("num_gpus", sa.Integer(), nullable=False, comment="GPUs that served the model together."),
        sa.Column("tensor_parallel", sa.Integer(), nullable=False, comment="Tensor-parallel degree."),
        sa.Column("data_parallel", sa.Integer(), nullable=False, comment="Data-parallel degree."),
        sa.Column("expert_parallel", sa.Integer(), nullable=False, comment="Expert-parallel degree."),
        sa.Column("precision", sa.String(), nullable=False, comment="Weight format: BF16, FP8 or MXFP4."),
        sa.Column(
            "max_num_seqs",
            sa.Integer(),
            nullable=True,
            comment="Concurrency limit: vLLM's cap, sequences; NULL where none is published.",
        ),
        sa.Column(
            "avg_requests_in_flight",
            sa.Double(),
            nullable=False,
            comment="Observed concurrency: average requests being served, sequences.",
        ),
        sa.Column(
            "wh_per_million_output_tokens",
            sa.Double(),
            nullable=False,
            comment="Steady-state GPU energy per million output tokens, Wh; prompt processing included.",
        ),
        sa.Column(
            "joules_per_output_token",
            sa.Double(),
            nullable=False,
            comment="Steady-state GPU energy per output token, J; prompt processing included.",
        ),
        sa.Column("median_itl_ms", sa.Double(), nullable=False, comment="Median inter-token latency, ms."),
        sa.Column("p90_itl_ms", sa.Double(), nullable=False, comment="90th percentile of inter-token latency, ms."),
        sa.Column(
            "p95_itl_ms",
            sa.Double(),
            nullable=True,
            comment="95th percentile of inter-token latency, ms; NULL in early documents.",
        ),
        sa.Column("p99_itl_ms", sa.Double(), nullable=False, comment="99th percentile of inter-token latency, ms."),
        sa.Column(
            "tokens_per_second",
            sa.Double(),
            nullable=False,
            comment="Output throughput of the whole server, tokens/s.",
        ),
        sa.Column(
            "gpu_power_watts_total",
            sa.Double(),
            nullable=False,
            comment="GPU power, summed over num_gpus, W: equals J per token times tokens/s at the source.",
        ),
        sa.Column(
            "avg_output_tokens",
            sa.Double(),
            nullable=False,
            comment="Average output length of a request over the whole run, tokens.",
        ),
        sa.Column(
            "under_itl_deadline",
            sa.Boolean(),
            nullable=False,
            comment="Whether the median inter-token latency is within the deadline, as published.",
        ),
        sa.Column(
            "avg_running_batch",
            sa.Double(),
            nullable=True,
            comment="Observed concurrency: average running batch, sequences; NULL in early documents.",
        ),
        sa.Column(
            "row_id",
            sa.String(),
            nullable=False,
            comment="The publisher's name of a run, slug/gpu/num_gpus/max_num_seqs: repeats share it.",
        ),
        sa.Column(
            "repeat",
            sa.Integer(),
            nullable=False,
            comment="Ordinal among the runs of a document with the same gpu, num_gpus and max_num_seqs.",
        ),
        sa.Column(
            "parallel_notes",
            sa.String(),
            nullable=True,
            comment="How attention and experts are split, in the publisher's words; NULL where nothing is said.",
        ),
        sa.CheckConstraint(
            "avg_requests_in_flight > 0 and avg_running_batch > 0 and avg_output_tokens > 0 and wh_per_million_output_tokens > 0 and joules_per_output_token > 0 and tokens_per_second > 0 and gpu_power_watts_total > 0"
        ),
        sa.CheckConstraint("median_itl_ms > 0 and p90_itl_ms > 0 and p95_itl_ms > 0 and p99_itl_ms > 0"),
        sa.CheckConstraint(
            "num_gpus >= 1 and tensor_parallel >= 1 and data_parallel >= 1 and expert_parallel >= 1 and max_num_seqs >= 1 and repeat >= 1"
        ),
        sa.ForeignKeyConstraint(
            ["gpu"],
            ["gpu.name"],
        ),
        sa.ForeignKeyConstraint(
            ["model_key"],
            ["model.model_key"],
        ),
        sa.PrimaryKeyConstraint("configuration_key"),
        comment="One measured run of a text model: served one way, at one concurrency.",
    )
    op.create_table(
        "published_pick",
        sa.Column(
            "model_key",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Key of a model as one release describes it, given at load.",
        ),
        sa.Column("gpu", sa.String(), nullable=False, comment="GPU model, as published."),
        sa.Column(
            "configuration_key",
            sa.Integer(),
            nullable=False,
            comment="Key of a measured run, given at load: ascending in document order.",
        ),
        sa.ForeignKeyConstraint(
            ["configuration_key"],
            ["configuration.configuration_key"],
        ),
        sa.ForeignKeyConstraint(
            ["gpu"],
            ["gpu.name"],
        ),
        sa.ForeignKeyConstraint(
            ["model_key"],
            ["model.model_key"],
        ),
        sa.PrimaryKeyConstraint("model_key", "gpu"),
        comment="What a document itself calls best for a GPU: evidence for the computed pick.",
    )

    op.execute("comment on table alembic_version is 'Revision of the schema of this file.'")
    op.execute("comment on column alembic_version.version_num is 'Alembic revision of the schema of this file.'")


def downgrade() -> None:
    op.drop_table("published_pick")
    op.drop_table("configuration")
    op.drop_table("model")
    op.drop_table("licence_evidence")
    op.drop_table("document")
    op.drop_table("release")
    op.drop_table("task")
    op.drop_table("source")
    op.drop_table("gpu")
    op.drop_table("build")
