-- View: task_ranking
-- Grain: one row per task, product and model
-- Key: task, boundary, source, product, model
-- Reads: best_pick, best_image_pick, best_video_pick, model_detail, release_detail, left_out
-- Topic: Picks
-- Filter: gpu: Places count over all GPUs: a model is listed under the GPU of its best pick alone.
-- Example: task_ranking --task lm-arena-chat
--
-- Which model needs the least energy on each task?
-- Each model by the best of its picks, on whatever GPU. Text, images and videos each have their own unit, and
-- images and videos of another size or length are another product: ranks count within a product. A place rests on all
-- models of the task: so what was left out at load is counted over the task.

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
rival as (
    select model_detail.source, model_detail.boundary, model_detail.task, model_detail.identity, release_detail.age,
    from model_detail
    join release_detail using (release_key)
    where model_detail.is_current
),
-- What was left out of a release that is older than all that a ranking rests on, or than its model's, is no matter.
loss as (
    select
        ranking.source, ranking.boundary, ranking.task,
        cast(sum(coalesce(left_out.runs, 1)) as integer) as runs,
    from (select source, boundary, task, min(age) as oldest from rival group by all) as ranking
    join left_out on coalesce(left_out.task, ranking.task) = ranking.task
    left join release_detail as lacking on lacking.release_key = left_out.release_key
    left join rival
        on rival.source = ranking.source
        and rival.boundary = ranking.boundary
        and rival.task = ranking.task
        and rival.identity = left_out.identity
    where left_out.release_key is null
        or (
            lacking.source = ranking.source
            and lacking.boundary = ranking.boundary
            and not lacking.is_dated_ahead
            and lacking.age >= ranking.oldest
            and lacking.age >= coalesce(rival.age, lacking.age)
        )
    group by all
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
    coalesce(loss.runs, 0) as runs_left_out,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from best
left join loss using (source, boundary, task)
order by task, boundary, source, product, place, model;

comment on view task_ranking is 'Each task''s models by the energy of their best pick.';
comment on column task_ranking.place is 'Place of the model within its source, task and product, on whatever GPU: 1 needs the least energy, equals share a place.';
comment on column task_ranking.task is 'Task (workload) that was run, by the publisher''s id.';
comment on column task_ranking.runs_left_out is 'Runs of the task, of whatever model, that could not be loaded, and were left out: 1 for each fault of which the number isn''t known, 0 where all were loaded.';
comment on column task_ranking.gpu is 'GPU model of the best pick.';
comment on column task_ranking.product is 'What the energy makes: ranks count within it.';
