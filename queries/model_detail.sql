-- View: model_detail
-- Grain: one row per task, model, boundary and release
-- Key: model_key
-- Reads: model, file, release_detail, left_out
-- Topic: Releases
-- Example: model_detail
--
-- How does each release describe each model?
-- And which release is the newest that holds it: is_current. A model is what its Hugging Face id says, however that is
-- spelt. Of each source, task and boundary the newest is the greatest (compiled, data_version, format, release_key),
-- so old and new releases, or the same runs in two formats, lie side by side and only one of them is current; a
-- release that is dated ahead is so only where no other holds the model. A model is withdrawn, and not current, where
-- a newer complete release of its source lacks it, or its task is withdrawn.
-- `model` is the slug; where several models in the file share one it is maker/slug, and the second of two in one
-- release that differ in nothing, or in case alone, has #2 after it.
-- What was left out at load counts for the model in its release, and in older ones, whose figures then stand for it:
-- also what was lost of the whole task, and what can't be told of which it was.

create or replace view model_detail as
with made as (
    select
        *,
        case when contains(model_id, '/') then trim(split_part(model_id, '/', 1)) end as maker,
        case when contains(model_id, '/') then split_part(identity, '/', 1) end as maker_identity,
    from model
),
told as (
    select
        *,
        case
            when min(identity) over same_slug = max(identity) over same_slug then slug
            when min(identity) over same_maker = max(identity) over same_maker then concat_ws('/', maker, slug)
            -- Ids that differ in signs alone.
            else trim(model_id)
        end as shown,
    from made
    window
        same_slug as (partition by slug),
        same_maker as (partition by slug, maker_identity)
),
numbered as (
    select *, row_number() over (partition by release_key, lower(shown) order by model_key) as place,
    from told
),
judged as (
    select
        numbered.*,
        release_detail.* exclude (release_key),
        is_task_withdrawn or (is_before_newest_complete and not bool_or(is_newest_complete) over same_model) as is_withdrawn,
        first_value(release_key) over (
            same_model order by is_dated_ahead, compiled desc, data_version desc, format desc, release_key desc
        ) = release_key as is_newest,
    from numbered
    join release_detail using (release_key)
    window same_model as (partition by source, boundary, task, identity)
),
loss as (
    select task, identity, release_key, sum(coalesce(runs, 1)) as runs,
    from left_out
    group by all
),
lost as (
    select model.model_key, cast(sum(loss.runs) as integer) as runs,
    from model
    join release_detail using (release_key)
    join loss
        on coalesce(loss.task, release_detail.task) = release_detail.task
        and coalesce(loss.identity, model.identity) = model.identity
    left join release_detail as lacking on lacking.release_key = loss.release_key
    where loss.release_key is null
        or (
            lacking.source = release_detail.source
            and lacking.boundary = release_detail.boundary
            and (
                lacking.release_key = release_detail.release_key
                or (lacking.age > release_detail.age and not lacking.is_dated_ahead)
            )
        )
    group by model.model_key
)
select
    judged.task,
    case when judged.place = 1 then judged.shown else concat(judged.shown, ' #', judged.place) end as model,
    judged.boundary,
    judged.data_version,
    judged.is_newest and not judged.is_withdrawn as is_current,
    judged.is_withdrawn,
    judged.name as model_name,
    judged.model_id,
    judged.params_b,
    judged.active_params_b,
    judged.architecture,
    judged.kind,
    judged.source,
    judged.publisher,
    judged.source_url,
    judged.format,
    judged.version,
    judged.released,
    judged.compiled,
    judged.retrieved,
    judged.updated,
    judged.unit,
    judged.itl_deadline_ms,
    judged.workload,
    judged.method,
    judged.selection,
    judged.data_url,
    judged.licence,
    judged.cite,
    judged.cite_url,
    judged.caveat,
    file.file_name as document,
    file.sha256,
    judged.is_dated_ahead,
    coalesce(lost.runs, 0) as runs_left_out,
    judged.slug,
    judged.identity,
    judged.file_key,
    judged.release_key,
    judged.model_key,
from judged
join file on file.file_key = judged.file_key
left join lost on lost.model_key = judged.model_key
order by judged.model_key;

comment on view model_detail is 'Each model as each release describes it, and which description is current.';
comment on column model_detail.task is 'Task (workload) that was run, by the publisher''s id.';
comment on column model_detail.model is 'Short name (slug) of the model; maker/slug where the file holds several of that name.';
comment on column model_detail.is_current is 'Whether this release is the newest of its source that holds the model for its task and boundary, and the model isn''t withdrawn.';
comment on column model_detail.is_withdrawn is 'Whether a newer complete release of its source no longer has the model, or the task.';
comment on column model_detail.model_id is 'Hugging Face id of the model, as published.';
comment on column model_detail.model_name is 'Name of the model.';
comment on column model_detail.document is 'Base name of the file that was loaded.';
comment on column model_detail.runs_left_out is 'Runs that could not be loaded, and were left out, of the model in this or a newer release of its source, or that may be of it: 1 for each fault of which the number isn''t known, 0 where all were loaded.';
comment on column model_detail.identity is 'What tells one model from another: its id without case, blanks around it and zero-width characters.';
comment on column model_detail.release_key is 'Key of a release, given at load.';
comment on column model_detail.model_key is 'Key of a model as one release describes it, given at load.';
