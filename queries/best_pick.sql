-- View: best_pick
-- Grain: one row per task, model and GPU
-- Key: task, model, gpu, boundary, source
-- Reads: configuration_detail
-- Topic: Picks
-- Example: best_pick --task lm-arena-chat
--
-- Which run needs the least energy in time?
-- The published index: the run that needs the least energy per output token among those whose median
-- inter-token latency is within the release's deadline. Ties go to the smaller num_gpus, then
-- max_num_seqs, then repeat, so that a rebuild never changes a pick. No row: no run is within the deadline.

create or replace view best_pick as
-- Grouped by names too, so that a filter on them reaches here.
with chosen as (
    select
        task,
        model,
        gpu,
        arg_min(
            configuration_key,
            row(joules_per_output_token, num_gpus, max_num_seqs, repeat, configuration_key)
        ) as configuration_key,
    from configuration_detail
    where is_current and median_itl_ms <= itl_deadline_ms
    group by task, model, gpu, boundary, source
)
select
    task,
    model,
    gpu,
    wh_per_million_output_tokens,
    num_gpus,
    max_num_seqs,
    precision,
    median_itl_ms,
    p90_itl_ms,
    p95_itl_ms,
    p99_itl_ms,
    tokens_per_second,
    gpu_power_watts_total,
    joules_per_output_token,
    joules_per_request,
    avg_output_tokens,
    tensor_parallel,
    data_parallel,
    expert_parallel,
    pipeline_parallel,
    other_parallel,
    itl_deadline_ms,
    repeat,
    configuration_key,
    has_finding,
    runs_left_out,
    model_name,
    source,
    data_version,
    boundary,
    licence,
from configuration_detail
join chosen using (task, model, gpu, configuration_key)
order by task, model, gpu, boundary, source;

comment on view best_pick is 'Lowest-energy run per task, model and GPU within the deadline on the median inter-token latency.';
