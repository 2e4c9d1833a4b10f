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
model_field as (
    select model_key, field, value
    from (
        select
            model_key,
            cast(name as varchar) as name,
            cast(model_id as varchar) as model_id,
            cast(params_b as varchar) as params_b,
            cast(active_params_b as varchar) as active_params_b,
            cast(architecture as varchar) as architecture,
        from model
    )
    unpivot include nulls (
        value for field in (
            name,
            model_id,
            params_b,
            active_params_b,
            architecture
        )
    )
),
run_field as (
    select
        model_key,
        gpu,
        concat(num_gpus, ' GPUs, max_num_seqs ', coalesce(cast(max_num_seqs as varchar), 'none'), ', repeat ', repeat) as run,
        field,
        value,
    from (
        select
            model_key,
            gpu,
            num_gpus,
            max_num_seqs,
            repeat,
            cast(tensor_parallel as varchar) as tensor_parallel,
            cast(data_parallel as varchar) as data_parallel,
            cast(expert_parallel as varchar) as expert_parallel,
            cast(precision as varchar) as precision,
            cast(avg_requests_in_flight as varchar) as avg_requests_in_flight,
            cast(wh_per_million_output_tokens as varchar) as wh_per_million_output_tokens,
            cast(joules_per_output_token as varchar) as joules_per_output_token,
            cast(median_itl_ms as varchar) as median_itl_ms,
            cast(p90_itl_ms as varchar) as p90_itl_ms,
            cast(p95_itl_ms as varchar) as p95_itl_ms,
            cast(p99_itl_ms as varchar) as p99_itl_ms,
            cast(tokens_per_second as varchar) as tokens_per_second,
            cast(gpu_power_watts_total as varchar) as gpu_power_watts_total,
            cast(avg_output_tokens as varchar) as avg_output_tokens,
            cast(under_itl_deadline as varchar) as under_itl_deadline,
            cast(avg_running_batch as varchar) as avg_running_batch,
            cast(row_id as varchar) as row_id,
            cast(parallel_notes as varchar) as parallel_notes,
        from configuration
    )
    unpivot include nulls (
        value for field in (
            tensor_parallel,
            data_parallel,
            expert_parallel,
            precision,
            avg_requests_in_flight,
            wh_per_million_output_tokens,
            joules_per_output_token,
            median_itl_ms,
            p90_itl_ms,
            p95_itl_ms,
            p99_itl_ms,
            tokens_per_second,
            gpu_power_watts_total,
            avg_output_tokens,
            under_itl_deadline,
            avg_running_batch,
            row_id,
            parallel_notes
        )
    )

    union all
    select
        model_key,
        gpu,
        concat(
            num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
            ', batch_size ', batch_size, ', ', image_width, ' x ', image_height,
            ', ', inference_steps, ' steps, repeat ', repeat
        ),
        field,
        value,
    from (
        select
            model_key,
            gpu,
            num_gpus,
            ulysses_degree,
            ring_degree,
            batch_size,
            image_width,
            image_height,
            inference_steps,
            repeat,
            cast(precision as varchar) as precision,
            cast(batch_latency_s as varchar) as batch_latency_s,
            cast(joules_per_image as varchar) as joules_per_image,
            cast(images_per_second as varchar) as images_per_second,
            cast(gpu_power_watts_total as varchar) as gpu_power_watts_total,
        from image_configuration
    )
    unpivot include nulls (
        value for field in (
            precision,
            batch_latency_s,
            joules_per_image,
            images_per_second,
            gpu_power_watts_total
        )
    )

    union all
    select
        model_key,
        gpu,
        concat(
            num_gpus, ' GPUs, ulysses_degree ', ulysses_degree, ', ring_degree ', ring_degree,
            ', batch_size ', batch_size, ', ', video_width, ' x ', video_height,
            ', ', coalesce(cast(num_frames as varchar), 'unknown'), ' frames at ',
            coalesce(cast(fps as varchar), 'unknown'), ' fps, ', inference_steps, ' steps, repeat ', repeat
        ),
        field,
        value,
    from (
        select
            model_key,
            gpu,
            num_gpus,
            ulysses_degree,
            ring_degree,
            batch_size,
            video_width,
            video_height,
            num_frames,
            fps,
            inference_steps,
            repeat,
            cast(precision as varchar) as precision,
            cast(batch_latency_s as varchar) as batch_latency_s,
            cast(joules_per_video as varchar) as joules_per_video,
            cast(videos_per_second as varchar) as videos_per_second,
            cast(gpu_power_watts_total as varchar) as gpu_power_watts_total,
        from video_configuration
    )
    unpivot include nulls (
        value for field in (
            precision,
            batch_latency_s,
            joules_per_video,
            videos_per_second,
            gpu_power_watts_total
        )
    )
),
run as (
    select distinct model_key, gpu, run from run_field
),
difference as (
    select
        release_key,
        model,
        null as gpu,
        null as run,
        case when older_key is null then 'appeared' else 'went' end as change,
        null as field,
        null as old_value,
        null as new_value,
    from model_pair
    where older_key is null or newer_key is null

    union all
    select
        model_pair.release_key,
        model_pair.model,
        null,
        null,
        'changed',
        newer.field,
        older.value,
        newer.value,
    from model_pair
    join model_field as newer on newer.model_key = model_pair.newer_key
    join model_field as older on older.model_key = model_pair.older_key and older.field = newer.field
    where newer.value is distinct from older.value

    union all
    select model_pair.release_key, model_pair.model, newer.gpu, newer.run, 'appeared', null, null, null
    from model_pair
    join run as newer on newer.model_key = model_pair.newer_key
    left join run as older
        on older.model_key = model_pair.older_key and older.gpu = newer.gpu and older.run = newer.run
    where model_pair.older_key is not null and older.run is null

    union all
    select model_pair.release_key, model_pair.model, older.gpu, older.run, 'went', null, null, null
    from model_pair
    join run as older on older.model_key = model_pair.older_key
    left join run as newer
        on newer.model_key = model_pair.newer_key and newer.gpu = older.gpu and newer.run = older.run
    where model_pair.newer_key is not null and newer.run is null

    union all
    select
        model_pair.release_key,
        model_pair.model,
        newer.gpu,
        newer.run,
        'changed',
        newer.field,
        older.value,
        newer.value,
    from model_pair
    join run_field as newer on newer.model_key = model_pair.newer_key
    join run_field as older
        on older.model_key = model_pair.older_key
        and older.gpu = newer.gpu
        and older.run = newer.run
        and older.field = newer.field
    where newer.value is distinct from older.value
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
