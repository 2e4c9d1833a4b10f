-- View: pick_by_budget
-- Grain: one row per percentile, budget, task, model and GPU
-- Key: percentile, budget_ms, task, model, gpu, boundary
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
    select 'median' as percentile, median_itl_ms as itl_ms, configuration_key
    from configuration_detail
    where is_current
    union all
    select 'p90', p90_itl_ms, configuration_key
    from configuration_detail
    where is_current
    union all
    select 'p95', p95_itl_ms, configuration_key
    from configuration_detail
    where is_current
    union all
    select 'p99', p99_itl_ms, configuration_key
    from configuration_detail
    where is_current
),
budget as (
    select cast(unnest([25, 50, 100, 250, 500]) as integer) as budget_ms
),
judged as (
    select
        latency.percentile,
        budget.budget_ms,
        configuration_detail.task,
        configuration_detail.model,
        configuration_detail.gpu,
        coalesce(latency.itl_ms <= budget.budget_ms, false) as qualifies,
        configuration_detail.wh_per_million_output_tokens,
        configuration_detail.num_gpus,
        configuration_detail.max_num_seqs,
        configuration_detail.precision,
        configuration_detail.median_itl_ms,
        configuration_detail.p90_itl_ms,
        configuration_detail.p95_itl_ms,
        configuration_detail.p99_itl_ms,
        configuration_detail.tokens_per_second,
        configuration_detail.gpu_power_watts_total,
        configuration_detail.joules_per_output_token,
        configuration_detail.joules_per_request,
        configuration_detail.avg_output_tokens,
        configuration_detail.tensor_parallel,
        configuration_detail.data_parallel,
        configuration_detail.expert_parallel,
        configuration_detail.repeat,
        configuration_detail.configuration_key,
        configuration_detail.model_name,
        configuration_detail.source,
        configuration_detail.data_version,
        configuration_detail.boundary,
        configuration_detail.licence,
    from configuration_detail
    join latency on latency.configuration_key = configuration_detail.configuration_key
    cross join budget
    qualify row_number() over (
        partition by
            latency.percentile,
            budget.budget_ms,
            configuration_detail.task,
            configuration_detail.model,
            configuration_detail.gpu,
            configuration_detail.boundary
        order by
            qualifies desc,
            configuration_detail.joules_per_output_token,
            configuration_detail.num_gpus,
            configuration_detail.max_num_seqs,
            configuration_detail.repeat,
            configuration_detail.configuration_key
    ) = 1
)
select
    percentile,
    budget_ms,
    task,
    model,
    gpu,
    qualifies,
    case when qualifies then wh_per_million_output_tokens end as wh_per_million_output_tokens,
    case when qualifies then num_gpus end as num_gpus,
    case when qualifies then max_num_seqs end as max_num_seqs,
    case when qualifies then precision end as precision,
    case when qualifies then median_itl_ms end as median_itl_ms,
    case when qualifies then p90_itl_ms end as p90_itl_ms,
    case when qualifies then p95_itl_ms end as p95_itl_ms,
    case when qualifies then p99_itl_ms end as p99_itl_ms,
    case when qualifies then tokens_per_second end as tokens_per_second,
    case when qualifies then gpu_power_watts_total end as gpu_power_watts_total,
    case when qualifies then joules_per_output_token end as joules_per_output_token,
    case when qualifies then joules_per_request end as joules_per_request,
    case when qualifies then avg_output_tokens end as avg_output_tokens,
    case when qualifies then tensor_parallel end as tensor_parallel,
    case when qualifies then data_parallel end as data_parallel,
    case when qualifies then expert_parallel end as expert_parallel,
    case when qualifies then repeat end as repeat,
    case when qualifies then configuration_key end as configuration_key,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from judged
order by task, model, gpu, boundary, percentile, budget_ms;

comment on view pick_by_budget is 'Lowest-energy run per task, model and GPU for a grid of latency budgets; none qualifies included.';
comment on column pick_by_budget.percentile is 'Which inter-token latency the budget is for: median, p90, p95 or p99.';
comment on column pick_by_budget.budget_ms is 'Ceiling on that inter-token latency, ms.';
comment on column pick_by_budget.qualifies is 'Whether any run is within the budget; where none is, the figures are NULL.';
