-- View: best_video_pick
-- Grain: one row per task, model, GPU and video size: video_height, video_width, num_frames, fps and inference_steps
-- Key: task, model, gpu, boundary, source, video_height, video_width, num_frames, fps, inference_steps
-- Reads: video_configuration_detail
-- Topic: Picks
-- Example: best_video_pick
--
-- Which run makes a video with the least energy?
-- Among the runs whose batch is done within 300 s, the publisher's own default deadline. Videos of another
-- size, length or number of steps are another product, and picked by themselves. Ties go to the smaller num_gpus,
-- then batch_size, then repeat. No row: no run is within the deadline.

create or replace view best_video_pick as
with chosen as (
    select
        task,
        model,
        gpu,
        arg_min(
            video_configuration_key,
            row(joules_per_video, num_gpus, batch_size, repeat, video_configuration_key)
        ) as video_configuration_key,
    from video_configuration_detail
    where is_current and batch_latency_s <= 300
    group by task, model, gpu, boundary, source, video_height, video_width, num_frames, fps, inference_steps
)
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
    cast(300 as double) as batch_latency_deadline_s,
    videos_per_second,
    gpu_power_watts_total,
    ulysses_degree,
    ring_degree,
    other_parallel,
    precision,
    repeat,
    video_configuration_key,
    has_finding,
    runs_left_out,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from video_configuration_detail
join chosen using (task, model, gpu, video_configuration_key)
order by task, model, gpu, boundary, source, video_height, video_width, num_frames, fps, inference_steps;

comment on view best_video_pick is 'Lowest-energy run per task, model, GPU and video size whose batch is done within 300 s.';
comment on column best_video_pick.batch_latency_deadline_s is 'Ceiling on batch_latency_s, s: the default of the publisher''s leaderboard.';
