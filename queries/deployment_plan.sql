-- Macro: deployment_plan
-- Grain: one row per task, model and GPU
-- Key: task, model, gpu, boundary, source
-- Reads: pick, scenario, build
-- Topic: Footprint
-- Parameter: demand_tokens_per_second (DOUBLE, required): output tokens per second to be served
-- Parameter: max_median_itl_ms (DOUBLE): ceiling on the median inter-token latency, ms
-- Parameter: max_p99_itl_ms (DOUBLE): ceiling on its 99th percentile, ms
-- Parameter: under_scenario (VARCHAR): scenario for PUE, price and emissions
-- Example: deployment_plan --demand-tokens-per-second 50000 --under-scenario us-average
-- Column: qualifies: Whether any run keeps the limits; where none does, there is no plan.
-- Column: replicas: Whole replicas of the run that the demand takes.
-- Column: gpus: GPUs of all replicas.
-- Column: gpu_watts: Power of all those GPUs, W: an upper bound, every replica at its full measured power.
-- Column: kwh_per_day: Energy a day, kWh, with the scenario's PUE: an upper bound for these GPUs, host and network on top.
-- Column: cost_per_month: Cost of that energy in 365 / 12 days, in currency; NULL without a price.
-- Column: kgco2e_per_month: Emissions of that energy in 365 / 12 days, kg CO2-equivalent; NULL without a grid's figure.
-- Column: last_replica_utilisation: Share of its throughput that the last replica is used at: 1 is full.
-- Column: tokens_per_second_each: Output throughput of one replica, tokens/s.
-- Column: num_gpus: GPUs of one replica.
-- Column: nearest_row_id: Where none qualifies: the publisher's name of the run that came nearest.
-- Column: nearest_limit: Where none qualifies: the limit that this run missed most, or the one that no run can keep.
-- Column: scenario: Name of the scenario; NULL without one.
--
-- What would it take to serve a demand?
-- The lowest-energy run within the limits, in whole replicas. A replica that isn't full counts at its full measured
-- power, so the totals are an upper bound on what the GPUs of these replicas draw; host and network come on top.
-- A month is 365 / 12 days. Without a scenario the energy is the GPUs' own, and there is no cost.
-- In an attached database, `use` it first.

create or replace macro deployment_plan(
    demand_tokens_per_second,
    max_median_itl_ms := null,
    max_p99_itl_ms := null,
    under_scenario := null
) as table
with plan as (
    select *, ceil(demand_tokens_per_second / tokens_per_second) as replica_count,
    from pick(max_median_itl_ms := max_median_itl_ms, max_p99_itl_ms := max_p99_itl_ms)
    -- In the filter, where they are looked at whichever columns are asked for.
    where
        case
            when demand_tokens_per_second > 0 then true
            else error('demand_tokens_per_second: expected a number above 0')
        end
        and case
            when under_scenario is null
                or regexp_replace(lower(trim(under_scenario)), '[-._\s]+', '-', 'g')
                in (select regexp_replace(lower(scenario.name), '[-._\s]+', '-', 'g') from scenario) then true
            else error(concat('under_scenario: expected the name of a scenario, got ', under_scenario))
        end
        -- Called by another database's name it would answer from the tables of the one in use.
        and case
            when 'any build' in ('any build', (select digest from build)) then true
            else error('deployment_plan: belongs to another database than the one in use: `use` that one first')
        end
)
select
    plan.task,
    plan.model,
    plan.gpu,
    plan.qualifies,
    cast(plan.replica_count as integer) as replicas,
    cast(plan.replica_count * plan.num_gpus as integer) as gpus,
    plan.replica_count * plan.gpu_power_watts_total as gpu_watts,
    plan.replica_count * plan.gpu_power_watts_total * coalesce(scenario.pue, 1) * 24 / 1000 as kwh_per_day,
    plan.replica_count * plan.gpu_power_watts_total * coalesce(scenario.pue, 1) * 24 / 1000 * 365 / 12 * scenario.price_per_kwh
        as cost_per_month,
    scenario.currency,
    plan.replica_count * plan.gpu_power_watts_total * coalesce(scenario.pue, 1) * 24 / 1000 * 365 / 12 * scenario.gco2e_per_kwh / 1000
        as kgco2e_per_month,
    demand_tokens_per_second / plan.tokens_per_second - (plan.replica_count - 1) as last_replica_utilisation,
    plan.tokens_per_second as tokens_per_second_each,
    plan.num_gpus,
    plan.max_num_seqs,
    plan.precision,
    plan.median_itl_ms,
    plan.p99_itl_ms,
    plan.wh_per_million_output_tokens,
    plan.nearest_row_id,
    plan.nearest_limit,
    plan.has_finding,
    plan.runs_left_out,
    scenario.name as scenario,
    scenario.pue,
    plan.source,
    plan.data_version,
    plan.boundary,
    plan.licence,
from plan
-- Of names alike but for case, '.', '-', '_' and blanks the one that is meant to the letter.
left join scenario on scenario.name = (
    select arg_min(named.name, row(named.name <> under_scenario, named.name))
    from scenario as named
    where regexp_replace(lower(named.name), '[-._\s]+', '-', 'g')
        = regexp_replace(lower(trim(under_scenario)), '[-._\s]+', '-', 'g')
)
order by plan.task, plan.model, plan.gpu, plan.boundary, plan.source;

comment on macro table deployment_plan is 'Replicas, GPUs, power, cost and emissions that it takes to serve a demand. In an attached database, `use` it first.';
