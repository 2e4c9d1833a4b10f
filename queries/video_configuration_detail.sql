-- View: video_configuration_detail
-- Grain: one row per measured run of a video model, in every release
-- Key: video_configuration_key
-- Reads: video_configuration, model_detail, marked_run
-- Topic: Runs
-- Example: video_configuration_detail
--
-- What is known of each measured video run?
-- Everything, joined and named. Rows of older releases are here too: `where is_current` leaves the newest of
-- each. gpu_power_watts_each is derived, and says so in its comment. What is to be known of a run before it is
-- picked was worked out at load: has_finding, is_withdrawn.

create or replace view video_configuration_detail as
select
    task,
    model,
    gpu,
    joules_per_video,
    num_gpus,
    batch_size,
    batch_latency_s,
    video_height,
    video_width,
    num_frames,
    fps,
    inference_steps,
    videos_per_second,
    gpu_power_watts_total,
    gpu_power_watts_total / num_gpus as gpu_power_watts_each,
    ulysses_degree,
    ring_degree,
    other_parallel,
    precision,
    repeat,
    is_current,
    coalesce(marked_run.is_withdrawn, false) as is_withdrawn,
    coalesce(marked_run.has_finding, false) as has_finding,
    runs_left_out,
    model_name,
    model_id,
    params_b,
    active_params_b,
    source,
    data_version,
    boundary,
    licence,
    gpu_as_published,
    precision_as_published,
    document,
    model_key,
    video_configuration_key,
from video_configuration
join model_detail using (model_key)
left join marked_run on marked_run.kind = model_detail.kind and marked_run.run_key = video_configuration_key;

comment on view video_configuration_detail is 'Everything about a measured run of a video model, in every release.';
comment on column video_configuration_detail.is_withdrawn is 'Whether a newer complete release of its source no longer has the run.';
comment on column video_configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
