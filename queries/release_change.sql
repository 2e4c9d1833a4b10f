-- View: release_change
-- Grain: one row per difference between a release and the one before it
-- Key: release_key, model, gpu, run, field
-- Reads: release, release_detail, unknown_field, model, model_detail, configuration, image_configuration, video_configuration
-- Topic: Releases
-- Example: release_change
--
-- What changed since the last release?
-- Each release against the previous one of the same source, task, format and boundary: what it says of itself, which
-- models and runs appeared or went, and which values changed, field by field. A model that appears or goes is one row;
-- its runs are not listed again. A model is told by its Hugging Face id, however that is spelt, and a run by its GPU
-- and setting, as `run` says it; repeats are paired by equal values first, then in their order. A field that no run has
-- any more is one row, and so is one that energydb doesn't know, by its place. A boundary is held against the release
-- before whatever that one's is; the first release of a boundary is held against that one in what it says of itself.

create or replace view release_change as
with dated as (
    select
        release_key, source, task, format, boundary,
        lag(release_key) over (
            partition by source, task, format, boundary order by data_version, compiled, release_key
        ) as previous_release_key,
        dense_rank() over (partition by source, task, format order by data_version, compiled) as day,
    from release_detail
),
-- What was published on a day: mostly one release, or one of each boundary.
published as (
    select
        source, task, format, day,
        max(release_key) as release_key,
        string_agg(distinct boundary, ', ' order by boundary) as boundaries,
    from dated
    group by source, task, format, day
),
succession as (
    select
        dated.release_key,
        dated.boundary,
        dated.previous_release_key,
        before.release_key as release_key_before,
        before.boundaries as boundaries_before,
        coalesce(dated.previous_release_key, before.release_key) as compared_release_key,
        not exists (
            from dated as other
            where other.source = dated.source
                and other.task = dated.task
                and other.format = dated.format
                and other.day = dated.day - 1
                and other.boundary = dated.boundary
        ) as has_another_boundary,
    from dated
    left join published as before
        on before.source = dated.source
        and before.task = dated.task
        and before.format = dated.format
        and before.day = dated.day - 1
),
-- What each release says of itself, and each of its models: whatever columns the tables have.
said_of_release as (
    select release_key, field, value,
    from (
        select
            release_key,
            cast(
                columns(* exclude (
                    release_key, source_key, task, format, boundary, data_version, compiled, released, retrieved, updated,
                    is_complete, has_all_tasks
                )) as varchar
            ),
        from release
    )
    unpivot include nulls (value for field in (columns(* exclude (release_key))))
),
-- One model may come twice in a release.
described as (
    select
        model_key,
        release_key,
        model,
        identity,
        row_number() over (partition by release_key, identity order by model_key) as place,
    from model_detail
),
model_side as (
    select succession.release_key, true as is_newer, described.* exclude (release_key),
    from succession
    join described on described.release_key = succession.release_key
    where succession.previous_release_key is not null

    union all
    select succession.release_key, false, described.* exclude (release_key),
    from succession
    join described on described.release_key = succession.previous_release_key
),
model_pair as (
    select
        release_key,
        coalesce(any_value(model) filter (where is_newer), any_value(model)) as model,
        any_value(model_key) filter (where is_newer) as newer_key,
        any_value(model_key) filter (where not is_newer) as older_key,
    from model_side
    group by release_key, identity, place
),
compared_model as (
    select unnest([newer_key, older_key]) as model_key
    from model_pair
    where newer_key is not null and older_key is not null
),
said_of_model as (
    select model_key, field, value,
    from (
        select model_key, cast(columns(* exclude (model_key, release_key, file_key, identity)) as varchar),
        from model
        where model_key in (from compared_model)
    )
    unpivot include nulls (value for field in (columns(* exclude (model_key))))
),
-- Both sides of a pair are put together by their pair: a join on the field would come to all against all.
changed_model as (
    select
        model_pair.release_key,
        model_pair.model,
        said_of_model.field,
        any_value(said_of_model.value) filter (where said_of_model.model_key = model_pair.older_key) as old_value,
        any_value(said_of_model.value) filter (where said_of_model.model_key = model_pair.newer_key) as new_value,
    from (
        select *, unnest([newer_key, older_key]) as model_key
        from model_pair
        where newer_key is not null and older_key is not null
    ) as model_pair
    join said_of_model on said_of_model.model_key = model_pair.model_key
    group by model_pair.release_key, model_pair.model, said_of_model.field
),
run as (
    select
        'text' as kind,
        configuration_key as run_key,
        model_key,
        gpu,
        concat(num_gpus, ' GPUs, max_num_seqs ', coalesce(cast(max_num_seqs as varchar), 'none')) as setting,
        repeat,
        hash(*columns(* exclude (configuration_key, model_key, gpu, num_gpus, max_num_seqs, repeat))) as value,
    from configuration
    where model_key in (from compared_model)

    union all
    select
        'image' as kind,
        image_configuration_key as run_key,
        model_key,
        gpu,
        concat(
            num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
            ', ' || other_parallel, ', ', precision, ', batch_size ', batch_size, ', ', image_width, ' x ', image_height,
            ', ', inference_steps, ' steps'
        ) as setting,
        repeat,
        hash(*columns(* exclude (
            image_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
            image_width, image_height, inference_steps, repeat
        ))) as value,
    from image_configuration
    where model_key in (from compared_model)

    union all
    select
        'video' as kind,
        video_configuration_key as run_key,
        model_key,
        gpu,
        concat(
            num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
            ', ' || other_parallel, ', ', precision, ', batch_size ', batch_size, ', ', video_width, ' x ', video_height,
            ', ', coalesce(cast(num_frames as varchar), 'unknown'), ' frames at ',
            coalesce(cast(fps as varchar), 'unknown'), ' fps, ', inference_steps, ' steps'
        ) as setting,
        repeat,
        hash(*columns(* exclude (
            video_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
            video_width, video_height, num_frames, fps, inference_steps, repeat
        ))) as value,
    from video_configuration
    where model_key in (from compared_model)
),
run_side as (
    select model_pair.release_key, model_pair.model, true as is_newer, run.*,
    from model_pair
    join run on run.model_key = model_pair.newer_key
    where model_pair.older_key is not null

    union all
    select model_pair.release_key, model_pair.model, false, run.*,
    from model_pair
    join run on run.model_key = model_pair.older_key
    where model_pair.newer_key is not null
),
-- Equal runs, by the hash of all their values, are pairs, however often they come: what is left has no equal on the other side.
counted as (
    select
        *,
        row_number() over (
            partition by release_key, model, is_newer, gpu, setting, value order by repeat, run_key
        ) as copy,
    from run_side
),
unequal as (
    from counted
    qualify count(*) over (partition by release_key, model, gpu, setting, value, copy) = 1
),
placed as (
    select
        *,
        row_number() over (partition by release_key, model, is_newer, gpu, setting order by repeat, run_key) as place,
    from unequal
),
run_pair as (
    select
        release_key,
        model,
        gpu,
        concat(
            setting, ', repeat ',
            coalesce(any_value(repeat) filter (where is_newer), any_value(repeat) filter (where not is_newer))
        ) as run,
        any_value(kind) as kind,
        any_value(run_key) filter (where is_newer) as newer_key,
        any_value(run_key) filter (where not is_newer) as older_key,
    from placed
    group by release_key, model, gpu, setting, place
),
compared_run as (
    select *, unnest([newer_key, older_key]) as run_key
    from run_pair
    where newer_key is not null and older_key is not null
),
said_of_run as (
    select kind, run_key, field, value,
    from (
        select
            'text' as kind,
            configuration_key as run_key,
            cast(columns(* exclude (configuration_key, model_key, gpu, num_gpus, max_num_seqs, repeat)) as varchar),
        from configuration
        where configuration_key in (select run_key from compared_run where kind = 'text')
    )
    unpivot include nulls (value for field in (columns(* exclude (kind, run_key))))

    union all
    select kind, run_key, field, value,
    from (
        select
            'image' as kind,
            image_configuration_key as run_key,
            cast(columns(* exclude (
                image_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
                image_width, image_height, inference_steps, repeat
            )) as varchar),
        from image_configuration
        where image_configuration_key in (select run_key from compared_run where kind = 'image')
    )
    unpivot include nulls (value for field in (columns(* exclude (kind, run_key))))

    union all
    select kind, run_key, field, value,
    from (
        select
            'video' as kind,
            video_configuration_key as run_key,
            cast(columns(* exclude (
                video_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
                video_width, video_height, num_frames, fps, inference_steps, repeat
            )) as varchar),
        from video_configuration
        where video_configuration_key in (select run_key from compared_run where kind = 'video')
    )
    unpivot include nulls (value for field in (columns(* exclude (kind, run_key))))
),
changed_run as (
    select
        compared_run.release_key,
        compared_run.model,
        compared_run.gpu,
        compared_run.run,
        said_of_run.field,
        any_value(said_of_run.value) filter (where said_of_run.run_key = compared_run.older_key) as old_value,
        any_value(said_of_run.value) filter (where said_of_run.run_key = compared_run.newer_key) as new_value,
    from compared_run
    join said_of_run on said_of_run.kind = compared_run.kind and said_of_run.run_key = compared_run.run_key
    group by compared_run.release_key, compared_run.model, compared_run.gpu, compared_run.run, said_of_run.field
),
-- In how many runs of each release a field has a value; 0 of them all are no column of it.
held as (
    select release_key, field, known,
    from (
        select release_key, count(columns(* exclude (
            configuration_key, model_key, gpu, num_gpus, max_num_seqs, repeat, release_key
        )))
        from configuration
        join (select model_key, release_key from model) using (model_key)
        group by release_key
    )
    unpivot (known for field in (columns(* exclude (release_key))))

    union all
    select release_key, field, known,
    from (
        select release_key, count(columns(* exclude (
            image_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
            image_width, image_height, inference_steps, repeat, release_key
        )))
        from image_configuration
        join (select model_key, release_key from model) using (model_key)
        group by release_key
    )
    unpivot (known for field in (columns(* exclude (release_key))))

    union all
    select release_key, field, known,
    from (
        select release_key, count(columns(* exclude (
            video_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, other_parallel, precision, batch_size,
            video_width, video_height, num_frames, fps, inference_steps, repeat, release_key
        )))
        from video_configuration
        join (select model_key, release_key from model) using (model_key)
        group by release_key
    )
    unpivot (known for field in (columns(* exclude (release_key))))
),
column_gone as (
    select succession.release_key, newer.field,
    from succession
    join held as newer on newer.release_key = succession.release_key
    join held as older on older.release_key = succession.previous_release_key and older.field = newer.field
    where newer.known = 0 and older.known > 0
),
difference as (
    select
        release_key, compared_release_key, null as model, null as gpu, null as run, 'changed' as change,
        newer.field, older.value as old_value, newer.value as new_value,
    from succession
    join said_of_release as newer using (release_key)
    join said_of_release as older
        on older.release_key = succession.compared_release_key and older.field = newer.field
    where newer.value is distinct from older.value

    union all
    select
        release_key, release_key_before, null, null, null, 'changed', 'boundary', boundaries_before, boundary,
    from succession
    where has_another_boundary and release_key_before is not null

    union all
    select succession.release_key, compared_release_key, null, null, null, 'appeared', newer.place, null, newer.example,
    from succession
    join unknown_field as newer on newer.release_key = succession.release_key
    left join unknown_field as older
        on older.release_key = succession.compared_release_key and older.place = newer.place
    where compared_release_key is not null and older.place is null

    union all
    select succession.release_key, compared_release_key, null, null, null, 'went', older.place, older.example, null,
    from succession
    join unknown_field as older on older.release_key = succession.compared_release_key
    left join unknown_field as newer on newer.release_key = succession.release_key and newer.place = older.place
    where newer.place is null

    union all
    select release_key, previous_release_key, null, null, null, 'went', field, null, null,
    from column_gone
    join succession using (release_key)

    union all
    select release_key, previous_release_key, model, null, null, 'changed', field, old_value, new_value,
    from changed_model
    join succession using (release_key)
    where old_value is distinct from new_value

    union all
    select
        release_key, previous_release_key, model, null, null,
        case when older_key is null then 'appeared' else 'went' end, null, null, null,
    from model_pair
    join succession using (release_key)
    where newer_key is null or older_key is null

    union all
    select
        changed_run.release_key, previous_release_key, model, gpu, run, 'changed', changed_run.field, old_value, new_value,
    from changed_run
    join succession on succession.release_key = changed_run.release_key
    left join column_gone
        on column_gone.release_key = changed_run.release_key and column_gone.field = changed_run.field
    where old_value is distinct from new_value and column_gone.field is null

    union all
    select
        release_key, previous_release_key, model, gpu, run,
        case when older_key is null then 'appeared' else 'went' end, null, null, null,
    from run_pair
    join succession using (release_key)
    where newer_key is null or older_key is null
)
select
    release_detail.task,
    difference.model,
    difference.gpu,
    difference.run,
    difference.change,
    difference.field,
    difference.old_value,
    difference.new_value,
    release_detail.data_version,
    before.data_version as previous_data_version,
    release_detail.source,
    release_detail.format,
    release_detail.boundary,
    release_detail.release_key,
from difference
join release_detail on release_detail.release_key = difference.release_key
join release_detail as before on before.release_key = difference.compared_release_key
order by
    release_detail.task,
    release_detail.data_version,
    difference.model nulls first,
    difference.gpu nulls first,
    difference.run nulls first,
    difference.field nulls first,
    release_detail.release_key;

comment on view release_change is 'What appeared, went or changed against the previous release of the same source, format and boundary.';
comment on column release_change.task is 'Task (workload) that was run, by the publisher''s id.';
comment on column release_change.model is 'Model, as views name it; NULL where the release itself is meant.';
comment on column release_change.gpu is 'GPU model of the run; NULL where the model or the release itself is meant.';
comment on column release_change.run is 'Setting of the run; NULL where the model or the release itself is meant.';
comment on column release_change.change is 'appeared, went or changed.';
comment on column release_change.field is 'Field that changed; NULL where a model or run appeared or went.';
comment on column release_change.old_value is 'Value in the previous release, as text.';
comment on column release_change.new_value is 'Value in this release, as text.';
comment on column release_change.previous_data_version is 'Version of the previous release: its date.';
