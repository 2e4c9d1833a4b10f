-- View: model_history
-- Grain: one row per task, model, GPU and release
-- Key: model_key, gpu
-- Reads: model_detail, measured_run, configuration_detail
-- Topic: Releases
-- Example: model_history
--
-- How did a model's figures move over the releases?
-- For a text model the lowest energy within the release's own deadline, over the same in the previous
-- release of the same source and format; for every model its parameters and how many runs it has.

create or replace view model_history as
with run_count as (
    select model_key, gpu, cast(count(*) as integer) as runs
    from measured_run
    group by model_key, gpu
),
least as (
    select
        model_key,
        gpu,
        min(joules_per_output_token) as joules_per_output_token,
        min(wh_per_million_output_tokens) as wh_per_million_output_tokens,
    from configuration_detail
    where median_itl_ms <= itl_deadline_ms
    group by model_key, gpu
)
select
    model_detail.task,
    model_detail.model,
    run_count.gpu,
    model_detail.compiled,
    model_detail.data_version,
    least.wh_per_million_output_tokens,
    least.joules_per_output_token / lag(least.joules_per_output_token) over history as energy_ratio_to_previous,
    run_count.runs,
    model_detail.params_b,
    model_detail.active_params_b,
    model_detail.is_current,
    model_detail.format,
    model_detail.version,
    model_detail.model_name,
    model_detail.source,
    model_detail.boundary,
    model_detail.licence,
    model_detail.model_key,
from model_detail
join run_count on run_count.model_key = model_detail.model_key
left join least on least.model_key = run_count.model_key and least.gpu = run_count.gpu
window history as (
    partition by model_detail.task, model_detail.model, run_count.gpu,
        model_detail.boundary, model_detail.source, model_detail.format
    order by model_detail.data_version, model_detail.compiled, model_detail.release_key
)
order by
    model_detail.task,
    model_detail.model,
    run_count.gpu,
    model_detail.boundary,
    model_detail.source,
    model_detail.format,
    model_detail.data_version,
    model_detail.model_key;

comment on view model_history is 'Each model''s best figure, parameters and runs, release by release.';
comment on column model_history.gpu is 'GPU model, as published.';
comment on column model_history.wh_per_million_output_tokens is 'Lowest energy per million output tokens within the release''s deadline, Wh; NULL for images and videos, and where no run is within it.';
comment on column model_history.energy_ratio_to_previous is 'Lowest energy per output token over that of the previous release of the same source and format: below 1 is a saving, derived.';
comment on column model_history.runs is 'Measured runs of the model on this GPU in the release.';
