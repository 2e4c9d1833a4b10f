-- View: architecture_comparison
-- Grain: one row per task, model and GPU
-- Key: task, model, gpu, boundary, source
-- Reads: best_pick, configuration_detail
-- Topic: Trade-offs
-- Example: architecture_comparison --task lm-arena-chat
--
-- How do dense, MoE and hybrid models compare?
-- Each model's best pick, and its energy per billion active parameters: what a model is made of explains only a
-- part of what it needs.

create or replace view architecture_comparison as
select
    best_pick.task,
    configuration_detail.architecture,
    best_pick.model,
    best_pick.gpu,
    best_pick.wh_per_million_output_tokens,
    configuration_detail.active_params_b,
    best_pick.wh_per_million_output_tokens / configuration_detail.active_params_b as wh_per_million_output_tokens_per_active_b,
    configuration_detail.params_b,
    configuration_detail.active_params_b / configuration_detail.params_b as active_share,
    best_pick.num_gpus,
    best_pick.precision,
    best_pick.has_finding,
    best_pick.runs_left_out,
    best_pick.model_name,
    best_pick.source,
    best_pick.data_version,
    best_pick.boundary,
    best_pick.licence,
from best_pick
join configuration_detail using (configuration_key)
order by
    best_pick.task, configuration_detail.architecture, best_pick.gpu, wh_per_million_output_tokens_per_active_b,
    best_pick.model, best_pick.boundary, best_pick.source;

comment on view architecture_comparison is 'Best picks by architecture, and their energy per active parameter.';
comment on column architecture_comparison.wh_per_million_output_tokens_per_active_b is 'Energy per million output tokens over active parameters, Wh per billion, derived.';
comment on column architecture_comparison.active_share is 'Active over total parameters: 1 for dense models, derived.';
