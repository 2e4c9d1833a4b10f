-- View: contents
-- Grain: one row per release
-- Key: release_key
-- Reads: release, source, file, model, measured_run, build, alembic_version
-- Topic: Trust
-- Example: contents
--
-- What does this file hold, and how old is it?
-- Each release with its counts, dates and licence, and what made the file.

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
)
select
    release.task,
    source.name as source,
    release.compiled,
    release.data_version,
    coalesce(file_count.files, 0) as documents,
    coalesce(model_count.models, 0) as models,
    coalesce(run_count.gpus, 0) as gpus,
    coalesce(run_count.runs, 0) as runs,
    release.boundary,
    release.licence,
    release.version,
    release.released,
    release.retrieved,
    release.format,
    build.energydb_version,
    alembic_version.version_num as schema_revision,
    release.release_key,
from release
join source on source.source_key = release.source_key
left join file_count on file_count.release_key = release.release_key
left join model_count on model_count.release_key = release.release_key
left join run_count on run_count.release_key = release.release_key
cross join build
cross join alembic_version
order by release.task, source.name, release.data_version, release.format, release.release_key;

comment on view contents is 'What this file holds: each release with its counts, dates and licence.';
comment on column contents.source is 'Name of the source.';
comment on column contents.documents is 'Files loaded for the release.';
comment on column contents.models is 'Models in the release.';
comment on column contents.gpus is 'Different GPU models in the release.';
comment on column contents.runs is 'Measured runs in the release.';
comment on column contents.schema_revision is 'Alembic revision of the schema of this file.';
