-- View: withdrawn_run
-- Grain: one row per measured run that its source has withdrawn
-- Key: kind, run_key
-- Reads: measured_run, model_detail, release_detail
-- Topic: Releases
-- Example: withdrawn_run
--
-- Which runs does their source no longer publish?
-- Runs of an older release where the newest complete release of their source, task and boundary, if that is newer, has
-- not their model, not on this GPU, or not at this setting; or where a newer publication of the source, of which all
-- tasks were loaded, lacks their task. How often a setting was run doesn't matter. They are kept, and in no pick.

create or replace view withdrawn_run as
with model as (
    select
        model_detail.model_key,
        model_detail.identity,
        release_detail.is_newest_complete,
        release_detail.is_task_withdrawn,
        release_detail.newest_complete_release_key,
        release_detail.outdated_by_data_version,
    from model_detail
    join release_detail on release_detail.release_key = model_detail.release_key
    where release_detail.outdated_by_data_version is not null
        or release_detail.release_key in (
            select newest_complete_release_key from release_detail where is_before_newest_complete
        )
),
run as (
    select
        measured_run.kind,
        measured_run.run_key,
        measured_run.model_key,
        measured_run.gpu,
        measured_run.setting,
        measured_run.row_id,
        measured_run.repeat,
        model.* exclude (model_key),
    from measured_run
    join model on model.model_key = measured_run.model_key
),
kept as (
    select distinct newest_complete_release_key, identity, gpu, setting, true as is_kept
    from run
    where is_newest_complete
)
select
    run.kind,
    run.run_key,
    model_detail.task,
    model_detail.model,
    run.gpu,
    run.setting,
    model_detail.data_version,
    run.outdated_by_data_version,
    run.row_id,
    run.repeat,
    model_detail.model_name,
    model_detail.source,
    model_detail.boundary,
    model_detail.licence,
    run.model_key,
from run
join model_detail on model_detail.model_key = run.model_key
left join kept
    on kept.newest_complete_release_key = run.newest_complete_release_key
    and kept.identity = run.identity
    and kept.gpu = run.gpu
    and kept.setting = run.setting
where run.outdated_by_data_version is not null and (run.is_task_withdrawn or kept.is_kept is null)
order by
    model_detail.task, model_detail.model, model_detail.source, model_detail.boundary, model_detail.data_version, run.gpu,
    run.kind, run.run_key;

comment on view withdrawn_run is 'Runs that a newer release of their source no longer has: kept, and in no pick.';
comment on column withdrawn_run.kind is 'What the run makes: text, image or video.';
comment on column withdrawn_run.run_key is 'Key of the run in the table of its kind.';
comment on column withdrawn_run.outdated_by_data_version is 'Version of the newer publication that no longer has the run.';
