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
    model_detail.task,
    model_detail.model,
    video_configuration.gpu,
    video_configuration.joules_per_video,
    video_configuration.num_gpus,
    video_configuration.batch_size,
    video_configuration.batch_latency_s,
    video_configuration.video_height,
    video_configuration.video_width,
    video_configuration.num_frames,
    video_configuration.fps,
    video_configuration.inference_steps,
    video_configuration.videos_per_second,
    video_configuration.gpu_power_watts_total,
    video_configuration.gpu_power_watts_total / video_configuration.num_gpus as gpu_power_watts_each,
    video_configuration.ulysses_degree,
    video_configuration.ring_degree,
    video_configuration.precision,
    video_configuration.repeat,
    model_detail.is_current,
    model_detail.model_name,
    model_detail.model_id,
    model_detail.params_b,
    model_detail.active_params_b,
    model_detail.source,
    model_detail.data_version,
    model_detail.boundary,
    model_detail.licence,
    model_detail.document,
    video_configuration.model_key,
    video_configuration.video_configuration_key,
from video_configuration
join model_detail on model_detail.model_key = video_configuration.model_key;

comment on view video_configuration_detail is 'Everything about a measured run of a video model, in every release.';
comment on column video_configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
