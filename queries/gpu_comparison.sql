-- View: gpu_comparison
-- Grain: one row per percentile, budget, task, model and pair of GPUs
-- Key: percentile, budget_ms, task, model, gpu, other_gpu, boundary, source
-- Reads: pick_by_budget
-- Topic: Trade-offs
-- Example: gpu_comparison --model llama-3-1-70b
--
-- How do two GPUs compare at equal latency?
-- The same task and model on both, each by its pick within the same budget; only where both have one.

create or replace view gpu_comparison as
select
    one.percentile,
    one.budget_ms,
    one.task,
    one.model,
    one.gpu,
    other.gpu as other_gpu,
    one.joules_per_output_token / other.joules_per_output_token as energy_ratio,
    one.tokens_per_second / other.tokens_per_second as throughput_ratio,
    one.gpu_power_watts_total / other.gpu_power_watts_total as power_ratio,
    one.wh_per_million_output_tokens,
    other.wh_per_million_output_tokens as other_wh_per_million_output_tokens,
    one.num_gpus,
    other.num_gpus as other_num_gpus,
    one.max_num_seqs,
    other.max_num_seqs as other_max_num_seqs,
    one.has_finding or other.has_finding as has_finding,
    one.runs_left_out,
    one.source,
    one.data_version,
    one.boundary,
    one.licence,
from pick_by_budget as one
join pick_by_budget as other
    on other.percentile = one.percentile
    and other.budget_ms = one.budget_ms
    and other.task = one.task
    and other.model = one.model
    and other.boundary = one.boundary
    and other.source = one.source
where one.gpu < other.gpu and one.qualifies and other.qualifies
order by one.task, one.model, one.gpu, other.gpu, one.boundary, one.source, one.percentile, one.budget_ms;

comment on view gpu_comparison is 'The same model on two GPUs within the same latency budget.';
comment on column gpu_comparison.has_finding is 'Whether a finding of data_quality touches the energy of either run.';
comment on column gpu_comparison.other_gpu is 'GPU model that gpu is held against.';
comment on column gpu_comparison.energy_ratio is 'Energy per output token on gpu over that on other_gpu: below 1, gpu needs less, derived.';
comment on column gpu_comparison.throughput_ratio is 'Output throughput of the server on gpu over that on other_gpu, derived; num_gpus may differ.';
comment on column gpu_comparison.power_ratio is 'GPU power of the server on gpu over that on other_gpu, derived; num_gpus may differ.';
comment on column gpu_comparison.other_wh_per_million_output_tokens is 'Energy per million output tokens on other_gpu, Wh.';
comment on column gpu_comparison.other_num_gpus is 'GPUs of the pick on other_gpu.';
comment on column gpu_comparison.other_max_num_seqs is 'Concurrency limit of the pick on other_gpu, sequences.';
