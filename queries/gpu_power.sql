-- View: gpu_power
-- Grain: one row per current run
-- Key: configuration_key
-- Reads: configuration_detail, gpu
-- Topic: Curves
-- Example: gpu_power --gpu B200
--
-- How much power do the GPUs draw, of their rating?
-- Together, one by one, and as a share of the power that the vendor rates one GPU at. The share is NULL where the rated power isn't known.

create or replace view gpu_power as
select
    configuration_detail.task,
    configuration_detail.model,
    configuration_detail.gpu,
    configuration_detail.num_gpus,
    configuration_detail.max_num_seqs,
    configuration_detail.gpu_power_watts_total,
    configuration_detail.gpu_power_watts_each,
    configuration_detail.gpu_power_watts_each / gpu.rated_watts as share_of_rated_watts,
    gpu.rated_watts,
    configuration_detail.tokens_per_second,
    configuration_detail.wh_per_million_output_tokens,
    configuration_detail.precision,
    configuration_detail.repeat,
    gpu.facts_source,
    configuration_detail.configuration_key,
    configuration_detail.has_finding,
    configuration_detail.runs_left_out,
    configuration_detail.source,
    configuration_detail.data_version,
    configuration_detail.boundary,
    configuration_detail.licence,
from configuration_detail
join gpu on gpu.name = configuration_detail.gpu
where configuration_detail.is_current
order by task, model, gpu, num_gpus, max_num_seqs, repeat, configuration_key;

comment on view gpu_power is 'GPU power of each current run, against the rated power.';
comment on column gpu_power.share_of_rated_watts is 'gpu_power_watts_each / rated_watts, derived; NULL where the rated power is not known.';
