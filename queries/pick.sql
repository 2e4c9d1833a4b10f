-- Macro: pick
-- Grain: one row per task, model and GPU
-- Key: task, model, gpu, boundary
-- Reads: configuration_detail, build
-- Topic: Picks
-- Parameter: max_median_itl_ms (DOUBLE): ceiling on the median inter-token latency, ms
-- Parameter: max_p90_itl_ms (DOUBLE): ceiling on its 90th percentile, ms
-- Parameter: max_p95_itl_ms (DOUBLE): ceiling on its 95th percentile, ms
-- Parameter: max_p99_itl_ms (DOUBLE): ceiling on its 99th percentile, ms
-- Parameter: min_tokens_per_second (DOUBLE): floor under the whole server's output throughput, tokens/s
-- Parameter: max_gpu_power_watts_total (DOUBLE): ceiling on the power of all its GPUs, W
-- Parameter: max_num_gpus (INTEGER): ceiling on the number of GPUs
-- Parameter: only_precision (VARCHAR): weight format, BF16, FP8 or MXFP4
-- Example: pick --max-p99-itl-ms 100
-- Column: qualifies: Whether any run keeps every limit; where none does, the figures are NULL.
-- Column: nearest_row_id: Where none qualifies: the publisher's name of the run that came nearest.
-- Column: nearest_limit: Where none qualifies: the limit that this run missed most, or the one that no run can keep.
-- Column: nearest_ratio: Where none qualifies: by how much it missed it, 1.1 is 10 %, derived.
--
-- Which run needs the least energy within my limits?
-- The lowest-energy current run that keeps every limit given, any of them together; the release's own deadline
-- plays no part. Where none qualifies the row stays: `qualifies` is false, the figures are NULL, and the run
-- that came nearest (whose worst ratio to a limit is the smallest) is named with the limit that it missed most.
-- A run that lacks a limited value never qualifies. Where no run can keep a limit, be it ever so near (a precision
-- that none has, no GPUs at all), the limit is named and no run. Ties go as in best_pick.
-- In an attached database, `use` it first.

