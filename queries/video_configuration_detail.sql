-- View: video_configuration_detail
-- Grain: one row per measured run of a video model, in every release
-- Key: video_configuration_key
-- Reads: video_configuration, model_detail
-- Topic: Runs
-- Example: video_configuration_detail
--
-- What is known of each measured video run?
-- Everything, joined and named. Rows of older releases are here too: `where is_current` leaves the newest of
-- each. gpu_power_watts_each is derived, and says so in its comment.

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
    precision,
    repeat,
    is_current,
    model_name,
    model_id,
    params_b,
    active_params_b,
    source,
    data_version,
    boundary,
    licence,
    document,
    model_key,
    video_configuration_key,
from video_configuration
join model_detail using (model_key);

comment on view video_configuration_detail is 'Everything about a measured run of a video model, in every release.';
comment on column video_configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
