-- View: best_image_pick
-- Grain: one row per task, model, GPU and image size: image_height, image_width and inference_steps
-- Key: task, model, gpu, boundary, source, image_height, image_width, inference_steps
-- Reads: image_configuration_detail
-- Topic: Picks
-- Example: best_image_pick
--
-- Which run makes an image with the least energy?
-- Among the runs whose batch is done within 30 s, the publisher's own default deadline. Images of another
-- size or number of steps are another product, and picked by themselves. Ties go to the smaller num_gpus,
-- then batch_size, then repeat. No row: no run is within the deadline.

create or replace view best_image_pick as
with chosen as (
    select
        task,
        model,
        gpu,
        arg_min(
            image_configuration_key,
            row(joules_per_image, num_gpus, batch_size, repeat, image_configuration_key)
        ) as image_configuration_key,
    from image_configuration_detail
    where is_current and batch_latency_s <= 30
    group by task, model, gpu, boundary, source, image_height, image_width, inference_steps
)
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
    cast(30 as double) as batch_latency_deadline_s,
    images_per_second,
    gpu_power_watts_total,
    ulysses_degree,
    ring_degree,
    other_parallel,
    precision,
    repeat,
    image_configuration_key,
    has_finding,
    runs_left_out,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from image_configuration_detail
join chosen using (task, model, gpu, image_configuration_key)
order by task, model, gpu, boundary, source, image_height, image_width, inference_steps;

comment on view best_image_pick is 'Lowest-energy run per task, model, GPU and image size whose batch is done within 30 s.';
comment on column best_image_pick.batch_latency_deadline_s is 'Ceiling on batch_latency_s, s: the default of the publisher''s leaderboard.';
