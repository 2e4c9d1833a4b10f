-- Macro: energy_at
-- Grain: one row per serving setup
-- Key: task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel, other_parallel, precision
-- Reads: configuration_detail, build
-- Topic: Curves
-- Parameter: at_concurrency (DOUBLE, required): concurrency limit (max_num_seqs) to read the curves at
-- Example: energy_at --at-concurrency 100
-- Column: concurrency: Concurrency that the curves were read at, sequences.
-- Column: how: measured, interpolated, or that it lies outside the measured range.
-- Column: wh_per_million_output_tokens: Energy per million output tokens at this concurrency, Wh; NULL outside the measured range.
-- Column: joules_per_output_token: Energy per output token at this concurrency, J; NULL outside the measured range.
-- Column: lower_max_num_seqs: Nearest measured concurrency limit at or below, sequences.
-- Column: upper_max_num_seqs: Nearest measured concurrency limit at or above, sequences.
-- Column: lower_joules_per_output_token: Energy per output token there, J.
-- Column: upper_joules_per_output_token: Energy per output token there, J.
-- Column: has_finding: Whether a finding of data_quality touches the energy of a run at either neighbour.
--
-- What does a token need between two concurrencies?
-- Along each setup's own curve, between the two measured neighbours: linear in the logarithms of concurrency and
-- of energy per token, as curves are nearly straight there. Repeats are averaged. At a measured concurrency it
-- is the measured figure; outside the measured range it says so and gives no number. Runs without a limit
-- (max_num_seqs is NULL) have no place along the curve, and a setup of such runs alone has no row.
-- In an attached database, `use` it first.

create or replace macro energy_at(at_concurrency) as table
with point as (
    select
        task,
        model,
        gpu,
        boundary,
        source,
        num_gpus,
        tensor_parallel,
        data_parallel,
        expert_parallel,
        pipeline_parallel,
        other_parallel,
        precision,
        max_num_seqs,
        avg(joules_per_output_token) as joules,
        bool_or(has_finding) as has_finding,
        any_value(runs_left_out) as runs_left_out,
        any_value(data_version) as data_version,
        any_value(licence) as licence,
    from configuration_detail
    where is_current
        and max_num_seqs is not null
        and case when at_concurrency > 0 then true else error('at_concurrency: expected a number above 0') end
        -- Called by another database's name it would answer from the tables of the one in use.
        and case
            when 'any build' in ('any build', (select digest from build)) then true
            else error('energy_at: belongs to another database than the one in use: `use` that one first')
        end
    group by
        task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
        other_parallel, precision, max_num_seqs
),
neighbour as (
    select
        task,
        model,
        gpu,
        boundary,
        source,
        num_gpus,
        tensor_parallel,
        data_parallel,
        expert_parallel,
        pipeline_parallel,
        other_parallel,
        precision,
        max(max_num_seqs) filter (where max_num_seqs <= at_concurrency) as lower_max_num_seqs,
        min(max_num_seqs) filter (where max_num_seqs >= at_concurrency) as upper_max_num_seqs,
        arg_max(joules, max_num_seqs) filter (where max_num_seqs <= at_concurrency) as lower_joules,
        arg_min(joules, max_num_seqs) filter (where max_num_seqs >= at_concurrency) as upper_joules,
        arg_max(has_finding, max_num_seqs) filter (where max_num_seqs <= at_concurrency) as lower_has_finding,
        arg_min(has_finding, max_num_seqs) filter (where max_num_seqs >= at_concurrency) as upper_has_finding,
        any_value(runs_left_out) as runs_left_out,
        min(max_num_seqs) as least_max_num_seqs,
        max(max_num_seqs) as most_max_num_seqs,
        any_value(data_version) as data_version,
        any_value(licence) as licence,
    from point
    group by
        task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
        other_parallel, precision
),
read_off as (
    select
        *,
        case
            when lower_max_num_seqs = upper_max_num_seqs then lower_joules
            -- Rounding must not lead beyond the neighbours.
            when lower_max_num_seqs < upper_max_num_seqs then greatest(
                least(lower_joules, upper_joules),
                least(
                    greatest(lower_joules, upper_joules),
                    lower_joules * pow(
                        upper_joules / lower_joules,
                        ln(at_concurrency / lower_max_num_seqs) / ln(upper_max_num_seqs / lower_max_num_seqs)
                    )
                )
            )
        end as joules,
    from neighbour
)
select
    task,
    model,
    gpu,
    num_gpus,
    cast(at_concurrency as double) as concurrency,
    joules / 3600 * 1e6 as wh_per_million_output_tokens,
    joules as joules_per_output_token,
    case
        when joules is null then concat('not measured beyond ', least_max_num_seqs, ' to ', most_max_num_seqs)
        when lower_max_num_seqs = upper_max_num_seqs then 'measured'
        else 'interpolated'
    end as how,
    lower_max_num_seqs,
    upper_max_num_seqs,
    lower_joules as lower_joules_per_output_token,
    upper_joules as upper_joules_per_output_token,
    precision,
    tensor_parallel,
    data_parallel,
    expert_parallel,
    pipeline_parallel,
    other_parallel,
    coalesce(lower_has_finding, false) or coalesce(upper_has_finding, false) as has_finding,
    runs_left_out,
    source,
    data_version,
    boundary,
    licence,
from read_off
order by
    task, model, gpu, boundary, source, num_gpus, tensor_parallel, data_parallel, expert_parallel, pipeline_parallel,
    other_parallel, precision;

comment on macro table energy_at is 'Energy per token of each serving setup at any concurrency within its measured range. In an attached database, `use` it first.';
