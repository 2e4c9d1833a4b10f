-- View: repeat_spread
-- Grain: one row per setting that was run more than once
-- Key: task, model, gpu, boundary, source, num_gpus, max_num_seqs, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel, other_parallel, precision
-- Reads: configuration_detail
-- Topic: Runs
-- Example: repeat_spread
--
-- How far apart are runs that share every setting?
-- Measurements repeat only so well: a difference below this spread says little. A setting that was run once
-- has no row.

create or replace view repeat_spread as
select
    task,
    model,
    gpu,
    num_gpus,
    max_num_seqs,
    cast(count(*) as integer) as runs,
    max(joules_per_output_token) / min(joules_per_output_token) - 1 as energy_spread,
    max(median_itl_ms) / min(median_itl_ms) - 1 as latency_spread,
    max(tokens_per_second) / min(tokens_per_second) - 1 as throughput_spread,
    min(wh_per_million_output_tokens) as least_wh_per_million_output_tokens,
    max(wh_per_million_output_tokens) as most_wh_per_million_output_tokens,
    tensor_parallel,
    data_parallel,
    expert_parallel,
    pipeline_parallel,
    other_parallel,
    precision,
    bool_or(has_finding) as has_finding,
    any_value(runs_left_out) as runs_left_out,
    source,
    any_value(data_version) as data_version,
    boundary,
    any_value(licence) as licence,
from configuration_detail
where is_current
group by
    task, model, gpu, boundary, source, num_gpus, max_num_seqs, tensor_parallel, data_parallel, expert_parallel,
    pipeline_parallel, other_parallel, precision
having count(*) > 1
order by
    task, model, gpu, num_gpus, max_num_seqs, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
    other_parallel, precision, boundary, source;

comment on view repeat_spread is 'Runs that share every setting, and how far apart they are.';
comment on column repeat_spread.has_finding is 'Whether a finding of data_quality touches the energy of one of the runs.';
comment on column repeat_spread.runs is 'Runs that share the setting.';
comment on column repeat_spread.energy_spread is 'Largest over smallest energy per output token, less 1: 0.1 is 10 % apart, derived.';
comment on column repeat_spread.latency_spread is 'Largest over smallest median inter-token latency, less 1, derived.';
comment on column repeat_spread.throughput_spread is 'Largest over smallest output throughput, less 1, derived.';
comment on column repeat_spread.least_wh_per_million_output_tokens is 'Energy per million output tokens of the run that needs least, Wh.';
comment on column repeat_spread.most_wh_per_million_output_tokens is 'Energy per million output tokens of the run that needs most, Wh.';
