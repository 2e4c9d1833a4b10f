-- View: pick_by_budget
-- Grain: one row per percentile, budget, task, model and GPU
-- Key: percentile, budget_ms, task, model, gpu, boundary, source
-- Reads: configuration_detail
-- Topic: Picks
-- Example: pick_by_budget --gpu H100
--
-- Which run needs least within a latency budget?
-- A grid to filter by, for tools that see no macros: the median, p90, p95 or p99 inter-token latency within 25,
-- 50, 100, 250 or 500 ms. Where no run qualifies the row stays, `qualifies` is false and the figures are NULL.
-- A run that lacks the percentile never qualifies. Ties go as in best_pick; any other limit: the macro pick.

create or replace view pick_by_budget as
with latency as (
    from configuration_detail
    unpivot include nulls (
        itl_ms for percentile in (median_itl_ms as 'median', p90_itl_ms as 'p90', p95_itl_ms as 'p95', p99_itl_ms as 'p99')
    )
    where is_current
),
budget as (
    select cast(unnest([25, 50, 100, 250, 500]) as integer) as budget_ms
),
chosen as (
    select
        latency.percentile,
        budget.budget_ms,
        latency.task,
        latency.model,
        latency.gpu,
        any_value(latency.model_name) as model_name,
        any_value(latency.runs_left_out) as runs_left_out,
        latency.source,
        any_value(latency.data_version) as data_version,
        latency.boundary,
        any_value(latency.licence) as licence,
        arg_min(
            latency.configuration_key,
            row(
                latency.joules_per_output_token, latency.num_gpus, latency.max_num_seqs, latency.repeat,
                latency.configuration_key
            )
        ) filter (where latency.itl_ms <= budget.budget_ms) as configuration_key,
    from latency
    cross join budget
    group by
        latency.percentile, budget.budget_ms, latency.task, latency.model, latency.gpu, latency.boundary, latency.source
)
select
    chosen.percentile,
    chosen.budget_ms,
    chosen.task,
    chosen.model,
    chosen.gpu,
    chosen.configuration_key is not null as qualifies,
    run.wh_per_million_output_tokens,
    run.num_gpus,
    run.max_num_seqs,
    run.precision,
    run.median_itl_ms,
    run.p90_itl_ms,
    run.p95_itl_ms,
    run.p99_itl_ms,
    run.tokens_per_second,
    run.gpu_power_watts_total,
    run.joules_per_output_token,
    run.joules_per_request,
    run.avg_output_tokens,
    run.tensor_parallel,
    run.data_parallel,
    run.expert_parallel,
    run.pipeline_parallel,
    run.other_parallel,
    run.repeat,
    run.configuration_key,
    run.has_finding,
    chosen.runs_left_out,
    chosen.model_name,
    chosen.source,
    chosen.data_version,
    chosen.boundary,
    chosen.licence,
from chosen
left join configuration_detail as run
    on run.configuration_key = chosen.configuration_key and run.model = chosen.model
order by
    chosen.task, chosen.model, chosen.gpu, chosen.boundary, chosen.source, chosen.percentile, chosen.budget_ms;

comment on view pick_by_budget is 'Lowest-energy run per task, model and GPU for a grid of latency budgets; none qualifies included.';
comment on column pick_by_budget.percentile is 'Which inter-token latency the budget is for: median, p90, p95 or p99.';
comment on column pick_by_budget.budget_ms is 'Ceiling on that inter-token latency, ms.';
comment on column pick_by_budget.qualifies is 'Whether any run is within the budget; where none is, the figures are NULL.';
