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
    model_detail.task,
    model_detail.model,
    image_configuration.gpu,
    image_configuration.joules_per_image,
    image_configuration.num_gpus,
    image_configuration.batch_size,
    image_configuration.batch_latency_s,
    image_configuration.image_height,
    image_configuration.image_width,
    image_configuration.inference_steps,
    image_configuration.images_per_second,
    image_configuration.gpu_power_watts_total,
    image_configuration.gpu_power_watts_total / image_configuration.num_gpus as gpu_power_watts_each,
    image_configuration.ulysses_degree,
    image_configuration.ring_degree,
    image_configuration.precision,
    image_configuration.repeat,
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
    image_configuration.model_key,
    image_configuration.image_configuration_key,
from image_configuration
join model_detail on model_detail.model_key = image_configuration.model_key;

comment on view image_configuration_detail is 'Everything about a measured run of an image model, in every release.';
comment on column image_configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
