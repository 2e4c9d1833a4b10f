"""A model document's form: its fields in the order in which it is published, with their types and ranges."""

from datetime import date
from typing import Annotated, Any, cast

from msgspec import Meta, Struct

from energydb.sources.records import Head
from energydb.sources.strict_json import Count, Positive, Text

# A field that came late to the format: None where it is absent, while a null is refused like any other
# wrong type, since msgspec doesn't hold a default against the declared type.
_ABSENT = cast(Any, None)


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the figures of a document are from, and under which terms."""

    name: Text
    publisher: Text
    url: Text
    data_url: Text
    version: Text
    released: date
    compiled: date
    compiled_evidence: Text
    retrieved: date
    licence: Text
    licence_evidence: tuple[Text, ...]
    workload: Text
    method: Text
    selection: Text
    cite: Text
    cite_url: Text
    used_for: Text
    configurations: Text


class Configuration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One measured run, as published."""

    gpu: Text
    num_gpus: Count
    tensor_parallel: Count
    data_parallel: Count
    expert_parallel: Count
    precision: Text
    max_num_seqs: Count | None
    avg_requests_in_flight: Positive
    wh_per_million_output_tokens: Positive
    joules_per_output_token: Positive
    median_itl_ms: Positive
    p90_itl_ms: Positive | None
    p99_itl_ms: Positive | None
    tokens_per_second: Positive
    gpu_power_watts_total: Count
    avg_output_tokens: Count
    under_itl_deadline: bool
    avg_running_batch: Positive | None = None
    p95_itl_ms: Positive | None = None
    row_id: Text = _ABSENT
    repeat: Count = _ABSENT
    pipeline_parallel: Count = _ABSENT
    other_parallel: Text = _ABSENT


class ModelDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """One model document."""

    version: Text
    updated: date
    data_version: date
    unit: Text
    itl_deadline_ms: Count
    source: Source
    caveat: Text
    boundary: Text
    slug: Text
    name: Text
    model_id: Text
    params_b: Positive
    active_params_b: Positive
    architecture: Text
    gpus: Annotated[tuple[Text, ...], Meta(min_length=1)]
    configurations: Annotated[tuple[Configuration, ...], Meta(min_length=1)]
    best: dict[Text, Configuration]


# The fields that the source of a document and the head of a release call by one name.
SAME_NAME_IN_SOURCE = tuple(
    field for field in Source.__struct_fields__ if field in Head.__struct_fields__ and field != "licence_evidence"
)
