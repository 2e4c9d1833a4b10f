-- View: measured_run
-- Grain: one row per measured run of any kind, in every release
-- Key: kind, run_key
-- Reads: configuration, image_configuration, video_configuration
-- Topic: Runs
-- Example: measured_run
--
-- Which runs are there, text, image and video alike?
-- What the three tables of runs have in common, so that counts and provenance leave none of them out. `setting` is all
-- of how it was run but for the GPU: runs of a model and GPU that share it are repeats.

create or replace view measured_run as
with run as (
    select
        'text' as kind,
        configuration_key as run_key,
        joules_per_output_token as joules,
        concat_ws(
            ', ',
            concat(num_gpus, ' GPUs'),
            concat('tensor_parallel ', tensor_parallel),
            concat('data_parallel ', data_parallel),
            concat('expert_parallel ', expert_parallel),
            concat('pipeline_parallel ', pipeline_parallel),
            other_parallel,
            precision,
            concat('max_num_seqs ', coalesce(cast(max_num_seqs as varchar), 'none'))
        ) as setting,
        *,
    from configuration

    union all by name
    select
        'image' as kind,
        image_configuration_key as run_key,
        joules_per_image as joules,
        concat_ws(
            ', ',
            concat(num_gpus, ' GPUs'),
            concat('ulysses_degree ', ulysses_degree),
            concat('ring_degree ', ring_degree),
            other_parallel,
            precision,
            concat('batch_size ', batch_size),
            concat(image_width, ' x ', image_height),
            concat(inference_steps, ' steps')
        ) as setting,
        *,
    from image_configuration

    union all by name
    select
        'video' as kind,
        video_configuration_key as run_key,
        joules_per_video as joules,
        concat_ws(
            ', ',
            concat(num_gpus, ' GPUs'),
            concat('ulysses_degree ', ulysses_degree),
            concat('ring_degree ', ring_degree),
            other_parallel,
            precision,
            concat('batch_size ', batch_size),
            concat(video_width, ' x ', video_height),
            concat(coalesce(cast(num_frames as varchar), 'unknown'), ' frames'),
            concat(coalesce(cast(fps as varchar), 'unknown'), ' fps'),
            concat(inference_steps, ' steps')
        ) as setting,
        *,
    from video_configuration
)
select
    kind,
    run_key,
    model_key,
    gpu,
    num_gpus,
    precision,
    gpu_power_watts_total,
    joules,
    setting,
    row_id,
    repeat,
from run
-- Without an order, DuckDB 1.4 loses the rows of the last table where it reads with several threads.
order by kind, run_key;

comment on view measured_run is 'Every measured run, of text, image and video models alike.';
comment on column measured_run.kind is 'What the run makes: text, image or video.';
comment on column measured_run.run_key is 'Key of the run in the table of its kind.';
comment on column measured_run.gpu_power_watts_total is 'GPU power, summed over num_gpus, W.';
comment on column measured_run.joules is 'GPU energy per output token, image or video, J.';
comment on column measured_run.setting is 'How it was run, in words: GPUs, parallel degrees, precision, and concurrency limit, or batch and product.';
comment on column measured_run.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column measured_run.repeat is 'Ordinal among the runs of a model that share every setting.';
