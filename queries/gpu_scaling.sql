-- View: gpu_scaling
-- Grain: one row per task, model, GPU, precision, concurrency and number of GPUs, where fewer were measured too
-- Key: task, model, gpu, precision, boundary, source, max_num_seqs, num_gpus
-- Reads: configuration_detail
-- Topic: Trade-offs
-- Example: gpu_scaling --model scout
--
-- Do more GPUs help at the same concurrency?
-- Each number of GPUs against the next smaller one that was measured at the same max_num_seqs. Repeats, and runs
-- that split the model otherwise, are averaged first. Runs without a limit (max_num_seqs is NULL) take no part: nothing
-- says that they ran at the same concurrency.

create or replace view gpu_scaling as
with measured as (
    select
        task,
        model,
        gpu,
        precision,
        boundary,
        source,
        max_num_seqs,
        num_gpus,
        avg(joules_per_output_token) as joules_per_output_token,
        avg(wh_per_million_output_tokens) as wh_per_million_output_tokens,
        avg(tokens_per_second) as tokens_per_second,
        avg(median_itl_ms) as median_itl_ms,
        bool_or(has_finding) as has_finding,
        any_value(runs_left_out) as runs_left_out,
        any_value(data_version) as data_version,
        any_value(licence) as licence,
    from configuration_detail
    where is_current and max_num_seqs is not null
    group by task, model, gpu, precision, boundary, source, max_num_seqs, num_gpus
)
select
    task,
    model,
    gpu,
    max_num_seqs,
    lag(num_gpus) over fewer as fewer_num_gpus,
    num_gpus,
    joules_per_output_token / lag(joules_per_output_token) over fewer as energy_ratio,
    tokens_per_second / lag(tokens_per_second) over fewer as throughput_ratio,
    median_itl_ms / lag(median_itl_ms) over fewer as latency_ratio,
    tokens_per_second / lag(tokens_per_second) over fewer * lag(num_gpus) over fewer / num_gpus as scaling_efficiency,
    wh_per_million_output_tokens,
    tokens_per_second,
    median_itl_ms,
    precision,
    has_finding or lag(has_finding) over fewer as has_finding,
    runs_left_out,
    source,
    data_version,
    boundary,
    licence,
from measured
window fewer as (partition by task, model, gpu, precision, boundary, source, max_num_seqs order by num_gpus)
qualify fewer_num_gpus is not null
order by task, model, gpu, precision, boundary, source, num_gpus, max_num_seqs;

comment on view gpu_scaling is 'More GPUs against the next smaller number at the same concurrency.';
comment on column gpu_scaling.fewer_num_gpus is 'Next smaller number of GPUs measured at this concurrency.';
comment on column gpu_scaling.energy_ratio is 'Energy per output token over that on fewer GPUs: below 1, more GPUs need less, derived.';
comment on column gpu_scaling.throughput_ratio is 'Output throughput over that on fewer GPUs, derived.';
comment on column gpu_scaling.latency_ratio is 'Median inter-token latency over that on fewer GPUs: below 1 is quicker, derived.';
comment on column gpu_scaling.scaling_efficiency is 'Throughput per GPU over that on fewer GPUs: 1 is perfect, derived.';
comment on column gpu_scaling.has_finding is 'Whether a finding of data_quality touches the energy of a run on num_gpus or on fewer_num_gpus.';
comment on column gpu_scaling.wh_per_million_output_tokens is 'Energy per million output tokens on num_gpus, Wh, averaged over runs.';
comment on column gpu_scaling.tokens_per_second is 'Output throughput on num_gpus, tokens/s, averaged over runs.';
comment on column gpu_scaling.median_itl_ms is 'Median inter-token latency on num_gpus, ms, averaged over runs.';
