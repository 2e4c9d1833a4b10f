-- View: contents
-- Grain: one row per release, and per task of which nothing could be loaded
-- Key: task, release_key
-- Reads: release_detail, left_out, file, model, measured_run, build, alembic_version
-- Topic: Trust
-- Example: contents
--
-- What does this file hold, and how old is it?
-- Each release with its counts, dates and licence, what of it could not be loaded and was left out, and what made the
-- file. A task that was left out whole has no release, and so neither source nor dates.

create or replace view contents as
with file_count as (
    select release_key, cast(count(*) as integer) as files from file group by release_key
),
model_count as (
    select release_key, cast(count(*) as integer) as models from model group by release_key
),
run_count as (
    select
        model.release_key,
        cast(count(distinct measured_run.gpu) as integer) as gpus,
        cast(count(*) as integer) as runs,
    from measured_run
    join model on model.model_key = measured_run.model_key
    group by model.release_key
),
loss as (
    select
        release_key,
        case when release_key is null then task end as task,
        cast(count(*) as integer) as faults,
        case when count(*) = count(runs) then cast(sum(runs) as integer) end as runs,
    from left_out
    group by all
),
content as (
    select
        release_detail.task,
        release_detail.source,
        release_detail.compiled,
        release_detail.data_version,
        coalesce(file_count.files, 0) as documents,
        coalesce(model_count.models, 0) as models,
        coalesce(run_count.gpus, 0) as gpus,
        coalesce(run_count.runs, 0) as runs,
        release_detail.is_complete,
        coalesce(loss.faults, 0) as left_out,
        case when loss.faults is null then 0 else loss.runs end as runs_left_out,
        release_detail.boundary,
        release_detail.licence,
        release_detail.version,
        release_detail.released,
        release_detail.retrieved,
        release_detail.format,
        release_detail.release_key,
    from release_detail
    left join file_count on file_count.release_key = release_detail.release_key
    left join model_count on model_count.release_key = release_detail.release_key
    left join run_count on run_count.release_key = release_detail.release_key
    left join loss on loss.release_key = release_detail.release_key

    union all by name
    select
        task,
        0 as documents,
        0 as models,
        0 as gpus,
        0 as runs,
        false as is_complete,
        faults as left_out,
        runs as runs_left_out,
    from loss
    where release_key is null
)
select
    content.task,
    content.source,
    content.compiled,
    content.data_version,
    content.documents,
    content.models,
    content.gpus,
    content.runs,
    content.is_complete,
    content.left_out,
    content.runs_left_out,
    content.boundary,
    content.licence,
    content.version,
    content.released,
    content.retrieved,
    content.format,
    build.energydb_version,
    alembic_version.version_num as schema_revision,
    content.release_key,
from content
cross join build
cross join alembic_version
order by
    content.task, content.source, content.data_version, content.format, content.release_key;

comment on view contents is 'What this file holds: each release with its counts, dates and licence.';
comment on column contents.task is 'Task (workload) that was run, by the publisher''s id; NULL where that of a file left out can''t be told.';
comment on column contents.documents is 'Files loaded for the release.';
comment on column contents.models is 'Models in the release.';
comment on column contents.gpus is 'Different GPU models in the release.';
comment on column contents.runs is 'Measured runs in the release.';
comment on column contents.left_out is 'Faults for which something of the release was left out; 0 where it was loaded whole.';
comment on column contents.runs_left_out is 'Measured runs that were lost by them; NULL where that isn''t known.';
comment on column contents.schema_revision is 'Alembic revision of the schema of this file.';
comment on column contents.release_key is 'Key of a release, given at load.';
