"""The tables of the database, declared once: what each holds, in which unit, and what must be true of it."""

import re
from datetime import date
from typing import Any, ClassVar

from sqlalchemy import (
    CheckConstraint,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedColumn, declared_attr, mapped_column
from sqlalchemy.schema import SchemaItem

from energydb.sources.records import AnyRun, ImageRun, Run, VideoRun


class Base(DeclarativeBase):
    """The declared schema: of each table its name is the class's, and its comment the docstring's first line.

    A column that references another, and has no comment, has the other's. A bare float would become DuckDB's 4-byte
    FLOAT, so it maps to DOUBLE.
    """

    metadata = MetaData()
    type_annotation_map: ClassVar[dict[Any, Any]] = {float: Double, str: String, int: Integer}
    rules: ClassVar[tuple[SchemaItem, ...]] = ()

    @declared_attr.directive
    def __tablename__(cls) -> str:
        """Return the class's name as SQL writes it."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @declared_attr.directive
    def __table_args__(cls) -> tuple[Any, ...]:
        """Return what must be true of a row, and the comment."""
        return (*cls.rules, {"comment": str(cls.__doc__).partition("\n")[0]})


def _key(comment: str) -> MappedColumn[int]:
    """Declare an integer key that the loader gives."""
    return mapped_column(Integer, primary_key=True, autoincrement=False, comment=comment, sort_order=-2)


class Build(Base):
    """What made this file: one row."""

    energydb_version: Mapped[str] = mapped_column(
        primary_key=True, comment="Version of energydb that loaded this file."
    )
    energydb_released: Mapped[date] = mapped_column(
        comment="Date of that version: what a release says is of a year or more later is a slip."
    )
    digest: Mapped[str] = mapped_column(
        comment="SHA-256 of what was loaded and by which energydb: files with one digest hold the same rows."
    )


class AlembicVersion(Base):
    """Revision of the schema of this file."""

    rules = (PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),)

    version_num: Mapped[str] = mapped_column(String(32), comment="Alembic revision of the schema of this file.")


class Source(Base):
    """Who publishes measurements. A source that redescribes itself keeps both rows."""

    rules = (UniqueConstraint("name", "publisher", "url"),)

    source_key: Mapped[int] = _key("Key of a source, given at load.")
    name: Mapped[str] = mapped_column(comment="Name of the source.")
    publisher: Mapped[str] = mapped_column(comment="Who publishes the source.")
    url: Mapped[str] = mapped_column(comment="Address of the source.")


class Task(Base):
    """What the models were asked to do."""

    rules = (CheckConstraint("kind in ('text', 'image', 'video')"),)

    id: Mapped[str] = mapped_column(primary_key=True, comment="Task (workload) that was run, by the publisher's id.")
    kind: Mapped[str] = mapped_column(comment="What the task makes: text, image or video.")


class Gpu(Base):
    """A GPU model, with what its vendor states; NULL where energydb doesn't know."""

    rules = (CheckConstraint("memory_gb > 0 and rated_watts > 0"),)

    name: Mapped[str] = mapped_column(primary_key=True, comment="GPU model, as published.")
    memory_gb: Mapped[float | None] = mapped_column(comment="Memory of one GPU, GB (vendor).")
    rated_watts: Mapped[float | None] = mapped_column(comment="Rated power of one GPU, W (vendor).")
    facts_source: Mapped[str | None] = mapped_column(comment="Where the vendor's figures stand.")


class Boundary(Base):
    """What a figure of energy counts, and what it leaves out; NULL where that isn't known."""

    name: Mapped[str] = mapped_column(primary_key=True, comment="Name of the boundary.")
    gpu: Mapped[bool | None] = mapped_column(comment="Whether the energy of the GPUs is counted.")
    host: Mapped[bool | None] = mapped_column(comment="Whether the host's is counted: CPU, memory, fans.")
    psu: Mapped[bool | None] = mapped_column(comment="Whether the losses of the power supply are counted.")
    idle_reserve: Mapped[bool | None] = mapped_column(comment="Whether machines kept ready, and idle, are counted.")
    cooling: Mapped[bool | None] = mapped_column(comment="Whether the site's cooling and other overhead are counted.")
    embodied: Mapped[bool | None] = mapped_column(comment="Whether making the hardware is counted.")
    note: Mapped[str | None] = mapped_column(comment="What else there is to know of it.")


class Release(Base):
    """One dated publication of a source's data, for one task, in one format."""

    rules = (
        CheckConstraint("itl_deadline_ms >= 1"),
        CheckConstraint("origin in ('published', 'own')"),
        CheckConstraint("measurement_window in ('steady_state', 'whole_run', 'stated')"),
        CheckConstraint("basis in ('measured', 'modelled', 'stated', 'mixed')"),
    )

    release_key: Mapped[int] = _key("Key of a release, given at load.")
    source_key: Mapped[int] = mapped_column(ForeignKey("source.source_key"))
    task: Mapped[str] = mapped_column(ForeignKey("task.id"))
    format: Mapped[str] = mapped_column(comment="Format the release was read in, as energydb names it.")
    data_version: Mapped[date] = mapped_column(comment="Version of the data: its date.")
    compiled: Mapped[date] = mapped_column(comment="Date on which the source compiled the data.")
    document_version: Mapped[str | None] = mapped_column(comment="Version of the document format.")
    updated: Mapped[date | None] = mapped_column(comment="Date on which the documents were updated.")
    unit: Mapped[str | None] = mapped_column(comment="Unit of the published index.")
    itl_deadline_ms: Mapped[int | None] = mapped_column(
        comment="Ceiling on the median inter-token latency for a published pick, ms."
    )
    data_url: Mapped[str | None] = mapped_column(comment="Address of the data as the source serves it.")
    version: Mapped[str | None] = mapped_column(comment="Version of the source, in its own words.")
    released: Mapped[date | None] = mapped_column(comment="Date on which the source's version came out.")
    compiled_evidence: Mapped[str | None] = mapped_column(comment="Where the compilation date stands.")
    retrieved: Mapped[date | None] = mapped_column(comment="Date on which the data was retrieved.")
    workload: Mapped[str] = mapped_column(comment="Title of the workload.")
    method: Mapped[str | None] = mapped_column(comment="How the source measured.")
    selection: Mapped[str | None] = mapped_column(comment="How the source chose its published picks.")
    licence: Mapped[str] = mapped_column(comment="Licence of the data.")
    cite: Mapped[str] = mapped_column(comment="Citation for the data.")
    cite_url: Mapped[str] = mapped_column(comment="Address of the cited work.")
    used_for: Mapped[str | None] = mapped_column(comment="What the publisher used the data for.")
    configurations_note: Mapped[str | None] = mapped_column(
        comment="How many runs the source published, in its own words."
    )
    caveat: Mapped[str] = mapped_column(comment="What the figures don't say, in the document's words.")
    boundary: Mapped[str] = mapped_column(
        ForeignKey("boundary.name"),
        comment="What the energy counts: gpu_only leaves out host, network, cooling and idle time.",
    )
    origin: Mapped[str] = mapped_column(comment="Whose figures they are: published, or one's own.")
    measurement_window: Mapped[str] = mapped_column(
        comment="When it was measured: steady_state (warm-up and drain cut off), whole_run, or only stated."
    )
    basis: Mapped[str] = mapped_column(comment="What the figures rest on: measured, modelled, stated or mixed.")
    is_complete: Mapped[bool] = mapped_column(
        comment="Whether all of what was published then for the task was loaded, not some documents of it."
    )
    has_all_tasks: Mapped[bool] = mapped_column(
        comment="Whether all tasks that were published with it were loaded: what isn't there then is withdrawn."
    )


class LicenceEvidence(Base):
    """Why a release's licence is believed to hold, item by item."""

    rules = (CheckConstraint("position >= 1"),)

    release_key: Mapped[int] = mapped_column(ForeignKey("release.release_key"), primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(
        primary_key=True, autoincrement=False, comment="Place of the item in its list, from 1."
    )
    evidence: Mapped[str] = mapped_column(comment="The evidence, as published.")


class File(Base):
    """A file that was loaded."""

    file_key: Mapped[int] = _key("Key of a file, given at load.")
    release_key: Mapped[int] = mapped_column(ForeignKey("release.release_key"))
    file_name: Mapped[str] = mapped_column(comment="Base name of the file.")
    sha256: Mapped[str] = mapped_column(comment="SHA-256 of the file's bytes, in hexadecimal.")


class Loaded(Base):
    """How many rows each file gave to each table: energydb check finds what is missing, or too much."""

    rules = (CheckConstraint("rows >= 0"),)
    __mapper_args__ = {"primary_key": ["table_name", "file_key"]}  # noqa: RUF012

    table_name: Mapped[str] = mapped_column(comment="Table that holds the rows.")
    file_key: Mapped[int | None] = mapped_column(
        ForeignKey("file.file_key"),
        comment="Key of the file that they came from; NULL where they are of no one file.",
    )
    rows: Mapped[int] = mapped_column(comment="Rows that were loaded.")


class Model(Base):
    """A model as one release describes it: a later release may correct its parameters."""

    rules = (CheckConstraint("params_b > 0 and active_params_b > 0"),)

    model_key: Mapped[int] = _key("Key of a model as one release describes it, given at load.")
    release_key: Mapped[int] = mapped_column(ForeignKey("release.release_key"))
    file_key: Mapped[int] = mapped_column(ForeignKey("file.file_key"))
    slug: Mapped[str] = mapped_column(comment="Short name of the model, as published.")
    name: Mapped[str] = mapped_column(comment="Name of the model.")
    model_id: Mapped[str] = mapped_column(comment="Hugging Face id of the model, as published.")
    identity: Mapped[str] = mapped_column(
        comment="What tells one model from another: its id without case, blanks around it and zero-width characters."
    )
    params_b: Mapped[float] = mapped_column(comment="Total parameters, billions.")
    active_params_b: Mapped[float] = mapped_column(
        comment="Parameters active for one token, billions; equal to params_b for dense models."
    )
    architecture: Mapped[str | None] = mapped_column(
        comment="Architecture of the model, as published; NULL where none is, as for image and video models."
    )


class OfARun:
    """What runs of every kind have in common; the first and the last columns of their tables."""

    model_key: Mapped[int] = mapped_column(ForeignKey("model.model_key"), sort_order=-1)
    gpu: Mapped[str] = mapped_column(ForeignKey("gpu.name"), sort_order=-1)
    num_gpus: Mapped[int] = mapped_column(comment="GPUs that served the model together.", sort_order=-1)
    precision: Mapped[str] = mapped_column(comment="Weight format: BF16, FP8 or MXFP4.", sort_order=-1)
    other_parallel: Mapped[str | None] = mapped_column(
        comment="Further degrees of parallelism above 1, by the publisher's names; NULL where there are none.",
        sort_order=1,
    )
    gpu_as_published: Mapped[str | None] = mapped_column(
        comment="GPU in the publisher's own words; NULL where gpu is those words.", sort_order=1
    )
    precision_as_published: Mapped[str | None] = mapped_column(
        comment="Weight format in the publisher's own words; NULL where precision is those words.", sort_order=1
    )


class Configuration(OfARun, Base):
    """One measured run of a text model: served one way, at one concurrency."""

    rules = (
        CheckConstraint(
            "num_gpus >= 1 and tensor_parallel >= 1 and data_parallel >= 1 and expert_parallel >= 1"
            " and pipeline_parallel >= 1 and max_num_seqs >= 1 and repeat >= 1"
        ),
        CheckConstraint(
            "avg_requests_in_flight > 0 and avg_running_batch > 0 and avg_output_tokens > 0"
            " and wh_per_million_output_tokens > 0 and joules_per_output_token > 0"
            " and energy_per_request_joules > 0 and tokens_per_second > 0 and gpu_power_watts_total > 0"
        ),
        CheckConstraint("median_itl_ms > 0 and p90_itl_ms > 0 and p95_itl_ms > 0 and p99_itl_ms > 0"),
    )

    configuration_key: Mapped[int] = _key("Key of a measured run, given at load: ascending in document order.")
    tensor_parallel: Mapped[int] = mapped_column(comment="Tensor-parallel degree.")
    data_parallel: Mapped[int] = mapped_column(comment="Data-parallel degree.")
    expert_parallel: Mapped[int] = mapped_column(comment="Expert-parallel degree.")
    pipeline_parallel: Mapped[int] = mapped_column(
        comment="Pipeline-parallel degree; 1 where the source speaks of none.", server_default=text("1")
    )
    max_num_seqs: Mapped[int | None] = mapped_column(
        comment="Concurrency limit: vLLM's cap, sequences; NULL where none is published."
    )
    avg_requests_in_flight: Mapped[float] = mapped_column(
        comment="Observed concurrency: average requests being served, sequences."
    )
    wh_per_million_output_tokens: Mapped[float] = mapped_column(
        comment="Steady-state GPU energy per million output tokens, Wh; prompt processing included."
    )
    joules_per_output_token: Mapped[float] = mapped_column(
        comment="Steady-state GPU energy per output token, J; prompt processing included."
    )
    energy_per_request_joules: Mapped[float | None] = mapped_column(
        comment="GPU energy per request, J, as published; NULL where none is."
    )
    median_itl_ms: Mapped[float] = mapped_column(comment="Median inter-token latency, ms.")
    p90_itl_ms: Mapped[float | None] = mapped_column(
        comment="90th percentile of inter-token latency, ms; NULL where none is published."
    )
    p95_itl_ms: Mapped[float | None] = mapped_column(
        comment="95th percentile of inter-token latency, ms; NULL in early documents."
    )
    p99_itl_ms: Mapped[float | None] = mapped_column(
        comment="99th percentile of inter-token latency, ms; NULL where none is published."
    )
    tokens_per_second: Mapped[float] = mapped_column(comment="Output throughput of the whole server, tokens/s.")
    gpu_power_watts_total: Mapped[float] = mapped_column(
        comment="GPU power, summed over num_gpus, W: equals J per token times tokens/s at the source."
    )
    avg_output_tokens: Mapped[float] = mapped_column(
        comment="Average output length of a request over the whole run, tokens."
    )
    under_itl_deadline: Mapped[bool] = mapped_column(
        comment="Whether the median inter-token latency is within the deadline, as published."
    )
    avg_running_batch: Mapped[float | None] = mapped_column(
        comment="Observed concurrency: average running batch, sequences; NULL in early documents."
    )
    row_id: Mapped[str] = mapped_column(
        comment="The publisher's name of a run, slug/gpu/num_gpus/max_num_seqs: repeats share it."
    )
    repeat: Mapped[int] = mapped_column(
        comment="Ordinal among the runs of a document with the same gpu, num_gpus and max_num_seqs."
    )
    parallel_notes: Mapped[str | None] = mapped_column(
        comment="How attention and experts are split, in the publisher's words; NULL where nothing is said."
    )


class PublishedPick(Base):
    """What a document itself calls best for a GPU: evidence for the computed pick."""

    model_key: Mapped[int] = mapped_column(ForeignKey("model.model_key"), primary_key=True, autoincrement=False)
    gpu: Mapped[str] = mapped_column(ForeignKey("gpu.name"), primary_key=True)
    configuration_key: Mapped[int] = mapped_column(ForeignKey("configuration.configuration_key"))


class OfABatch(OfARun):
    """What runs of image and of video models have in common: some are made together, as a batch."""

    ulysses_degree: Mapped[int] = mapped_column(comment="Sequence-parallel degree by attention heads (Ulysses).")
    ring_degree: Mapped[int] = mapped_column(comment="Sequence-parallel degree by ring attention.")
    inference_steps: Mapped[int] = mapped_column(comment="Denoising steps of one image or video.")
    batch_size: Mapped[int] = mapped_column(comment="Images or videos that are made together.")
    batch_latency_s: Mapped[float] = mapped_column(comment="Time from the start of a batch to its end, s.")
    gpu_power_watts_total: Mapped[float] = mapped_column(
        comment="GPU power, summed over num_gpus, W: equals J times rate at the source."
    )
    repeat: Mapped[int] = mapped_column(comment="Ordinal among the runs of a model that share every setting.")


BATCH_CHECK = (
    "num_gpus >= 1 and ulysses_degree >= 1 and ring_degree >= 1 and inference_steps >= 1 and batch_size >= 1"
    " and repeat >= 1 and batch_latency_s > 0 and gpu_power_watts_total > 0"
)


class ImageConfiguration(OfABatch, Base):
    """One measured run of a model that makes images."""

    rules = (
        CheckConstraint(BATCH_CHECK),
        CheckConstraint("image_height >= 1 and image_width >= 1 and joules_per_image > 0 and images_per_second > 0"),
    )

    image_configuration_key: Mapped[int] = _key("Key of a measured image run, given at load.")
    image_height: Mapped[int] = mapped_column(comment="Height of an image, pixels.")
    image_width: Mapped[int] = mapped_column(comment="Width of an image, pixels.")
    joules_per_image: Mapped[float] = mapped_column(comment="GPU energy per image, J.")
    images_per_second: Mapped[float] = mapped_column(comment="Throughput of the whole server, images/s.")


class VideoConfiguration(OfABatch, Base):
    """One measured run of a model that makes videos."""

    rules = (
        CheckConstraint(BATCH_CHECK),
        CheckConstraint(
            "video_height >= 1 and video_width >= 1 and num_frames >= 1 and fps > 0"
            " and joules_per_video > 0 and videos_per_second > 0"
        ),
    )

    video_configuration_key: Mapped[int] = _key("Key of a measured video run, given at load.")
    video_height: Mapped[int] = mapped_column(comment="Height of a video, pixels.")
    video_width: Mapped[int] = mapped_column(comment="Width of a video, pixels.")
    num_frames: Mapped[int | None] = mapped_column(comment="Frames of one video; NULL where none is published.")
    fps: Mapped[float | None] = mapped_column(
        comment="Frames per second of the video when played; NULL where none is published."
    )
    joules_per_video: Mapped[float] = mapped_column(comment="GPU energy per video, J.")
    videos_per_second: Mapped[float] = mapped_column(comment="Throughput of the whole server, videos/s.")


class OutputLengthBin(Base):
    """How many requests of a run gave an output of a length within one bin.

    That a bin is unique in its run is checked at load, and not kept as an index, which would outgrow the rows.
    """

    rules = (CheckConstraint("bin >= 1 and from_tokens < to_tokens and requests >= 0"),)
    __mapper_args__ = {"primary_key": ["configuration_key", "bin"]}  # noqa: RUF012

    configuration_key: Mapped[int] = mapped_column(ForeignKey("configuration.configuration_key"))
    bin: Mapped[int] = mapped_column(comment="Place of the bin in its run, from 1.")
    from_tokens: Mapped[float] = mapped_column(comment="Lower edge of the bin, tokens.")
    to_tokens: Mapped[float] = mapped_column(comment="Upper edge of the bin, tokens.")
    requests: Mapped[int] = mapped_column(comment="Requests whose output length lies within the bin.")


class LeftOut(Base):
    """What could not be loaded, and was left out as load --keep-going was asked to: one fault a row."""

    rules = (CheckConstraint("runs >= 0"),)

    left_out_key: Mapped[int] = _key("Key of a fault, given at load.")
    task: Mapped[str | None] = mapped_column(comment="Task it is of; NULL where that can't be told.")
    runs: Mapped[int | None] = mapped_column(
        comment="Measured runs lost by it, unless another fault lost them; NULL where that isn't known."
    )
    fault: Mapped[str] = mapped_column(comment="What was expected, and what came.")
    place: Mapped[str] = mapped_column(
        comment="Place of the fault in the file, as JSON path; empty for the file itself."
    )
    file_name: Mapped[str] = mapped_column(comment="Base name of the file at fault.")
    model_id: Mapped[str | None] = mapped_column(
        comment="Hugging Face id of the model it is of, as published; NULL where it is of no one model."
    )
    release_key: Mapped[int | None] = mapped_column(
        ForeignKey("release.release_key"), comment="Key of the release it is of; NULL where all of that was lost."
    )
    model_key: Mapped[int | None] = mapped_column(
        ForeignKey("model.model_key"), comment="Key of the model that lost runs; NULL where all of it was lost."
    )
    identity: Mapped[str | None] = mapped_column(
        comment="What tells that model from another, as in model; NULL where it is of no one model."
    )


class UnknownField(Base):
    """A field that a publisher gives and this energydb doesn't know: it was not kept."""

    rules = (CheckConstraint("objects >= 1"),)

    release_key: Mapped[int] = mapped_column(ForeignKey("release.release_key"), primary_key=True, autoincrement=False)
    place: Mapped[str] = mapped_column(primary_key=True, comment="Where it stands, as JSON path: * for any place.")
    field: Mapped[str] = mapped_column(comment="Name of the field.")
    type: Mapped[str] = mapped_column(comment="What its values are: a number, text, true or false, and so on.")
    objects: Mapped[int] = mapped_column(comment="Runs, models or files that have it.")
    example: Mapped[str] = mapped_column(comment="The first of its values, as JSON.")


class MarkedRun(Base):
    """What is to be known of a run before it is picked; worked out at load from data_quality and withdrawn_run."""

    rules = (CheckConstraint("has_finding or is_withdrawn"),)

    kind: Mapped[str] = mapped_column(primary_key=True, comment="What the run makes: text, image or video.")
    run_key: Mapped[int] = mapped_column(
        primary_key=True, autoincrement=False, comment="Key of the run in the table of its kind."
    )
    has_finding: Mapped[bool] = mapped_column(comment="Whether a finding of data_quality touches its energy.")
    is_withdrawn: Mapped[bool] = mapped_column(
        comment="Whether a newer complete release of its source no longer has it."
    )


class Scenario(Base):
    """Where, and at what price, the energy is used; NULL where a figure isn't known."""

    rules = (CheckConstraint("pue >= 1 and price_per_kwh >= 0 and gco2e_per_kwh >= 0 and litres_per_kwh >= 0"),)

    name: Mapped[str] = mapped_column(primary_key=True, comment="Name of the scenario.")
    pue: Mapped[float] = mapped_column(
        comment="Power usage effectiveness of the site: its energy over that of its IT equipment."
    )
    pue_source: Mapped[str] = mapped_column(comment="Where the PUE is from.")
    price_per_kwh: Mapped[float | None] = mapped_column(comment="Price of electricity per kWh, in currency.")
    currency: Mapped[str | None] = mapped_column(comment="Currency of the price.")
    price_source: Mapped[str | None] = mapped_column(comment="Where the price is from.")
    gco2e_per_kwh: Mapped[float | None] = mapped_column(
        comment="Greenhouse gases per kWh of electricity, g CO2-equivalent; gco2e_source says what is counted."
    )
    gco2e_source: Mapped[str | None] = mapped_column(comment="Where the emission figure is from.")
    litres_per_kwh: Mapped[float | None] = mapped_column(comment="Water per kWh of IT energy, litres.")
    litres_source: Mapped[str | None] = mapped_column(comment="Where the water figure is from.")


# Each kind of run has a table.
RUN_TABLES: dict[type[AnyRun], type[Base]] = {
    Run: Configuration,
    ImageRun: ImageConfiguration,
    VideoRun: VideoConfiguration,
}
