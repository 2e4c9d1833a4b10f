-- View: request_energy
-- Grain: one row per scenario, task, model and GPU
-- Key: scenario, task, model, gpu, boundary
-- Reads: best_pick, scenario
-- Topic: Footprint
-- Example: request_energy --model scout
--
-- What does one request cost, also in gCO2e?
-- The same as footprint per request of the run's average output length. It is derived, J per token times tokens:
-- a request of another length needs another amount. Every figure is a floor.

create or replace view request_energy as
select
    best_pick.task,
    best_pick.model,
    best_pick.gpu,
    scenario.name as scenario,
    best_pick.joules_per_request / 3600 * scenario.pue as floor_wh_per_request,
    best_pick.joules_per_request / 3600 * scenario.pue / 1000 * scenario.price_per_kwh as floor_cost_per_request,
    scenario.currency,
    best_pick.joules_per_request / 3600 * scenario.pue / 1000 * scenario.gco2e_per_kwh as floor_gco2e_per_request,
    best_pick.joules_per_request / 3600 / 1000 * scenario.litres_per_kwh as floor_litres_per_request,
    best_pick.avg_output_tokens,
    best_pick.joules_per_request,
    scenario.pue,
    scenario.price_per_kwh,
    scenario.gco2e_per_kwh,
    scenario.litres_per_kwh,
    best_pick.num_gpus,
    best_pick.max_num_seqs,
    best_pick.precision,
    scenario.pue_source,
    scenario.price_source,
    scenario.gco2e_source,
    scenario.litres_source,
    best_pick.model_name,
    best_pick.configuration_key,
    best_pick.source,
    best_pick.data_version,
    best_pick.boundary,
    best_pick.licence,
from best_pick
cross join scenario
order by best_pick.task, best_pick.model, best_pick.gpu, best_pick.boundary, scenario.name;

comment on view request_energy is 'Energy with PUE, cost, emissions and water per request of each best pick, in each scenario: floors.';
comment on column request_energy.scenario is 'Name of the scenario.';
comment on column request_energy.floor_wh_per_request is 'GPU energy times PUE per request, Wh: a floor, host and idle time not counted, derived.';
comment on column request_energy.floor_cost_per_request is 'Cost of that energy per request, in currency: a floor, derived; NULL where the price is not known.';
comment on column request_energy.floor_gco2e_per_request is 'Emissions of that energy per request, g CO2-equivalent: a floor, derived; NULL where the grid''s figure is not known.';
comment on column request_energy.floor_litres_per_request is 'Water for the GPU energy per request, litres: a floor, derived; NULL where the figure is not known.';