create or replace macro pick(
    max_median_itl_ms := null,
    max_p90_itl_ms := null,
    max_p95_itl_ms := null,
    max_p99_itl_ms := null,
    min_tokens_per_second := null,
    max_gpu_power_watts_total := null,
    max_num_gpus := null,
    only_precision := null
) as table
with judged as (
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
        repeat,
        configuration_key,
        model_key,
        row_id,
        model_name,
        source,
        data_version,
        boundary,
        licence,
        -- How far a run is from each limit: 1 keeps it just so. NULL where it never can, whatever the size of the miss:
        -- it lacks the value, has another precision, or there is no keeping such a limit.
        case when max_median_itl_ms is null then 0 when max_median_itl_ms > 0 then median_itl_ms / max_median_itl_ms end as max_median_itl_ms_ratio,
        case when max_p90_itl_ms is null then 0 when max_p90_itl_ms > 0 then p90_itl_ms / max_p90_itl_ms end as max_p90_itl_ms_ratio,
        case when max_p95_itl_ms is null then 0 when max_p95_itl_ms > 0 then p95_itl_ms / max_p95_itl_ms end as max_p95_itl_ms_ratio,
        case when max_p99_itl_ms is null then 0 when max_p99_itl_ms > 0 then p99_itl_ms / max_p99_itl_ms end as max_p99_itl_ms_ratio,
        case
            when min_tokens_per_second is null then 0
            when min_tokens_per_second < cast('infinity' as double) then min_tokens_per_second / tokens_per_second
        end as min_tokens_per_second_ratio,
        case when max_gpu_power_watts_total is null then 0 when max_gpu_power_watts_total > 0 then gpu_power_watts_total / max_gpu_power_watts_total end as max_gpu_power_watts_total_ratio,
        case when max_num_gpus is null then 0 when max_num_gpus > 0 then num_gpus / max_num_gpus end as max_num_gpus_ratio,
        case when only_precision is null or precision = upper(only_precision) then 0 end as only_precision_ratio,
        true
        and coalesce(max_median_itl_ms is null or median_itl_ms <= max_median_itl_ms, false)
        and coalesce(max_p90_itl_ms is null or p90_itl_ms <= max_p90_itl_ms, false)
        and coalesce(max_p95_itl_ms is null or p95_itl_ms <= max_p95_itl_ms, false)
        and coalesce(max_p99_itl_ms is null or p99_itl_ms <= max_p99_itl_ms, false)
        and coalesce(min_tokens_per_second is null or tokens_per_second >= min_tokens_per_second, false)
        and coalesce(max_gpu_power_watts_total is null or gpu_power_watts_total <= max_gpu_power_watts_total, false)
        and coalesce(max_num_gpus is null or num_gpus <= max_num_gpus, false)
        and (only_precision is null or precision = upper(only_precision)) as qualifies,
        -- What the least is sought of: energy among those that qualify, else the worst of the ratios, if all are known.
        case
            when qualifies then joules_per_output_token
            when max_median_itl_ms_ratio + max_p90_itl_ms_ratio + max_p95_itl_ms_ratio + max_p99_itl_ms_ratio
                + min_tokens_per_second_ratio + max_gpu_power_watts_total_ratio + max_num_gpus_ratio + only_precision_ratio
                is not null
            then greatest(
                max_median_itl_ms_ratio, max_p90_itl_ms_ratio, max_p95_itl_ms_ratio, max_p99_itl_ms_ratio,
                min_tokens_per_second_ratio, max_gpu_power_watts_total_ratio, max_num_gpus_ratio
            )
        end as measure,
    from configuration_detail
    where is_current
        -- Called by another database's name it would answer from the tables of the one in use.
        and case
            when 'any build' in ('any build', (select digest from build)) then true
            else error('pick: belongs to another database than the one in use: `use` that one first')
        end
),
chosen as (
    select
        task,
        model,
        gpu,
        boundary,
        arg_min(
            judged,
            row(not qualifies, measure, joules_per_output_token, num_gpus, max_num_seqs, repeat, configuration_key)
        ) as run,
        case
            when max(only_precision_ratio) is null then 'only_precision'
            when max(max_median_itl_ms_ratio) is null then 'max_median_itl_ms'
            when max(max_p90_itl_ms_ratio) is null then 'max_p90_itl_ms'
            when max(max_p95_itl_ms_ratio) is null then 'max_p95_itl_ms'
            when max(max_p99_itl_ms_ratio) is null then 'max_p99_itl_ms'
            when max(min_tokens_per_second_ratio) is null then 'min_tokens_per_second'
            when max(max_gpu_power_watts_total_ratio) is null then 'max_gpu_power_watts_total'
            when max(max_num_gpus_ratio) is null then 'max_num_gpus'
        end as impossible_limit,
    from judged
    group by task, model, gpu, boundary
)
select
    task,
    model,
    gpu,
    run.qualifies,
    case when run.qualifies then run.wh_per_million_output_tokens end as wh_per_million_output_tokens,
    case when run.qualifies then run.num_gpus end as num_gpus,
    case when run.qualifies then run.max_num_seqs end as max_num_seqs,
    case when run.qualifies then run.precision end as precision,
    case when run.qualifies then run.median_itl_ms end as median_itl_ms,
    case when run.qualifies then run.p90_itl_ms end as p90_itl_ms,
    case when run.qualifies then run.p95_itl_ms end as p95_itl_ms,
    case when run.qualifies then run.p99_itl_ms end as p99_itl_ms,
    case when run.qualifies then run.tokens_per_second end as tokens_per_second,
    case when run.qualifies then run.gpu_power_watts_total end as gpu_power_watts_total,
    case when run.qualifies then run.joules_per_output_token end as joules_per_output_token,
    case when run.qualifies then run.joules_per_request end as joules_per_request,
    case when run.qualifies then run.avg_output_tokens end as avg_output_tokens,
    case when run.qualifies then run.tensor_parallel end as tensor_parallel,
    case when run.qualifies then run.data_parallel end as data_parallel,
    case when run.qualifies then run.expert_parallel end as expert_parallel,
    case when run.qualifies then run.repeat end as repeat,
    case when run.qualifies then run.configuration_key end as configuration_key,
    case when not run.qualifies and run.measure is not null then run.row_id end as nearest_row_id,
    case
        when run.qualifies then null
        when run.measure is null then impossible_limit
        when run.measure = run.max_median_itl_ms_ratio then 'max_median_itl_ms'
        when run.measure = run.max_p90_itl_ms_ratio then 'max_p90_itl_ms'
        when run.measure = run.max_p95_itl_ms_ratio then 'max_p95_itl_ms'
        when run.measure = run.max_p99_itl_ms_ratio then 'max_p99_itl_ms'
        when run.measure = run.min_tokens_per_second_ratio then 'min_tokens_per_second'
        when run.measure = run.max_gpu_power_watts_total_ratio then 'max_gpu_power_watts_total'
        when run.measure = run.max_num_gpus_ratio then 'max_num_gpus'
    end as nearest_limit,
    case when not run.qualifies then run.measure end as nearest_ratio,
    run.model_name,
    run.source,
    run.data_version,
    boundary,
    run.licence,
from chosen
order by task, model, gpu, boundary;

comment on macro table pick is 'Lowest-energy run per task, model and GPU within any limits; where none qualifies, the nearest. In an attached database, `use` it first.';
