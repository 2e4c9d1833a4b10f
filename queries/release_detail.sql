-- View: release_detail
-- Grain: one row per release
-- Key: release_key
-- Reads: release, source, task, build
-- Topic: Releases
-- Example: release_detail
--
-- What does each release say of itself?
-- Each with its source, and whether that still says so. A release that is dated a year or more after this energydb is a
-- slip: it is never the newest. A task is withdrawn where a newer publication of its source, of which all tasks were
-- loaded, has it no longer. What one source publishes says nothing of another's; own runs of a source that publishes
-- too have a source of their own.

create or replace view release_detail as
with dated as (
    select
        release.*,
        case
            when release.origin = 'own'
                and bool_or(release.origin <> 'own') over (partition by source.name)
            then concat(source.name, ' (own)')
            else source.name
        end as source,
        source.publisher,
        source.url as source_url,
        task.kind,
        coalesce(
            greatest(release.compiled, release.data_version)
                >= (select max(energydb_released) from build) + interval 1 year,
            false
        ) as is_dated_ahead,
        -- Of two releases the newer has the greater age; those of one day are none the newer.
        cast(dense_rank() over (order by release.compiled, release.data_version) as integer) as age,
    from release
    join source on source.source_key = release.source_key
    join task on task.id = release.task
),
succession as (
    select
        *,
        max(age) filter (where has_all_tasks and not is_dated_ahead) over (partition by source, boundary) as age_of_all_tasks,
        max(age) over (partition by source, boundary, task) as age_of_task,
        row_number() over (
            partition by source, boundary, task, is_complete and not is_dated_ahead
            order by age desc, format desc, release_key desc
        ) = 1 and is_complete and not is_dated_ahead as is_newest_complete,
    from dated
)
select
    task,
    source,
    data_version,
    compiled,
    is_dated_ahead,
    is_complete,
    has_all_tasks,
    is_newest_complete,
    coalesce(age < max(age) filter (where is_newest_complete) over same_task, false) as is_before_newest_complete,
    coalesce(age_of_all_tasks > age_of_task, false) as is_task_withdrawn,
    max(release_key) filter (where is_newest_complete) over same_task as newest_complete_release_key,
    case
        when age_of_all_tasks > age_of_task
        then max(data_version) filter (where has_all_tasks and age = age_of_all_tasks) over (partition by source, boundary)
        when is_before_newest_complete then max(data_version) filter (where is_newest_complete) over same_task
    end as outdated_by_data_version,
    age,
    boundary,
    kind,
    publisher,
    source_url,
    origin,
    measurement_window,
    basis,
    format,
    version,
    document_version,
    released,
    compiled_evidence,
    retrieved,
    updated,
    unit,
    itl_deadline_ms,
    workload,
    method,
    selection,
    used_for,
    configurations_note,
    data_url,
    licence,
    cite,
    cite_url,
    caveat,
    release_key,
from succession
window same_task as (partition by source, boundary, task)
order by release_key;

comment on view release_detail is 'Each release with its source, and whether it is complete, dated ahead, or of a withdrawn task.';
comment on column release_detail.source is 'Name of the source; with (own) after it for own runs of a source that publishes too.';
comment on column release_detail.source_url is 'Address of the source.';
comment on column release_detail.is_dated_ahead is 'Whether it is dated a year or more after this energydb, which must be a slip: then it is never the newest.';
comment on column release_detail.is_newest_complete is 'Whether it is the newest complete release of its source, task and boundary: what that lacks is withdrawn.';
comment on column release_detail.is_task_withdrawn is 'Whether a newer publication of the source, of which all tasks were loaded, no longer has this task.';
comment on column release_detail.is_before_newest_complete is 'Whether the newest complete release of its source, task and boundary is newer than it.';
comment on column release_detail.newest_complete_release_key is 'Key of the newest complete release of its source, task and boundary; NULL without one.';
comment on column release_detail.outdated_by_data_version is 'Version of the newer publication by which what it holds alone is withdrawn; NULL where there is none.';
comment on column release_detail.age is 'Place among all releases by (compiled, data_version): the greatest is the newest, equals share a place.';
