-- View: model_detail
-- Grain: one row per task, model, boundary and release
-- Key: model_key
-- Reads: model, file, release, source, task
-- Topic: Releases
-- Example: model_detail
--
-- How does each release describe each model?
-- And which release is the newest that holds it: is_current.
-- Newest is the greatest (compiled, data_version, format, release_key), so old and new releases, or the
-- same runs in two formats, lie side by side and only one of them is current.

create or replace view model_detail as
select
    release.task as task,
    model.slug as model,
    release.boundary,
    release.data_version,
    row_number() over (
        partition by release.task, model.slug, release.boundary
        order by release.compiled desc, release.data_version desc, release.format desc, release.release_key desc
    ) = 1 as is_current,
    model.name as model_name,
    model.model_id,
    model.params_b,
    model.active_params_b,
    model.architecture,
    task.kind,
    source.name as source,
    source.publisher,
    source.url as source_url,
    release.format,
    release.version,
    release.released,
    release.compiled,
    release.retrieved,
    release.updated,
    release.unit,
    release.itl_deadline_ms,
    release.workload,
    release.method,
    release.selection,
    release.data_url,
    release.licence,
    release.cite,
    release.cite_url,
    release.caveat,
    file.file_name as document,
    file.sha256,
    model.file_key,
    model.release_key,
    model.model_key,
from model
join file on file.file_key = model.file_key
join release on release.release_key = model.release_key
join source on source.source_key = release.source_key
join task on task.id = release.task
order by model.model_key;

comment on view model_detail is 'Each model as each release describes it, and which description is current.';
comment on column model_detail.model is 'Short name (slug) of the model.';
comment on column model_detail.is_current is 'Whether this release is the newest that holds the model for its task and boundary.';
comment on column model_detail.model_name is 'Name of the model.';
comment on column model_detail.source is 'Name of the source.';
comment on column model_detail.source_url is 'Address of the source.';
comment on column model_detail.document is 'Base name of the file that was loaded.';
