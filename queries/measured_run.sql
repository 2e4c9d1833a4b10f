-- View: measured_run
-- Grain: one row per measured run of any kind, in every release
-- Key: kind, run_key
-- Reads: configuration, image_configuration, video_configuration
-- Topic: Runs
-- Example: measured_run
--
-- Which runs are there, text, image and video alike?
-- What the three tables of runs have in common, so that counts and provenance leave none of them out.

create or replace view measured_run as
with run as (
    select 'text' as kind, configuration_key as run_key, * from configuration
    union all by name
    select 'image' as kind, image_configuration_key as run_key, * from image_configuration
    union all by name
    select 'video' as kind, video_configuration_key as run_key, * from video_configuration
)
select
    kind,
    run_key,
    model_key,
    gpu,
    num_gpus,
    precision,
    gpu_power_watts_total,
    row_id,
    repeat,
from run
-- Without an order, DuckDB 1.4 loses the rows of the last table where it reads with several threads.
order by kind, run_key;

comment on view measured_run is 'Every measured run, of text, image and video models alike.';
comment on column measured_run.kind is 'What the run makes: text, image or video.';
comment on column measured_run.run_key is 'Key of the run in the table of its kind.';
comment on column measured_run.gpu_power_watts_total is 'GPU power, summed over num_gpus, W.';
comment on column measured_run.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column measured_run.repeat is 'Ordinal among the runs of a model that share every setting.';
