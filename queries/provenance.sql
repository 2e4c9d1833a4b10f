-- View: provenance
-- Grain: one row per measured run of any kind, in every release
-- Key: kind, run_key
-- Reads: measured_run, model_detail
-- Topic: Trust
-- Example: provenance --model scout
--
-- Where is a number from, under which licence?
-- Source, release, document, licence and citation, the publisher's caveat, and the boundary of what was
-- measured.

create or replace view provenance as
select
    model_detail.task,
    model_detail.model,
    measured_run.gpu,
    measured_run.row_id,
    measured_run.repeat,
    model_detail.source,
    model_detail.data_version,
    model_detail.boundary,
    model_detail.licence,
    model_detail.caveat,
    model_detail.cite,
    model_detail.cite_url,
    model_detail.method,
    model_detail.selection,
    model_detail.publisher,
    model_detail.source_url,
    model_detail.data_url,
    model_detail.version,
    model_detail.released,
    model_detail.compiled,
    model_detail.retrieved,
    model_detail.format,
    model_detail.document,
    model_detail.sha256,
    model_detail.is_current,
    measured_run.kind,
    measured_run.run_key,
from measured_run
join model_detail on model_detail.model_key = measured_run.model_key;

comment on column provenance.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column provenance.kind is 'What the run makes: text, image or video.';
comment on view provenance is 'Source, licence, citation, caveat and boundary of every measured run.';
