-- View: data_quality
-- Grain: one row per finding
-- Key: model_key, gpu, kind, run_key, check_name, expected
-- Reads: configuration, image_configuration, video_configuration, measured_run, model, model_detail, release, task, published_pick, gpu
-- Topic: Trust
-- Example: data_quality
--
-- What in the data can't be right?
-- Rules of physics and of the publication that every run must keep, held against each run of each release. Empty on good data. `tolerance` is what rounding in the documents
-- explains, in the unit of the value; NULL where the rule is exact.

create or replace view data_quality as
with judged as (
    -- Every rule that a run of a text model keeps by itself, true where a value that it needs is absent.
    select
        configuration_key,
        num_gpus,
        tensor_parallel,
        data_parallel,
        expert_parallel,
        precision,
        max_num_seqs,
        avg_requests_in_flight,
        avg_running_batch,
        wh_per_million_output_tokens,
        joules_per_output_token,
        median_itl_ms,
        p90_itl_ms,
        p95_itl_ms,
        p99_itl_ms,
        tokens_per_second,
        gpu_power_watts_total,
        avg_output_tokens,
        under_itl_deadline,
        itl_deadline_ms,
        row_id,
        coalesce(
            abs(wh_per_million_output_tokens - joules_per_output_token / 3600 * 1e6) <= 0.01, true
        ) as keeps_wh,
        joules_per_output_token * tokens_per_second as watts,
        abs(gpu_power_watts_total - watts) <= greatest(1, 0.001 * watts) as keeps_watts,
        median_itl_ms <= p90_itl_ms
            and p90_itl_ms <= least(p95_itl_ms, p99_itl_ms)
            and coalesce(p95_itl_ms <= p99_itl_ms, true) as keeps_itl_order,
        -- Where the rounded median equals the deadline, the unrounded one may lie on either side.
        coalesce(
            under_itl_deadline = (median_itl_ms <= itl_deadline_ms) or median_itl_ms = itl_deadline_ms, true
        ) as keeps_deadline,
        coalesce(avg_running_batch = avg_requests_in_flight, true) as keeps_batch,
        -- The servers were kept busy: seen, a limit 1.2 times the observed concurrency at the most.
        coalesce(avg_requests_in_flight <= max_num_seqs, true) as keeps_limit,
        coalesce(max_num_seqs <= 10 * avg_requests_in_flight, true) as keeps_busy,
        -- Expert parallelism splits the same GPUs again where attention is copied: then it equals num_gpus.
        cast(tensor_parallel as double) * data_parallel * expert_parallel = num_gpus
            or (cast(tensor_parallel as double) * data_parallel = num_gpus and expert_parallel = num_gpus) as keeps_num_gpus,
        concat_ws('/', slug, gpu, num_gpus, coalesce(cast(max_num_seqs as varchar), 'none')) as named_row_id,
        row_id = named_row_id as keeps_row_id,
        -- Seen: 118 times at the most. This catches tails in microseconds.
        p99_itl_ms <= 500 * median_itl_ms as keeps_tail,
        -- Seen: 213 to 11,861.
        avg_output_tokens between 2 and 200000 as keeps_output,
        precision in ('BF16', 'FP8', 'MXFP4') as keeps_precision,
        -- Sequences in the batch each gain a token in one inter-token latency: this catches slips of 1000.
        tokens_per_second * median_itl_ms / 1000 / avg_requests_in_flight between 0.05 and 1.5 as keeps_throughput,
    from configuration
    join model on model.model_key = configuration.model_key
    join release on release.release_key = model.release_key
),
suspect as materialized (
    from judged
    where not (
        keeps_wh and keeps_watts and keeps_itl_order and keeps_deadline and keeps_batch and keeps_limit and keeps_busy
        and keeps_num_gpus and keeps_row_id and keeps_tail and keeps_output and keeps_precision and keeps_throughput
    )
),
summary as materialized (
    select
        configuration.model_key,
        configuration.gpu,
        count(*) as runs,
        count(p95_itl_ms) as runs_with_p95,
        count(avg_running_batch) as runs_with_batch,
        min(joules_per_output_token) filter (where median_itl_ms <= itl_deadline_ms) as least_joules,
    from configuration
    join model on model.model_key = configuration.model_key
    join release on release.release_key = model.release_key
    group by configuration.model_key, configuration.gpu
),
-- Fields that came late to the format are in all runs of a document or in none.
late as (
    select
        model_key,
        sum(runs_with_p95) between 1 and sum(runs) - 1 as lacks_p95,
        sum(runs_with_batch) between 1 and sum(runs) - 1 as lacks_batch,
    from summary
    group by model_key
    having lacks_p95 or lacks_batch
),
broken as (
    select
        configuration_key,
        unnest([
            {
                'keeps': keeps_wh,
                'check_name': 'wh_per_million_output_tokens',
                'expected': cast(joules_per_output_token / 3600 * 1e6 as varchar),
                'found': cast(wh_per_million_output_tokens as varchar),
                'tolerance': cast(0.01 as double)
            },
            {
                'keeps': keeps_watts,
                'check_name': 'gpu_power_watts_total',
                'expected': cast(watts as varchar),
                'found': cast(gpu_power_watts_total as varchar),
                'tolerance': greatest(1, 0.001 * watts)
            },
            {
                'keeps': keeps_itl_order,
                'check_name': 'itl_order',
                'expected': 'median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms',
                'found': concat_ws(', ', median_itl_ms, p90_itl_ms, p95_itl_ms, p99_itl_ms),
                'tolerance': null
            },
            {
                'keeps': keeps_deadline,
                'check_name': 'under_itl_deadline',
                'expected': cast(median_itl_ms <= itl_deadline_ms as varchar),
                'found': cast(under_itl_deadline as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_batch,
                'check_name': 'avg_running_batch',
                'expected': 'avg_requests_in_flight: ' || avg_requests_in_flight,
                'found': cast(avg_running_batch as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_limit,
                'check_name': 'max_num_seqs',
                'expected': 'at least avg_requests_in_flight: ' || avg_requests_in_flight,
                'found': cast(max_num_seqs as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_busy,
                'check_name': 'max_num_seqs',
                'expected': 'at most 10 x avg_requests_in_flight: ' || 10 * avg_requests_in_flight,
                'found': cast(max_num_seqs as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_num_gpus,
                'check_name': 'num_gpus',
                'expected': 'tensor_parallel x data_parallel x expert_parallel: '
                    || concat_ws(' x ', tensor_parallel, data_parallel, expert_parallel),
                'found': cast(num_gpus as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_row_id,
                'check_name': 'row_id',
                'expected': named_row_id,
                'found': row_id,
                'tolerance': null
            },
            {
                'keeps': keeps_tail,
                'check_name': 'p99_itl_ms',
                'expected': 'at most 500 x median_itl_ms: ' || 500 * median_itl_ms,
                'found': cast(p99_itl_ms as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_output,
                'check_name': 'avg_output_tokens',
                'expected': '2 to 200000 tokens',
                'found': cast(avg_output_tokens as varchar),
                'tolerance': null
            },
            {
                'keeps': keeps_precision,
                'check_name': 'precision',
                'expected': 'BF16, FP8 or MXFP4',
                'found': precision,
                'tolerance': null
            },
            {
                'keeps': keeps_throughput,
                'check_name': 'tokens_per_second',
                'expected': '0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: '
                    || avg_requests_in_flight / median_itl_ms * 1000,
                'found': cast(tokens_per_second as varchar),
                'tolerance': null
            }
        ], recursive := true),
    from suspect
),
finding as (
    select configuration_key, check_name, expected, found, tolerance,
    from broken
    where not keeps

    union all
    select
        configuration.configuration_key,
        'p95_itl_ms',
        'a value, as other runs of this document have one',
        'NULL',
        null,
    from configuration
    join late on late.model_key = configuration.model_key
    where late.lacks_p95 and configuration.p95_itl_ms is null

    union all
    select
        configuration.configuration_key,
        'avg_running_batch',
        'a value, as other runs of this document have one',
        'NULL',
        null,
    from configuration
    join late on late.model_key = configuration.model_key
    where late.lacks_batch and configuration.avg_running_batch is null

    union all
    -- No run comes twice, so a gap is a repeat without the one before it.
    select
        run.configuration_key,
        'repeat',
        'a run of the same gpu, num_gpus and max_num_seqs with repeat ' || run.repeat - 1,
        cast(run.repeat as varchar),
        null,
    from configuration as run
    anti join configuration as before
        on before.model_key = run.model_key
        and before.gpu = run.gpu
        and before.num_gpus = run.num_gpus
        and before.max_num_seqs is not distinct from run.max_num_seqs
        and before.repeat = run.repeat - 1
    where run.repeat > 1
),
-- What image and video runs have in common.
batch_run as (
    select
        'image' as kind,
        image_configuration_key as run_key,
        model_key,
        gpu,
        repeat,
        num_gpus,
        ulysses_degree,
        ring_degree,
        batch_size / batch_latency_s as batch_rate,
        'images_per_second' as rate_name,
        images_per_second as rate,
        joules_per_image * images_per_second as watts,
        gpu_power_watts_total,
    from image_configuration
    union all
    select
        'video',
        video_configuration_key,
        model_key,
        gpu,
        repeat,
        num_gpus,
        ulysses_degree,
        ring_degree,
        batch_size / batch_latency_s,
        'videos_per_second',
        videos_per_second,
        joules_per_video * videos_per_second,
        gpu_power_watts_total,
    from video_configuration
),
broken_batch_run as (
    select
        kind,
        run_key,
        model_key,
        gpu,
        repeat,
        unnest([
            {
                'keeps': abs(gpu_power_watts_total - watts) <= 1e-6 * watts,
                'check_name': 'gpu_power_watts_total',
                'expected': cast(watts as varchar),
                'found': cast(gpu_power_watts_total as varchar),
                'tolerance': 1e-6 * watts
            },
            {
                'keeps': abs(rate - batch_rate) <= 1e-6 * batch_rate,
                'check_name': rate_name,
                'expected': cast(batch_rate as varchar),
                'found': cast(rate as varchar),
                'tolerance': 1e-6 * batch_rate
            },
            {
                'keeps': cast(ulysses_degree as double) * ring_degree = num_gpus,
                'check_name': 'num_gpus',
                'expected': 'ulysses_degree x ring_degree: ' || concat_ws(' x ', ulysses_degree, ring_degree),
                'found': cast(num_gpus as varchar),
                'tolerance': null
            }
        ], recursive := true),
    from batch_run
),
broken_model as (
    select
        model_key,
        kind,
        unnest([
            {
                'keeps': active_params_b <= params_b,
                'check_name': 'active_params_b',
                'expected': 'at most params_b: ' || params_b,
                'found': cast(active_params_b as varchar)
            },
            {
                'keeps': coalesce(not (architecture = 'Dense Transformer' and active_params_b < params_b), true),
                'check_name': 'architecture',
                'expected': 'a model with all parameters active, or another architecture than Dense Transformer',
                'found': active_params_b || ' of ' || params_b || ' billion active in a ' || architecture
            },
            {
                'keeps': coalesce(not (architecture = 'MoE' and active_params_b = params_b), true),
                'check_name': 'architecture',
                'expected': 'a model with some parameters active, or another architecture than MoE',
                'found': active_params_b || ' of ' || params_b || ' billion active in an ' || architecture
            },
            {
                'keeps': params_b between 0.01 and 10000,
                'check_name': 'params_b',
                'expected': '0.01 to 10000 billions',
                'found': cast(params_b as varchar)
            },
            -- Where the name tells a size it is the total or the active one, rounded.
            {
                'keeps': coalesce(
                    named_params_b / params_b between 0.5 and 2 or named_params_b / active_params_b between 0.5 and 2, true
                ),
                'check_name': 'params_b',
                'expected': 'a size near that of the name: ' || named_size || ' billion',
                'found': params_b || ' and ' || active_params_b || ' active'
            },
            {
                'keeps': coalesce(
                    not (
                        released > compiled or compiled > retrieved or retrieved > updated or compiled > data_version
                    ),
                    true
                ),
                'check_name': 'dates',
                'expected': 'released <= compiled <= retrieved <= updated, compiled <= data_version',
                'found': concat_ws(', ', released, compiled, retrieved, updated, data_version)
            }
        ], recursive := true),
    from (
        select
            model.model_key,
            task.kind,
            model.params_b,
            model.active_params_b,
            model.architecture,
            regexp_extract(model.name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as named_size,
            try_cast(named_size as double) as named_params_b,
            release.released,
            release.compiled,
            release.retrieved,
            release.updated,
            release.data_version,
        from model
        join release on release.release_key = model.release_key
        join task on task.id = release.task
    )
),
published as (
    select
        published_pick.model_key,
        published_pick.gpu,
        configuration.configuration_key,
        configuration.row_id,
        configuration.repeat,
        configuration.joules_per_output_token,
        configuration.median_itl_ms > release.itl_deadline_ms as is_late,
    from published_pick
    join configuration on configuration.configuration_key = published_pick.configuration_key
    join model on model.model_key = published_pick.model_key
    join release on release.release_key = model.release_key
),
whole as (
    select
        'text' as kind,
        configuration.model_key,
        configuration.gpu,
        finding.configuration_key as run_key,
        configuration.row_id,
        configuration.repeat,
        finding.check_name,
        finding.expected,
        finding.found,
        finding.tolerance,
    from finding
    join configuration on configuration.configuration_key = finding.configuration_key

    union all
    select kind, model_key, gpu, run_key, null, repeat, check_name, expected, found, tolerance,
    from broken_batch_run
    where not keeps

    union all
    select kind, model_key, null, null, null, null, check_name, expected, found, null,
    from broken_model
    where not keeps

    union all
    -- Seen: 0.20 to 0.99 of the rating. This catches a server's power given for one GPU, and the other way about.
    select
        measured_run.kind,
        measured_run.model_key,
        measured_run.gpu,
        measured_run.run_key,
        measured_run.row_id,
        measured_run.repeat,
        'gpu_power_watts_total',
        concat('0.1 to 1.1 of rated_watts x num_gpus: ', gpu.rated_watts * measured_run.num_gpus),
        cast(measured_run.gpu_power_watts_total as varchar),
        null,
    from measured_run
    join gpu on gpu.name = measured_run.gpu
    where measured_run.gpu_power_watts_total / measured_run.num_gpus / gpu.rated_watts not between 0.1 and 1.1

    union all
    select
        'text',
        coalesce(published.model_key, summary.model_key),
        coalesce(published.gpu, summary.gpu),
        published.configuration_key,
        published.row_id,
        published.repeat,
        'published_pick',
        coalesce('joules_per_output_token ' || summary.least_joules, 'no pick within the deadline'),
        coalesce('joules_per_output_token ' || published.joules_per_output_token, 'no pick'),
        null,
    from published
    full join (
        -- Only documents publish picks.
        select summary.model_key, summary.gpu, summary.least_joules
        from summary
        join model on model.model_key = summary.model_key
        join release on release.release_key = model.release_key
        where release.format = 'model_document'
    ) as summary on summary.model_key = published.model_key and summary.gpu = published.gpu
    where summary.least_joules is distinct from published.joules_per_output_token or published.is_late
)
select
    model_detail.task,
    model_detail.model,
    whole.gpu,
    whole.check_name,
    whole.expected,
    whole.found,
    whole.tolerance,
    whole.row_id,
    whole.repeat,
    model_detail.document,
    model_detail.data_version,
    whole.kind,
    whole.run_key,
    model_detail.model_key,
from whole
join model_detail on model_detail.model_key = whole.model_key
order by model_detail.task, model_detail.model, model_detail.document, whole.gpu, whole.run_key, whole.check_name;

comment on view data_quality is 'Findings: what in the data cannot be right. Empty on good data.';
comment on column data_quality.gpu is 'GPU model of the run; NULL where the model itself is meant.';
comment on column data_quality.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column data_quality.repeat is 'Ordinal among the runs of a model that share every setting.';
comment on column data_quality.kind is 'What the task makes: text, image or video.';
comment on column data_quality.run_key is 'Key of the run in the table of its kind.';
comment on column data_quality.check_name is 'Rule that is broken, named for the column at fault.';
comment on column data_quality.expected is 'What the rule calls for.';
comment on column data_quality.found is 'What the document says.';
comment on column data_quality.tolerance is 'Difference that rounding in the documents explains, in the unit of the value; NULL where the rule is exact.';
