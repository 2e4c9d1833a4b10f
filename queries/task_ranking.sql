-- View: task_ranking
-- Grain: one row per task, product and model
-- Key: task, boundary, source, product, model
-- Reads: best_pick, best_image_pick, best_video_pick
-- Topic: Picks
-- Filter: gpu: Places count over all GPUs: a model is listed under the GPU of its best pick alone.
-- Example: task_ranking --task lm-arena-chat
--
-- Which model needs the least energy on each task?
-- Each model by the best of its picks, on whatever GPU. Text, images and videos each have their own unit, and
-- images and videos of another size or length are another product: ranks count within a product.

create or replace view task_ranking as
with pick as (
    select *, 'output tokens' as product, joules_per_output_token as joules,
    from best_pick

    union all by name
    select *, concat('images of ', image_width, ' x ', image_height) as product, joules_per_image as joules,
    from best_image_pick

    union all by name
    select
        *,
        concat(
            'videos of ', video_width, ' x ', video_height,
            ', ', coalesce(cast(num_frames as varchar), 'unknown'), ' frames',
            ' at ', coalesce(cast(fps as varchar), 'unknown'), ' fps'
        ) as product,
        joules_per_video as joules,
    from best_video_pick
),
best as (
    from pick
    qualify row_number() over (
        partition by task, boundary, source, product, model
        order by joules, num_gpus, gpu
    ) = 1
)
select
    task,
    cast(rank() over (partition by task, boundary, source, product order by joules) as integer) as place,
    model,
    wh_per_million_output_tokens,
    joules_per_image,
    joules_per_video,
    gpu,
    num_gpus,
    product,
    has_finding,
    runs_left_out,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from best
order by task, boundary, source, product, place, model;

comment on view task_ranking is 'Each task''s models by the energy of their best pick.';
comment on column task_ranking.place is 'Place of the model within its source, task and product, on whatever GPU: 1 needs the least energy, equals share a place.';
comment on column task_ranking.gpu is 'GPU model of the best pick.';
comment on column task_ranking.product is 'What the energy makes: ranks count within it.';
