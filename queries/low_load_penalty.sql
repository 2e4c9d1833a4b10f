-- View: low_load_penalty
-- Grain: one row per run of a serving setup
-- Key: configuration_key
-- Reads: concurrency_curve
-- Topic: Curves
-- Example: low_load_penalty --model scout
--
-- What does low load cost; does batching still pay?
-- Energy per token at each concurrency against the least on the same curve, and what the last step up in
-- max_num_seqs still saved. A server that is used below its best concurrency needs that much more. A run without a
-- limit comes last of its curve, and is no step up.

create or replace view low_load_penalty as
select
    task,
    model,
    gpu,
    num_gpus,
    max_num_seqs,
    energy_ratio_to_best,
    wh_per_million_output_tokens,
    wh_per_million_output_tokens - wh_per_million_output_tokens / energy_ratio_to_best
        as extra_wh_per_million_output_tokens,
    1 - energy_ratio_to_next_smaller as saving_over_next_smaller,
    next_smaller_max_num_seqs,
    median_itl_ms,
    p99_itl_ms,
    repeat,
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
from concurrency_curve
order by
    task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
    other_parallel, precision, max_num_seqs, repeat, configuration_key;

comment on view low_load_penalty is 'What each concurrency costs against the best of its curve.';
comment on column low_load_penalty.extra_wh_per_million_output_tokens is 'Energy per million output tokens above the least on the curve, Wh, derived.';
comment on column low_load_penalty.saving_over_next_smaller is 'Share of energy saved against the next smaller max_num_seqs: where it nears 0, batching stops paying, derived.';
