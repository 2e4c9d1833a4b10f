-- View: provenance
-- Grain: one row per measured run, in every release
-- Key: configuration_key
-- Reads: configuration, model_detail
--
-- Where does a number come from, and under which licence?
-- Source, release, document, licence and citation, the publisher's caveat, and the boundary of what was
-- measured.

create or replace view provenance as
select
    model_detail.task,
    model_detail.model,
    configuration.gpu,
    configuration.row_id,
    configuration.repeat,
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
    configuration.configuration_key,
from configuration
join model_detail on model_detail.model_key = configuration.model_key;

comment on view provenance is 'Source, licence, citation, caveat and boundary of every measured run.';
