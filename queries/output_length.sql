-- View: output_length
-- Grain: one row per current run with a published distribution of output lengths
-- Key: configuration_key
-- Reads: configuration_detail, output_length_bin
-- Topic: Runs
-- Example: output_length
--
-- How long were the outputs?
-- The mean is the run's own. Percentiles come from the published bins and are exact to a bin: at least that
-- share of the requests gave an output no longer than the figure, which is the bin's upper edge.

create or replace view output_length as
with counted as (
    select
        configuration_key,
        to_tokens,
        to_tokens - from_tokens as bin_tokens,
        sum(requests) over (partition by configuration_key) as all_requests,
        sum(requests) over (partition by configuration_key order by bin) as requests_so_far,
    from output_length_bin
),
length as (
    select
        configuration_key,
        cast(any_value(all_requests) as integer) as requests,
        min(to_tokens) filter (where requests_so_far >= 0.5 * all_requests) as p50_output_tokens,
        min(to_tokens) filter (where requests_so_far >= 0.9 * all_requests) as p90_output_tokens,
        min(to_tokens) filter (where requests_so_far >= 0.99 * all_requests) as p99_output_tokens,
        max(bin_tokens) as bin_tokens,
    from counted
    where all_requests > 0
    group by configuration_key
)
select
    configuration_detail.task,
    configuration_detail.model,
    configuration_detail.gpu,
    configuration_detail.num_gpus,
    configuration_detail.max_num_seqs,
    configuration_detail.avg_output_tokens,
    length.p50_output_tokens,
    length.p90_output_tokens,
    length.p99_output_tokens,
    length.bin_tokens,
    length.requests,
    configuration_detail.repeat,
    configuration_detail.joules_per_request,
    configuration_detail.configuration_key,
    configuration_detail.has_finding,
    configuration_detail.runs_left_out,
    configuration_detail.source,
    configuration_detail.data_version,
    configuration_detail.boundary,
    configuration_detail.licence,
from length
join configuration_detail on configuration_detail.configuration_key = length.configuration_key
where configuration_detail.is_current
order by
    configuration_detail.task,
    configuration_detail.model,
    configuration_detail.gpu,
    configuration_detail.num_gpus,
    configuration_detail.max_num_seqs,
    configuration_detail.repeat,
    configuration_detail.configuration_key;

comment on view output_length is 'Output lengths of each current run: mean, and percentiles exact to a bin.';
comment on column output_length.p50_output_tokens is 'Output length that half of the requests kept to, tokens: the upper edge of its bin, derived.';
comment on column output_length.p90_output_tokens is 'Output length that 90 % of the requests kept to, tokens: the upper edge of its bin, derived.';
comment on column output_length.p99_output_tokens is 'Output length that 99 % of the requests kept to, tokens: the upper edge of its bin, derived.';
comment on column output_length.bin_tokens is 'Width of the widest bin, tokens: how far above the true percentile a figure may lie.';
comment on column output_length.requests is 'Requests counted in the bins of the run.';
