-- View: precision_comparison
-- Grain: one row per task, model in BF16, GPU and other precision
-- Key: task, model, gpu, boundary, source, other_precision, other_model
-- Reads: best_pick, configuration_detail, model_detail
-- Topic: Trade-offs
-- Example: precision_comparison --gpu B200
--
-- Does a smaller weight format need less energy?
-- The best pick of a model in BF16 against that of the same model in another format: the same slug but for a final
-- -fp8 or whatever the other's precision is, by whichever maker, and the same number of parameters. The answer isn't always what one expects, as num_gpus and max_num_seqs may differ
-- as well; so the two are also held against each other at the largest concurrency that both were measured at.

create or replace view precision_comparison as
with described as (
    select
        best_pick.*,
        configuration_detail.params_b,
        model_detail.slug,
        concat('-', lower(regexp_replace(best_pick.precision, '[^A-Za-z0-9]+', '-', 'g'))) as ending,
        concat('-', lower(regexp_replace(configuration_detail.precision_as_published, '[^A-Za-z0-9]+', '-', 'g')))
            as ending_as_published,
        case
            when ending_as_published <> '-' and ends_with(lower(model_detail.slug), ending_as_published)
            then left(model_detail.slug, -length(ending_as_published))
            when ends_with(lower(model_detail.slug), ending) then left(model_detail.slug, -length(ending))
            else model_detail.slug
        end as base_slug,
    from best_pick
    join configuration_detail using (configuration_key)
    join model_detail using (model_key)
),
concurrency as (
    select task, model, gpu, boundary, source, max_num_seqs, avg(joules_per_output_token) as joules_per_output_token
    from configuration_detail
    where is_current and max_num_seqs is not null
    group by task, model, gpu, boundary, source, max_num_seqs
),
shared as (
    select
        one.task,
        one.gpu,
        one.boundary,
        one.source,
        one.model,
        other.model as other_model,
        max(one.max_num_seqs) as shared_max_num_seqs,
        arg_max(other.joules_per_output_token / one.joules_per_output_token, one.max_num_seqs)
            as energy_ratio_at_shared_max_num_seqs,
    from concurrency as one
    join concurrency as other
        on other.task = one.task
        and other.gpu = one.gpu
        and other.boundary = one.boundary
        and other.source = one.source
        and other.max_num_seqs = one.max_num_seqs
    group by one.task, one.gpu, one.boundary, one.source, one.model, other.model
)
select
    full_width.task,
    full_width.model,
    full_width.gpu,
    other.precision as other_precision,
    other.joules_per_output_token / full_width.joules_per_output_token as energy_ratio,
    full_width.num_gpus,
    other.num_gpus as other_num_gpus,
    full_width.max_num_seqs,
    other.max_num_seqs as other_max_num_seqs,
    shared.energy_ratio_at_shared_max_num_seqs,
    shared.shared_max_num_seqs,
    full_width.wh_per_million_output_tokens,
    other.wh_per_million_output_tokens as other_wh_per_million_output_tokens,
    full_width.precision,
    other.model as other_model,
    full_width.params_b,
    full_width.has_finding or other.has_finding as has_finding,
    full_width.runs_left_out + other.runs_left_out as runs_left_out,
    full_width.source,
    full_width.data_version,
    full_width.boundary,
    full_width.licence,
from described as full_width
join described as other
    on other.task = full_width.task
    and other.base_slug = full_width.base_slug
    and other.gpu = full_width.gpu
    and other.boundary = full_width.boundary
    and other.source = full_width.source
    and other.params_b = full_width.params_b
left join shared
    on shared.task = full_width.task
    and shared.gpu = full_width.gpu
    and shared.boundary = full_width.boundary
    and shared.source = full_width.source
    and shared.model = full_width.model
    and shared.other_model = other.model
where full_width.precision = 'BF16' and other.precision <> 'BF16'
order by
    full_width.task, full_width.model, full_width.gpu, full_width.boundary, full_width.source, other.precision, other.model;

comment on view precision_comparison is 'The best pick of a model in BF16 against that of the same model in a smaller format.';
comment on column precision_comparison.has_finding is 'Whether a finding of data_quality touches the energy of either run.';
comment on column precision_comparison.runs_left_out is 'Runs of both models that could not be loaded, and were left out.';
comment on column precision_comparison.energy_ratio is 'Energy per output token in the other precision over that in BF16: below 1, the other needs less, derived.';
comment on column precision_comparison.other_precision is 'Weight format that BF16 is held against.';
comment on column precision_comparison.other_wh_per_million_output_tokens is 'Energy per million output tokens in the other precision, Wh.';
comment on column precision_comparison.other_num_gpus is 'GPUs of the pick in the other precision.';
comment on column precision_comparison.other_model is 'Model in the other precision, named as model is.';
comment on column precision_comparison.other_max_num_seqs is 'Concurrency limit of the pick in the other precision, sequences.';
comment on column precision_comparison.energy_ratio_at_shared_max_num_seqs is 'The same ratio at shared_max_num_seqs, averaged over setups and repeats: at equal concurrency, derived.';
comment on column precision_comparison.shared_max_num_seqs is 'Largest concurrency limit that both were measured at, sequences; NULL where there is none.';
