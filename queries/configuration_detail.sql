-- View: configuration_detail
-- Grain: one row per measured run of a text model, in every release
-- Key: configuration_key
-- Reads: configuration, model_detail, marked_run
-- Topic: Runs
-- Example: configuration_detail --gpu B200
--
-- What is known of each measured run?
-- Everything, joined and named. Rows of older releases are here too: `where is_current`
-- leaves the newest of each. Three columns are derived, and say so in their comments. What is to be known of a run
-- before it is picked was worked out at load: has_finding, is_withdrawn.

create or replace view configuration_detail as
select
    model_detail.task,
    model_detail.model,
    configuration.gpu,
    configuration.wh_per_million_output_tokens,
    configuration.num_gpus,
    configuration.max_num_seqs,
    configuration.repeat,
    configuration.precision,
    configuration.median_itl_ms,
    configuration.p90_itl_ms,
    configuration.p95_itl_ms,
    configuration.p99_itl_ms,
    configuration.tokens_per_second,
    configuration.gpu_power_watts_total,
    configuration.gpu_power_watts_total / configuration.num_gpus as gpu_power_watts_each,
    configuration.joules_per_output_token,
    1 / configuration.joules_per_output_token as tokens_per_joule,
    configuration.joules_per_output_token * configuration.avg_output_tokens as joules_per_request,
    configuration.energy_per_request_joules,
    configuration.avg_output_tokens,
    configuration.avg_running_batch,
    configuration.avg_requests_in_flight,
    configuration.tensor_parallel,
    configuration.data_parallel,
    configuration.expert_parallel,
    configuration.pipeline_parallel,
    configuration.other_parallel,
    configuration.under_itl_deadline,
    model_detail.itl_deadline_ms,
    model_detail.is_current,
    coalesce(marked_run.is_withdrawn, false) as is_withdrawn,
    coalesce(marked_run.has_finding, false) as has_finding,
    model_detail.runs_left_out,
    model_detail.model_name,
    model_detail.model_id,
    model_detail.params_b,
    model_detail.active_params_b,
    model_detail.architecture,
    model_detail.source,
    model_detail.data_version,
    model_detail.boundary,
    model_detail.licence,
    model_detail.format,
    configuration.gpu_as_published,
    configuration.precision_as_published,
    configuration.row_id,
    model_detail.document,
    configuration.model_key,
    configuration.configuration_key,
from configuration
join model_detail on model_detail.model_key = configuration.model_key
-- Not with kind = 'text', as good: DuckDB 2.0 then forgets a limit on the answer where no run is marked.
left join marked_run on marked_run.kind = model_detail.kind and marked_run.run_key = configuration.configuration_key;

comment on view configuration_detail is 'Everything about a measured run of a text model, in every release.';
comment on column configuration_detail.is_withdrawn is 'Whether a newer complete release of its source no longer has the run.';
comment on column configuration_detail.gpu_power_watts_each is 'GPU power per GPU, W: gpu_power_watts_total / num_gpus, derived.';
comment on column configuration_detail.tokens_per_joule is 'Output tokens per joule of GPU energy: 1 / joules_per_output_token, derived.';
comment on column configuration_detail.joules_per_request is 'GPU energy per request, J: joules_per_output_token times avg_output_tokens, derived, not measured.';
