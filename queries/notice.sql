-- View: notice
-- Grain: one row per thing that a release holds and energydb doesn't know
-- Key: kind, name, place, release_key
-- Reads: configuration, image_configuration, video_configuration, model_detail, gpu, unknown_field, release, source
-- Topic: Trust
-- Example: notice
--
-- What doesn't energydb know yet?
-- New fields, GPUs, precisions, architectures, ways to split a model, tasks, and values that aren't published: no fault,
-- and no finding of data_quality. All of it is loaded, and compared by its own name, but for fields, and for tasks of
-- another kind than text, image and video.

create or replace view notice as
-- What is known: said here, and for GPUs by what vendors state of them.
with known(kind, name) as (
    values
        ('precision', 'BF16'), ('precision', 'FP8'), ('precision', 'MXFP4'),
        ('architecture', 'Dense Transformer'), ('architecture', 'MoE'), ('architecture', 'Mamba-Transformer Hybrid'),
        ('architecture', 'diffusion'),
        ('task', 'gpqa'), ('task', 'lm-arena-chat'), ('task', 'sourcegraph-fim'), ('task', 'image-chat'),
        ('task', 'video-chat'), ('task', 'text-to-image'), ('task', 'text-to-video')
    union all
    select 'gpu', name from gpu where facts_source is not null
),
run as (
    select model_key, gpu, precision, other_parallel from configuration
    union all
    select model_key, gpu, precision, other_parallel from image_configuration
    union all
    select model_key, gpu, precision, other_parallel from video_configuration
),
-- What runs hold, counted before it is told by which name: of millions of runs few differ in it.
held as (
    select model_key, gpu, precision, other_parallel, count(*) as runs
    from run
    group by model_key, gpu, precision, other_parallel
),
thing as (
    select model_key, 'gpu' as kind, gpu as name, runs from held
    union all
    select model_key, 'precision', precision, runs from held
    union all
    select model_key, 'parallelism', other_parallel, runs from held where other_parallel is not null
    union all
    select held.model_key, 'architecture', model_detail.architecture, held.runs
    from held
    join model_detail on model_detail.model_key = held.model_key
    where model_detail.architecture is not null
    union all
    select held.model_key, 'task', model_detail.task, held.runs
    from held
    join model_detail on model_detail.model_key = held.model_key
    union all
    select model_key, 'no value', 'max_num_seqs', count(*) from configuration where max_num_seqs is null group by model_key
    union all
    select model_key, 'no value', 'p90_itl_ms', count(*) from configuration where p90_itl_ms is null group by model_key
    union all
    select model_key, 'no value', 'p95_itl_ms', count(*) from configuration where p95_itl_ms is null group by model_key
    union all
    select model_key, 'no value', 'p99_itl_ms', count(*) from configuration where p99_itl_ms is null group by model_key
),
new_thing as (
    select
        model_detail.release_key,
        thing.kind,
        thing.name,
        sum(thing.runs) as runs,
        min(model_detail.model) as model,
    from thing
    join model_detail on model_detail.model_key = thing.model_key
    where not exists (from known where known.kind = thing.kind and known.name = thing.name)
    group by model_detail.release_key, thing.kind, thing.name
),
noticed as (
    select release_key, kind, name, runs, model, '' as place, null as type, null as example, from new_thing
    union all
    select
        release_key, case when type = 'a kind of task' then type else 'field' end, field, objects, null, place, type,
        example,
    from unknown_field
)
select
    noticed.kind,
    noticed.name,
    cast(noticed.runs as integer) as runs,
    release.task,
    noticed.model,
    noticed.type,
    noticed.example,
    source.name as source,
    release.data_version,
    release.format,
    noticed.place,
    noticed.release_key,
from noticed
join release on release.release_key = noticed.release_key
join source on source.source_key = release.source_key
order by noticed.kind, noticed.name, release.task, source.name, release.data_version, noticed.release_key, noticed.place;

comment on view notice is 'What a release holds and energydb doesn''t know yet: no fault, and no finding.';
comment on column notice.kind is 'What it is: field, gpu, precision, architecture, parallelism, task, a kind of task of which no run is loaded, or no value where one isn''t published.';
comment on column notice.name is 'Its name, as it is loaded; of a field and of what has no value the name of that.';
comment on column notice.runs is 'Runs that it is in; of a field the runs, models or files that have it.';
comment on column notice.model is 'A model that it is of, for example: the first by name; NULL for fields.';
comment on column notice.type is 'What a field''s values are; NULL for all that is loaded.';
comment on column notice.example is 'The first of a field''s values, as JSON, or the energy by which a kind of task is measured; NULL for all that is loaded.';
comment on column notice.source is 'Name of the source.';
comment on column notice.place is 'Where a field stands, as JSON path: * for any place; empty for all that is loaded.';
