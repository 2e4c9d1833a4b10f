-- View: concurrency_curve
-- Grain: one row per run of a serving setup, repeats side by side
-- Key: configuration_key
-- Reads: configuration_detail
-- Topic: Curves
-- Example: concurrency_curve --model scout
--
-- How do energy and latency move with concurrency?
-- One curve for each serving setup (model, GPU, num_gpus, parallel degrees and precision), ordered by
-- max_num_seqs. Each run is held against the mean of the runs at the next smaller max_num_seqs, and against the
-- curve's own best. Runs without a limit (max_num_seqs is NULL) come last of their curve, and have no next smaller.

create or replace view concurrency_curve as
select
    task,
    model,
    gpu,
    num_gpus,
    max_num_seqs,
    wh_per_million_output_tokens,
    median_itl_ms,
    tokens_per_second,
    joules_per_output_token / min(joules_per_output_token) over curve as energy_ratio_to_best,
    repeat,
    case when max_num_seqs is not null then max(max_num_seqs) over next_smaller end as next_smaller_max_num_seqs,
    case when max_num_seqs is not null then joules_per_output_token / avg(joules_per_output_token) over next_smaller end
        as energy_ratio_to_next_smaller,
    case when max_num_seqs is not null then tokens_per_second / avg(tokens_per_second) over next_smaller end
        as throughput_ratio_to_next_smaller,
    p90_itl_ms,
    p95_itl_ms,
    p99_itl_ms,
    gpu_power_watts_total,
    avg_running_batch,
    joules_per_output_token,
    precision,
    tensor_parallel,
    data_parallel,
    expert_parallel,
    pipeline_parallel,
    other_parallel,
    configuration_key,
    has_finding,
    runs_left_out,
    source,
    data_version,
    boundary,
    licence,
from configuration_detail
where is_current
window
    curve as (
        partition by
            task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel,
            pipeline_parallel, other_parallel, precision
    ),
    next_smaller as (curve order by max_num_seqs groups between 1 preceding and 1 preceding)
order by
    task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
    other_parallel, precision, max_num_seqs, repeat, configuration_key;

comment on view concurrency_curve is 'Energy, throughput and latency of each serving setup over its concurrency.';
comment on column concurrency_curve.energy_ratio_to_best is 'Energy per output token over the lowest of the same curve: 1 at the best, derived.';
comment on column concurrency_curve.next_smaller_max_num_seqs is 'Next smaller concurrency limit measured on the same curve, sequences; NULL at the smallest, and where there is no limit.';
comment on column concurrency_curve.energy_ratio_to_next_smaller is 'Energy per output token over the mean at the next smaller max_num_seqs: below 1 is a saving, derived.';
comment on column concurrency_curve.throughput_ratio_to_next_smaller is 'Output throughput over the mean at the next smaller max_num_seqs: above 1 is a gain, derived.';
