-- View: run_mark
-- Grain: one row per measured run of any kind that is marked, in every release
-- Key: kind, run_key
-- Reads: measured_run, model_detail, data_quality, curve_point, withdrawn_run
-- Topic: Trust
-- Example: run_mark
--
-- Which runs are to be picked with care?
-- Those that a finding is about which touches their energy: a finding on a run marks that run, one on a model all of its
-- runs, one on a GPU those of the model on it, and one on a curve those of the curve. And those that their source
-- withdrew. What load works out once for the table marked_run, which picks and rankings read.

create or replace view run_mark as
with finding as materialized (
    select kind, run_key, model_key, gpu, check_name
    from data_quality
    where touches_energy
),
mark as (
    select kind, run_key, true as has_finding, false as is_withdrawn
    from finding
    where run_key is not null

    union all
    select measured_run.kind, measured_run.run_key, true, false
    from measured_run
    join finding
        on finding.model_key = measured_run.model_key
        and coalesce(finding.gpu, measured_run.gpu) = measured_run.gpu
    where finding.run_key is null and finding.check_name <> 'curve'

    union all
    select kind, run_key, true, false
    from curve_point
    where judgement = 'on an uneven curve'

    union all
    select kind, run_key, false, true
    from withdrawn_run
),
marked as (
    select kind, run_key, bool_or(has_finding) as has_finding, bool_or(is_withdrawn) as is_withdrawn
    from mark
    group by kind, run_key
)
select
    model_detail.task,
    model_detail.model,
    measured_run.gpu,
    measured_run.row_id,
    measured_run.repeat,
    marked.has_finding,
    marked.is_withdrawn,
    model_detail.document,
    model_detail.data_version,
    model_detail.boundary,
    model_detail.licence,
    marked.kind,
    marked.run_key,
    model_detail.model_key,
from marked
join measured_run on measured_run.kind = marked.kind and measured_run.run_key = marked.run_key
join model_detail on model_detail.model_key = measured_run.model_key
order by marked.kind, marked.run_key;

comment on view run_mark is 'Runs to be picked with care, and why: a finding touches their energy, or their source withdrew them.';
comment on column run_mark.gpu is 'GPU model of the run.';
comment on column run_mark.has_finding is 'Whether a finding of data_quality touches its energy.';
comment on column run_mark.is_withdrawn is 'Whether a newer complete release of its source no longer has it.';
comment on column run_mark.kind is 'What the run makes: text, image or video.';
comment on column run_mark.run_key is 'Key of the run in the table of its kind.';
