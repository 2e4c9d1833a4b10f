-- Macro: pick
-- Grain: one row per task, model and GPU
-- Key: task, model, gpu, boundary, source
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
-- Parameter: without_findings (BOOLEAN): true leaves out runs whose energy a finding of data_quality touches
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
-- that none has, no GPUs at all), the limit is named and no run. Ties go as in best_pick. What without_findings
-- leaves out is as if it had not been measured.
-- In an attached database, `use` it first.

create or replace macro pick(
    max_median_itl_ms := null,
    max_p90_itl_ms := null,
    max_p95_itl_ms := null,
    max_p99_itl_ms := null,
    min_tokens_per_second := null,
    max_gpu_power_watts_total := null,
    max_num_gpus := null,
    only_precision := null,
    without_findings := null
) as table
with judged as (
    select
        *,
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
        case
            when only_precision is null
                or regexp_replace(upper(precision), '[-._\s]+', '-', 'g')
                = regexp_replace(upper(trim(only_precision)), '[-._\s]+', '-', 'g') then 0
        end as only_precision_ratio,
        case
            when max_median_itl_ms_ratio + max_p90_itl_ms_ratio + max_p95_itl_ms_ratio + max_p99_itl_ms_ratio
                + min_tokens_per_second_ratio + max_gpu_power_watts_total_ratio + max_num_gpus_ratio + only_precision_ratio
                is not null
            then greatest(
                max_median_itl_ms_ratio, max_p90_itl_ms_ratio, max_p95_itl_ms_ratio, max_p99_itl_ms_ratio,
                min_tokens_per_second_ratio, max_gpu_power_watts_total_ratio, max_num_gpus_ratio
            )
        end as worst_ratio,
        coalesce(worst_ratio <= 1, false) as qualifies,
        case
            when worst_ratio = max_median_itl_ms_ratio then 'max_median_itl_ms'
            when worst_ratio = max_p90_itl_ms_ratio then 'max_p90_itl_ms'
            when worst_ratio = max_p95_itl_ms_ratio then 'max_p95_itl_ms'
            when worst_ratio = max_p99_itl_ms_ratio then 'max_p99_itl_ms'
            when worst_ratio = min_tokens_per_second_ratio then 'min_tokens_per_second'
            when worst_ratio = max_gpu_power_watts_total_ratio then 'max_gpu_power_watts_total'
            when worst_ratio = max_num_gpus_ratio then 'max_num_gpus'
        end as worst_limit,
    from configuration_detail
    where is_current
        and not (coalesce(without_findings, false) and has_finding)
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
        source,
        any_value(model_name) as model_name,
        any_value(runs_left_out) as runs_left_out,
        any_value(data_version) as data_version,
        any_value(licence) as licence,
        arg_min(
            {
                'configuration_key': configuration_key,
                'qualifies': qualifies,
                'row_id': row_id,
                'worst_ratio': worst_ratio,
                'worst_limit': worst_limit
            },
            row(
                not qualifies,
                case when qualifies then joules_per_output_token else worst_ratio end,
                joules_per_output_token, num_gpus, max_num_seqs, repeat, configuration_key
            )
        ) as nearest,
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
    group by task, model, gpu, boundary, source
)
select
    chosen.task,
    chosen.model,
    chosen.gpu,
    chosen.nearest.qualifies,
    run.wh_per_million_output_tokens,
    run.num_gpus,
    run.max_num_seqs,
    run.precision,
    run.median_itl_ms,
    run.p90_itl_ms,
    run.p95_itl_ms,
    run.p99_itl_ms,
    run.tokens_per_second,
    run.gpu_power_watts_total,
    run.joules_per_output_token,
    run.joules_per_request,
    run.avg_output_tokens,
    run.tensor_parallel,
    run.data_parallel,
    run.expert_parallel,
    run.pipeline_parallel,
    run.other_parallel,
    run.repeat,
    run.configuration_key,
    case when not nearest.qualifies and nearest.worst_ratio is not null then nearest.row_id end as nearest_row_id,
    case when not nearest.qualifies then coalesce(nearest.worst_limit, impossible_limit) end as nearest_limit,
    case when not nearest.qualifies then nearest.worst_ratio end as nearest_ratio,
    run.has_finding,
    chosen.runs_left_out,
    chosen.model_name,
    chosen.source,
    chosen.data_version,
    chosen.boundary,
    chosen.licence,
from chosen
left join configuration_detail as run
    on run.configuration_key = chosen.nearest.configuration_key
    and run.model = chosen.model
    and chosen.nearest.qualifies
order by chosen.task, chosen.model, chosen.gpu, chosen.boundary, chosen.source;

comment on macro table pick is 'Lowest-energy run per task, model and GPU within any limits; where none qualifies, the nearest. In an attached database, `use` it first.';
