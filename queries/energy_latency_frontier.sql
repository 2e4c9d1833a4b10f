-- View: energy_latency_frontier
-- Grain: one row per percentile and run on the frontier
-- Key: percentile, configuration_key
-- Reads: configuration_detail
-- Topic: Trade-offs
-- Example: energy_latency_frontier --model scout
--
-- Which runs does none beat on energy and latency?
-- Of each task and model, on whatever GPU: to need less energy than such a run is to be slower, and to be quicker
-- is to need more. Once for the median inter-token latency and once for its 99th percentile: a run that lacks that
-- takes no part there. Runs that equal each other in both are both here.

create or replace view energy_latency_frontier as
with traded as (
    from configuration_detail
    unpivot (itl_ms for percentile in (median_itl_ms as 'median', p99_itl_ms as 'p99'))
    where is_current
)
select
    percentile,
    task,
    model,
    gpu,
    itl_ms,
    wh_per_million_output_tokens,
    num_gpus,
    max_num_seqs,
    precision,
    tokens_per_second,
    gpu_power_watts_total,
    joules_per_output_token,
    repeat,
    configuration_key,
    has_finding,
    runs_left_out,
    source,
    data_version,
    boundary,
    licence,
from traded
window
    as_quick as (partition by percentile, task, model, boundary, source order by itl_ms range unbounded preceding),
    quicker as (
        partition by percentile, task, model, boundary, source
        order by itl_ms
        groups between unbounded preceding and 1 preceding
    )
qualify joules_per_output_token <= min(joules_per_output_token) over as_quick
    and coalesce(joules_per_output_token < min(joules_per_output_token) over quicker, true)
order by task, model, boundary, source, percentile, itl_ms, joules_per_output_token, configuration_key;

comment on view energy_latency_frontier is 'Runs that no other run of the same task and model beats on both energy and latency.';
comment on column energy_latency_frontier.percentile is 'Which inter-token latency is traded: median or p99.';
comment on column energy_latency_frontier.itl_ms is 'That inter-token latency, ms.';
