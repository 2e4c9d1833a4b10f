-- View: release_change
-- Grain: one row per difference between a release and the one before it
-- Key: release_key, model, gpu, run, field
-- Reads: release, source, model, configuration, image_configuration, video_configuration
-- Topic: Releases
-- Example: release_change
--
-- What changed since the last release?
-- Each release against the previous one of the same source, task, format and boundary: which models and runs appeared
-- or went, and which values changed, field by field. A model that appears or goes is one row; its runs are
-- not listed again. A run is told by its GPU and setting, as `run` says it.

create or replace view release_change as
with succession as (
    select
        release.release_key,
        release.task,
        source.name as source,
        release.format,
        release.data_version,
        release.boundary,
        lag(release.release_key) over history as previous_release_key,
        lag(release.data_version) over history as previous_data_version,
    from release
    join source on source.source_key = release.source_key
    window history as (
        partition by source.name, release.task, release.format, release.boundary
        order by release.data_version, release.compiled, release.release_key
    )
),
named_model as (
    select distinct succession.release_key, model.slug
    from succession
    join model on model.release_key in (succession.release_key, succession.previous_release_key)
    where succession.previous_release_key is not null
),
model_pair as (
    select
        succession.task,
        named_model.slug as model,
        succession.source,
        succession.format,
        succession.data_version,
        succession.previous_data_version,
        succession.boundary,
        succession.release_key,
        newer.model_key as newer_key,
        older.model_key as older_key,
    from named_model
    join succession on succession.release_key = named_model.release_key
    left join model as newer
        on newer.release_key = succession.release_key and newer.slug = named_model.slug
    left join model as older
        on older.release_key = succession.previous_release_key and older.slug = named_model.slug
),
-- What each release says of each model (without gpu and run) and of each of its runs, a row a field: whatever columns
-- the tables have.
said as (
    select model_key, gpu, run, field, value,
    from (
        select
            model_key,
            cast(null as varchar) as gpu,
            cast(null as varchar) as run,
            cast(columns(* exclude (model_key, release_key, file_key, slug)) as varchar),
        from model
    )
    unpivot include nulls (value for field in (columns(* exclude (model_key, gpu, run))))

    union all
    select model_key, gpu, run, field, value,
    from (
        select
            model_key,
            gpu,
            concat(
                num_gpus, ' GPUs, max_num_seqs ', coalesce(cast(max_num_seqs as varchar), 'none'), ', repeat ', repeat
            ) as run,
            cast(
                columns(* exclude (configuration_key, model_key, gpu, num_gpus, max_num_seqs, repeat)) as varchar
            ),
        from configuration
    )
    unpivot include nulls (value for field in (columns(* exclude (model_key, gpu, run))))

    union all
    select model_key, gpu, run, field, value,
    from (
        select
            model_key,
            gpu,
            concat(
                num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
                ', batch_size ', batch_size, ', ', image_width, ' x ', image_height,
                ', ', inference_steps, ' steps, repeat ', repeat
            ) as run,
            cast(
                columns(* exclude (
                    image_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, batch_size,
                    image_width, image_height, inference_steps, repeat
                )) as varchar
            ),
        from image_configuration
    )
    unpivot include nulls (value for field in (columns(* exclude (model_key, gpu, run))))

    union all
    select model_key, gpu, run, field, value,
    from (
        select
            model_key,
            gpu,
            concat(
                num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
                ', batch_size ', batch_size, ', ', video_width, ' x ', video_height,
                ', ', coalesce(cast(num_frames as varchar), 'unknown'), ' frames at ',
                coalesce(cast(fps as varchar), 'unknown'), ' fps, ', inference_steps, ' steps, repeat ', repeat
            ) as run,
            cast(
                columns(* exclude (
                    video_configuration_key, model_key, gpu, num_gpus, ulysses_degree, ring_degree, batch_size,
                    video_width, video_height, num_frames, fps, inference_steps, repeat
                )) as varchar
            ),
        from video_configuration
    )
    unpivot include nulls (value for field in (columns(* exclude (model_key, gpu, run))))
),
-- A model, or one of its runs.
subject as (
    select distinct model_key, gpu, run from said
),
difference as (
    select
        model_pair.release_key,
        model_pair.model,
        newer.gpu,
        newer.run,
        'changed' as change,
        newer.field,
        older.value as old_value,
        newer.value as new_value,
    from model_pair
    join said as newer on newer.model_key = model_pair.newer_key
    join said as older
        on older.model_key = model_pair.older_key
        and older.gpu is not distinct from newer.gpu
        and older.run is not distinct from newer.run
        and older.field = newer.field
    where newer.value is distinct from older.value

    union all
    select model_pair.release_key, model_pair.model, newer.gpu, newer.run, 'appeared', null, null, null
    from model_pair
    join subject as newer on newer.model_key = model_pair.newer_key
    left join subject as older
        on older.model_key = model_pair.older_key
        and older.gpu is not distinct from newer.gpu
        and older.run is not distinct from newer.run
    where older.model_key is null and (newer.run is null or model_pair.older_key is not null)

    union all
    select model_pair.release_key, model_pair.model, older.gpu, older.run, 'went', null, null, null
    from model_pair
    join subject as older on older.model_key = model_pair.older_key
    left join subject as newer
        on newer.model_key = model_pair.newer_key
        and newer.gpu is not distinct from older.gpu
        and newer.run is not distinct from older.run
    where newer.model_key is null and (older.run is null or model_pair.newer_key is not null)
)
select
    succession.task,
    difference.model,
    difference.gpu,
    difference.run,
    difference.change,
    difference.field,
    difference.old_value,
    difference.new_value,
    succession.data_version,
    succession.previous_data_version,
    succession.source,
    succession.format,
    succession.boundary,
    succession.release_key,
from difference
join succession on succession.release_key = difference.release_key
order by
    succession.task,
    succession.data_version,
    difference.model,
    difference.gpu nulls first,
    difference.run nulls first,
    difference.field nulls first,
    succession.release_key;

comment on view release_change is 'What appeared, went or changed against the previous release of the same source, format and boundary.';
comment on column release_change.model is 'Short name (slug) of the model.';
comment on column release_change.gpu is 'GPU model of the run; NULL where the model itself is meant.';
comment on column release_change.run is 'Setting of the run; NULL where the model itself is meant.';
comment on column release_change.change is 'appeared, went or changed.';
comment on column release_change.field is 'Field that changed; NULL where a model or run appeared or went.';
comment on column release_change.old_value is 'Value in the previous release, as text.';
comment on column release_change.new_value is 'Value in this release, as text.';
comment on column release_change.previous_data_version is 'Version of the previous release: its date.';
comment on column release_change.source is 'Name of the source.';
