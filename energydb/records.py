"""What a reader yields: typed records of one document, whatever format it came in.

The field names are the JSON keys of a model document and the column names of the tables.
"""

from collections.abc import Mapping
from datetime import date
from typing import Literal

import msgspec

TaskKind = Literal["text", "image", "video"]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What all documents of one release share; None where a format doesn't say."""

    format: str
    name: str
    publisher: str
    url: str
    task: str
    kind: TaskKind
    data_version: date
    compiled: date
    workload: str
    licence: str
    licence_evidence: tuple[str, ...]
    cite: str
    cite_url: str
    caveat: str
    boundary: str
    document_version: str | None = None
    updated: date | None = None
    unit: str | None = None
    itl_deadline_ms: int | None = None
    data_url: str | None = None
    version: str | None = None
    released: date | None = None
    compiled_evidence: str | None = None
    retrieved: date | None = None
    method: str | None = None
    selection: str | None = None
    used_for: str | None = None
    configurations_note: str | None = None

    @property
    def release(self) -> tuple[str, str, str, date]:
        """What makes two documents parts of one release: source, task, format and data version."""
        return (self.name, self.task, self.format, self.data_version)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One measured run of a text model (units in the names); None only where a field came late."""

    gpu: str
    num_gpus: int
    tensor_parallel: int
    data_parallel: int
    expert_parallel: int
    precision: str
    max_num_seqs: int
    avg_requests_in_flight: float
    wh_per_million_output_tokens: float
    joules_per_output_token: float
    median_itl_ms: float
    p90_itl_ms: float
    p99_itl_ms: float
    tokens_per_second: float
    gpu_power_watts_total: float
    avg_output_tokens: float
    under_itl_deadline: bool
    avg_running_batch: float | None
    p95_itl_ms: float | None
    row_id: str
    repeat: int


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model as one document describes it, its runs in document order, and what it calls best.

    `picks` maps a GPU to the place of the published pick in `runs`.
    """

    slug: str
    name: str
    model_id: str
    params_b: float
    active_params_b: float
    architecture: str
    runs: tuple[Run, ...]
    picks: dict[str, int]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was read: where it lay, the SHA-256 of its bytes, its head and its models.

    `head_places` says where in the file each field of the head stands.
    """

    path: str
    file_name: str
    sha256: str
    head: Head
    models: tuple[Model, ...]
    head_places: Mapping[str, str]
