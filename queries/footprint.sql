-- View: footprint
-- Grain: one row per scenario, task, model and GPU
-- Key: scenario, task, model, gpu, boundary, source
-- Reads: best_pick, scenario
-- Topic: Footprint
-- Example: footprint --model scout
--
-- What do a million tokens cost, also in gCO2e?
-- Each best pick in each scenario (data/scenarios.csv, or load --scenarios): GPU energy times the site's PUE, times
-- price and emissions per kWh. Every figure is a floor: host, network and idle time are not counted.

create or replace view footprint as
select
    best_pick.task,
    best_pick.model,
    best_pick.gpu,
    scenario.name as scenario,
    best_pick.wh_per_million_output_tokens * scenario.pue as floor_wh_per_million_output_tokens,
    best_pick.wh_per_million_output_tokens * scenario.pue / 1000 * scenario.price_per_kwh as floor_cost_per_million_output_tokens,
    scenario.currency,
    best_pick.wh_per_million_output_tokens * scenario.pue / 1000 * scenario.gco2e_per_kwh as floor_gco2e_per_million_output_tokens,
    best_pick.wh_per_million_output_tokens / 1000 * scenario.litres_per_kwh as floor_litres_per_million_output_tokens,
    best_pick.wh_per_million_output_tokens,
    scenario.pue,
    scenario.price_per_kwh,
    scenario.gco2e_per_kwh,
    scenario.litres_per_kwh,
    best_pick.num_gpus,
    best_pick.max_num_seqs,
    best_pick.precision,
    best_pick.avg_output_tokens,
    best_pick.joules_per_request,
    scenario.pue_source,
    scenario.price_source,
    scenario.gco2e_source,
    scenario.litres_source,
    best_pick.model_name,
    best_pick.configuration_key,
    best_pick.has_finding,
    best_pick.runs_left_out,
    best_pick.source,
    best_pick.data_version,
    best_pick.boundary,
    best_pick.licence,
from best_pick
cross join scenario
order by best_pick.task, best_pick.model, best_pick.gpu, best_pick.boundary, best_pick.source, scenario.name;

comment on view footprint is 'Energy with PUE, cost, emissions and water per million output tokens of each best pick, in each scenario: floors.';
comment on column footprint.scenario is 'Name of the scenario.';
comment on column footprint.floor_wh_per_million_output_tokens is 'GPU energy times PUE per million output tokens, Wh: a floor, host and idle time not counted, derived.';
comment on column footprint.floor_cost_per_million_output_tokens is 'Cost of that energy per million output tokens, in currency: a floor, derived; NULL where the price is not known.';
comment on column footprint.floor_gco2e_per_million_output_tokens is 'Emissions of that energy per million output tokens, g CO2-equivalent: a floor, derived; NULL where the grid''s figure is not known.';
comment on column footprint.floor_litres_per_million_output_tokens is 'Water for the GPU energy per million output tokens, litres: a floor, derived; NULL where the figure is not known.';
