-- View: model_history
-- Grain: one row per task, model, GPU and release
-- Key: model_key, gpu
-- Reads: model_detail, measured_run, configuration_detail
-- Topic: Releases
-- Example: model_history
--
-- How did a model's figures move over the releases?
-- For a text model the lowest energy within the release's own deadline, over the same in the previous
-- release of the same source and format; for every model its parameters, how many runs it has, and how many of them
-- moved: their energy is further from that of the same setting in the previous release than runs of this setting are
-- apart in either, or than 10 % where it was run once in each. A setting that the previous release lacks hasn't moved.

create or replace view model_history as
with described as (
    select *, row_number() over (partition by release_key, identity order by model_key) as place,
    from model_detail
),
on_gpu as (
    select model_key, gpu, cast(count(*) as integer) as runs
    from measured_run
    group by model_key, gpu
),
history as (
    select
        described.*,
        on_gpu.gpu,
        on_gpu.runs,
        lag(described.model_key) over line as previous_model_key,
    from described
    join on_gpu on on_gpu.model_key = described.model_key
    window line as (
        partition by
            described.task, described.identity, described.place, on_gpu.gpu, described.boundary, described.source,
            described.format
        order by described.data_version, described.compiled, described.release_key
    )
),
repeated as (
    select
        model_key,
        gpu,
        setting,
        min(joules) as least_joules,
        max(joules) as most_joules,
        count(*) as runs,
    from measured_run
    where model_key in (
        select model_key from history where previous_model_key is not null
        union all
        select previous_model_key from history
    )
    group by model_key, gpu, setting
),
-- Each run against the nearest of the setting before: 1 where it lies among them.
ratio as (
    select
        history.model_key,
        history.gpu,
        measured_run.joules
            / least(greatest(measured_run.joules, before.least_joules), before.most_joules) as energy_ratio,
        greatest(energy_ratio, 1 / energy_ratio) as distance,
        case
            when now.runs > 1 or before.runs > 1
            then greatest(now.most_joules / now.least_joules, before.most_joules / before.least_joules)
            else 1.1
        end as most_distance,
    from history
    join repeated as before on before.model_key = history.previous_model_key and before.gpu = history.gpu
    join repeated as now
        on now.model_key = history.model_key and now.gpu = history.gpu and now.setting = before.setting
    join measured_run
        on measured_run.model_key = now.model_key
        and measured_run.gpu = now.gpu
        and measured_run.setting = now.setting
),
move as (
    select
        model_key,
        gpu,
        cast(count(*) filter (where distance > most_distance) as integer) as runs_moved,
        arg_max(energy_ratio, row(distance, energy_ratio)) as largest_move,
    from ratio
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
    history.task,
    history.model,
    history.gpu,
    history.compiled,
    history.data_version,
    least.wh_per_million_output_tokens,
    least.joules_per_output_token / previous.joules_per_output_token as energy_ratio_to_previous,
    history.runs,
    case when history.previous_model_key is not null then coalesce(move.runs_moved, 0) end as runs_moved,
    move.largest_move,
    history.params_b,
    history.active_params_b,
    history.is_current,
    history.is_withdrawn,
    history.format,
    history.version,
    history.runs_left_out,
    history.model_name,
    history.source,
    history.boundary,
    history.licence,
    history.model_key,
from history
left join least on least.model_key = history.model_key and least.gpu = history.gpu
left join least as previous on previous.model_key = history.previous_model_key and previous.gpu = history.gpu
left join move on move.model_key = history.model_key and move.gpu = history.gpu
order by
    history.task,
    history.model,
    history.gpu,
    history.boundary,
    history.source,
    history.format,
    history.data_version,
    history.model_key;

comment on view model_history is 'Each model''s best figure, parameters and runs, release by release.';
comment on column model_history.gpu is 'GPU model, as published.';
comment on column model_history.wh_per_million_output_tokens is 'Lowest energy per million output tokens within the release''s deadline, Wh; NULL for images and videos, and where no run is within it.';
comment on column model_history.energy_ratio_to_previous is 'Lowest energy per output token over that of the previous release of the same source and format: below 1 is a saving, derived.';
comment on column model_history.runs_moved is 'Runs whose energy differs from the same setting in the previous release by more than repeats do; NULL without one.';
comment on column model_history.largest_move is 'Energy of a run over that of the same setting in the previous release: the ratio farthest from 1, derived.';
comment on column model_history.is_withdrawn is 'Whether a newer complete release of its source no longer has the model, or the task.';
comment on column model_history.runs is 'Measured runs of the model on this GPU in the release.';
