-- View: request_energy
-- Grain: one row per scenario, task, model and GPU
-- Key: scenario, task, model, gpu, boundary, source
-- Reads: footprint
-- Topic: Footprint
-- Example: request_energy --model scout
--
-- What does one request cost, also in gCO2e?
-- The same as footprint per request of the run's average output length. It is derived, J per token times tokens:
-- a request of another length needs another amount. Every figure is a floor.

create or replace view request_energy as
select
    task,
    model,
    gpu,
    scenario,
    joules_per_request / 3600 * pue as floor_wh_per_request,
    joules_per_request / 3600 * pue / 1000 * price_per_kwh as floor_cost_per_request,
    currency,
    joules_per_request / 3600 * pue / 1000 * gco2e_per_kwh as floor_gco2e_per_request,
    joules_per_request / 3600 / 1000 * litres_per_kwh as floor_litres_per_request,
    avg_output_tokens,
    joules_per_request,
    pue,
    price_per_kwh,
    gco2e_per_kwh,
    litres_per_kwh,
    num_gpus,
    max_num_seqs,
    precision,
    pue_source,
    price_source,
    gco2e_source,
    litres_source,
    model_name,
    configuration_key,
    has_finding,
    runs_left_out,
    source,
    data_version,
    boundary,
    licence,
from footprint
order by task, model, gpu, boundary, source, scenario;

comment on view request_energy is 'Energy with PUE, cost, emissions and water per request of each best pick, in each scenario: floors.';
comment on column request_energy.floor_wh_per_request is 'GPU energy times PUE per request, Wh: a floor, host and idle time not counted, derived.';
comment on column request_energy.floor_cost_per_request is 'Cost of that energy per request, in currency: a floor, derived; NULL where the price is not known.';
comment on column request_energy.floor_gco2e_per_request is 'Emissions of that energy per request, g CO2-equivalent: a floor, derived; NULL where the grid''s figure is not known.';
comment on column request_energy.floor_litres_per_request is 'Water for the GPU energy per request, litres: a floor, derived; NULL where the figure is not known.';
