-- View: data_quality
-- Grain: one row per finding
-- Key: model_key, gpu, kind, run_key, check_name, expected
-- Reads: configuration, model, release, image_configuration_detail, video_configuration_detail, measured_run, model_detail, published_pick, gpu
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
            and p90_itl_ms <= coalesce(p95_itl_ms, p90_itl_ms)
            and coalesce(p95_itl_ms, p90_itl_ms) <= p99_itl_ms as keeps_itl_order,
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
finding as (
    select
        configuration_key,
        'wh_per_million_output_tokens' as check_name,
        cast(joules_per_output_token / 3600 * 1e6 as varchar) as expected,
        cast(wh_per_million_output_tokens as varchar) as found,
        0.01 as tolerance,
    from suspect
    where not keeps_wh

    union all
    select
        configuration_key,
        'gpu_power_watts_total',
        cast(watts as varchar),
        cast(gpu_power_watts_total as varchar),
        greatest(1, 0.001 * watts),
    from suspect
    where not keeps_watts

    union all
    select
        configuration_key,
        'itl_order',
        'median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms',
        concat_ws(', ', median_itl_ms, p90_itl_ms, p95_itl_ms, p99_itl_ms),
        null,
    from suspect
    where not keeps_itl_order

    union all
    select
        configuration_key,
        'under_itl_deadline',
        cast(median_itl_ms <= itl_deadline_ms as varchar),
        cast(under_itl_deadline as varchar),
        null,
    from suspect
    where not keeps_deadline

    union all
    select
        configuration_key,
        'avg_running_batch',
        'avg_requests_in_flight: ' || avg_requests_in_flight,
        cast(avg_running_batch as varchar),
        null,
    from suspect
    where not keeps_batch

    union all
    select
        configuration_key,
        'max_num_seqs',
        'at least avg_requests_in_flight: ' || avg_requests_in_flight,
        cast(max_num_seqs as varchar),
        null,
    from suspect
    where not keeps_limit

    union all
    select
        configuration_key,
        'max_num_seqs',
        'at most 10 x avg_requests_in_flight: ' || 10 * avg_requests_in_flight,
        cast(max_num_seqs as varchar),
        null,
    from suspect
    where not keeps_busy

    union all
    select
        configuration_key,
        'num_gpus',
        'tensor_parallel x data_parallel x expert_parallel: '
        || concat_ws(' x ', tensor_parallel, data_parallel, expert_parallel),
        cast(num_gpus as varchar),
        null,
    from suspect
    where not keeps_num_gpus

    union all
    select configuration_key, 'row_id', named_row_id, row_id, null,
    from suspect
    where not keeps_row_id

    union all
    select
        configuration_key,
        'p99_itl_ms',
        'at most 500 x median_itl_ms: ' || 500 * median_itl_ms,
        cast(p99_itl_ms as varchar),
        null,
    from suspect
    where not keeps_tail

    union all
    select configuration_key, 'avg_output_tokens', '2 to 200000 tokens', cast(avg_output_tokens as varchar), null,
    from suspect
    where not keeps_output

    union all
    select configuration_key, 'precision', 'BF16, FP8 or MXFP4', precision, null,
    from suspect
    where not keeps_precision

    union all
    select
        configuration_key,
        'tokens_per_second',
        '0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: '
        || avg_requests_in_flight / median_itl_ms * 1000,
        cast(tokens_per_second as varchar),
        null,
    from suspect
    where not keeps_throughput

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
power_finding as (
    -- Seen: 0.20 to 0.99 of the rating. This catches a server's power given for one GPU, and the other way about.
    select
        measured_run.kind,
        measured_run.run_key,
        measured_run.model_key,
        measured_run.gpu,
        measured_run.row_id,
        measured_run.repeat,
        'gpu_power_watts_total' as check_name,
        concat('0.1 to 1.1 of rated_watts x num_gpus: ', gpu.rated_watts * measured_run.num_gpus) as expected,
        cast(measured_run.gpu_power_watts_total as varchar) as found,
    from measured_run
    join gpu on gpu.name = measured_run.gpu
    where measured_run.gpu_power_watts_total / measured_run.num_gpus / gpu.rated_watts not between 0.1 and 1.1
),
model_finding as (
    select
        model_key,
        'active_params_b' as check_name,
        'at most params_b: ' || params_b as expected,
        cast(active_params_b as varchar) as found,
    from model_detail
    where active_params_b > params_b

    union all
    select
        model_key,
        'architecture',
        'a model with all parameters active, or another architecture than Dense Transformer',
        active_params_b || ' of ' || params_b || ' billion active in a ' || architecture,
    from model_detail
    where architecture = 'Dense Transformer' and active_params_b < params_b

    union all
    select
        model_key,
        'architecture',
        'a model with some parameters active, or another architecture than MoE',
        active_params_b || ' of ' || params_b || ' billion active in an ' || architecture,
    from model_detail
    where architecture = 'MoE' and active_params_b = params_b

    union all
    select
        model_key,
        'params_b',
        '0.01 to 10000 billions',
        cast(params_b as varchar),
    from model_detail
    where params_b not between 0.01 and 10000

    union all
    -- Where the name tells a size it is the total or the active one, rounded.
    select
        model_key,
        'params_b',
        'a size near that of the name: ' || regexp_extract(model_name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) || ' billion',
        params_b || ' and ' || active_params_b || ' active',
    from model_detail
    where try_cast(regexp_extract(model_name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as double) is not null
        and cast(regexp_extract(model_name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as double) / params_b not between 0.5 and 2
        and cast(regexp_extract(model_name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as double) / active_params_b not between 0.5 and 2

    union all
    select
        model_key,
        'dates',
        'released <= compiled <= retrieved <= updated, compiled <= data_version',
        concat_ws(', ', released, compiled, retrieved, updated, data_version),
    from model_detail
    where released > compiled or compiled > retrieved or retrieved > updated or compiled > data_version
),
image_finding as (
    select
        image_configuration_key as run_key,
        'gpu_power_watts_total' as check_name,
        cast(joules_per_image * images_per_second as varchar) as expected,
        cast(gpu_power_watts_total as varchar) as found,
        1e-6 * joules_per_image * images_per_second as tolerance,
    from image_configuration_detail
    where not abs(gpu_power_watts_total - joules_per_image * images_per_second)
        <= 1e-6 * joules_per_image * images_per_second

    union all
    select
        image_configuration_key,
        'images_per_second',
        cast(batch_size / batch_latency_s as varchar),
        cast(images_per_second as varchar),
        1e-6 * batch_size / batch_latency_s,
    from image_configuration_detail
    where not abs(images_per_second - batch_size / batch_latency_s) <= 1e-6 * batch_size / batch_latency_s

    union all
    select
        image_configuration_key,
        'num_gpus',
        'ulysses_degree x ring_degree: ' || concat_ws(' x ', ulysses_degree, ring_degree),
        cast(num_gpus as varchar),
        null,
    from image_configuration_detail
    where cast(ulysses_degree as double) * ring_degree <> num_gpus
),
video_finding as (
    select
        video_configuration_key as run_key,
        'gpu_power_watts_total' as check_name,
        cast(joules_per_video * videos_per_second as varchar) as expected,
        cast(gpu_power_watts_total as varchar) as found,
        1e-6 * joules_per_video * videos_per_second as tolerance,
    from video_configuration_detail
    where not abs(gpu_power_watts_total - joules_per_video * videos_per_second)
        <= 1e-6 * joules_per_video * videos_per_second

    union all
    select
        video_configuration_key,
        'videos_per_second',
        cast(batch_size / batch_latency_s as varchar),
        cast(videos_per_second as varchar),
        1e-6 * batch_size / batch_latency_s,
    from video_configuration_detail
    where not abs(videos_per_second - batch_size / batch_latency_s) <= 1e-6 * batch_size / batch_latency_s

    union all
    select
        video_configuration_key,
        'num_gpus',
        'ulysses_degree x ring_degree: ' || concat_ws(' x ', ulysses_degree, ring_degree),
        cast(num_gpus as varchar),
        null,
    from video_configuration_detail
    where cast(ulysses_degree as double) * ring_degree <> num_gpus
),
pick_finding as (
    select
        coalesce(published.model_key, summary.model_key) as model_key,
        coalesce(published.gpu, summary.gpu) as gpu,
        published.configuration_key,
        coalesce('joules_per_output_token ' || summary.least_joules, 'no pick within the deadline') as expected,
        coalesce('joules_per_output_token ' || published.joules_per_output_token, 'no pick') as found,
    from (
        select
            published_pick.model_key,
            published_pick.gpu,
            published_pick.configuration_key,
            configuration.joules_per_output_token,
            configuration.median_itl_ms > release.itl_deadline_ms as is_late,
        from published_pick
        join configuration on configuration.configuration_key = published_pick.configuration_key
        join model on model.model_key = published_pick.model_key
        join release on release.release_key = model.release_key
    ) as published
    full join summary on summary.model_key = published.model_key and summary.gpu = published.gpu
    where summary.least_joules is distinct from published.joules_per_output_token or published.is_late
)
select
    model_detail.task,
    model_detail.model,
    configuration.gpu,
    finding.check_name,
    finding.expected,
    finding.found,
    finding.tolerance,
    configuration.row_id,
    configuration.repeat,
    model_detail.document,
    model_detail.data_version,
    'text' as kind,
    finding.configuration_key as run_key,
    configuration.model_key,
from finding
join configuration on configuration.configuration_key = finding.configuration_key
join model_detail on model_detail.model_key = configuration.model_key

union all
select
    image_configuration_detail.task,
    image_configuration_detail.model,
    image_configuration_detail.gpu,
    image_finding.check_name,
    image_finding.expected,
    image_finding.found,
    image_finding.tolerance,
    null,
    image_configuration_detail.repeat,
    image_configuration_detail.document,
    image_configuration_detail.data_version,
    'image',
    image_finding.run_key,
    image_configuration_detail.model_key,
from image_finding
join image_configuration_detail on image_configuration_detail.image_configuration_key = image_finding.run_key

union all
select
    video_configuration_detail.task,
    video_configuration_detail.model,
    video_configuration_detail.gpu,
    video_finding.check_name,
    video_finding.expected,
    video_finding.found,
    video_finding.tolerance,
    null,
    video_configuration_detail.repeat,
    video_configuration_detail.document,
    video_configuration_detail.data_version,
    'video',
    video_finding.run_key,
    video_configuration_detail.model_key,
from video_finding
join video_configuration_detail on video_configuration_detail.video_configuration_key = video_finding.run_key

union all
select
    model_detail.task,
    model_detail.model,
    pick_finding.gpu,
    'published_pick',
    pick_finding.expected,
    pick_finding.found,
    null,
    configuration.row_id,
    configuration.repeat,
    model_detail.document,
    model_detail.data_version,
    model_detail.kind,
    pick_finding.configuration_key,
    model_detail.model_key,
from pick_finding
join model_detail on model_detail.model_key = pick_finding.model_key
left join configuration on configuration.configuration_key = pick_finding.configuration_key
where model_detail.format = 'model_document'

union all
select
    model_detail.task,
    model_detail.model,
    power_finding.gpu,
    power_finding.check_name,
    power_finding.expected,
    power_finding.found,
    null,
    power_finding.row_id,
    power_finding.repeat,
    model_detail.document,
    model_detail.data_version,
    power_finding.kind,
    power_finding.run_key,
    power_finding.model_key,
from power_finding
join model_detail on model_detail.model_key = power_finding.model_key

union all
select
    model_detail.task,
    model_detail.model,
    null,
    model_finding.check_name,
    model_finding.expected,
    model_finding.found,
    null,
    null,
    null,
    model_detail.document,
    model_detail.data_version,
    model_detail.kind,
    null,
    model_finding.model_key,
from model_finding
join model_detail on model_detail.model_key = model_finding.model_key
order by task, model, document, gpu, run_key, check_name;

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
