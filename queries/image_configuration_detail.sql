-- View: image_configuration_detail
-- Grain: one row per measured run of an image model, in every release
-- Key: image_configuration_key
-- Reads: image_configuration, model_detail
-- Topic: Runs
-- Example: image_configuration_detail
--
-- What is known of each measured image run?
-- Everything, joined and named. Rows of older releases are here too: `where is_current` leaves the newest of
-- each. gpu_power_watts_each is derived, and says so in its comment.

create or replace view image_configuration_detail as
select
    task,
    model,
    gpu,
    joules_per_image,
    num_gpus,
    batch_size,
    batch_latency_s,
    image_height,
    image_width,
    inference_steps,
    images_per_second,
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
    image_configuration_key,
from image_configuration
join model_detail using (model_key);

comment on view image_configuration_detail is 'Everything about a measured run of an image model, in every release.';
comment on column image_configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
