-- View: data_quality
-- Grain: one row per finding
-- Key: model_key, gpu, kind, run_key, check_name, expected
-- Reads: configuration, image_configuration, video_configuration, model, model_detail, release, task, published_pick, gpu
-- Topic: Trust
-- Example: data_quality
--
-- What in the data can't be right?
-- Rules of physics and of the publication that every run must keep, held against each run of each release. Empty on
-- good data. `tolerance` is what rounding in the documents explains, in the unit of the value; NULL where the rule is
-- exact.

create or replace view data_quality as
-- Each rule is one select of what breaks it. A comparison with NULL is NULL, so what is absent breaks no rule.
with run as not materialized (
    -- Runs of all kinds, by what they share: joules for one token, image or video, and how many of them a second.
    -- Not materialized, as each rule reads few columns: a copy of them all would take longer than the rules.
    select
        'text' as kind, configuration_key as run_key, model_key, gpu, row_id, repeat, num_gpus, gpu_power_watts_total,
        joules_per_output_token as joules, 'tokens_per_second' as rate_name, tokens_per_second as rate,
        cast(null as double) as batch_rate,
        -- What rounding explains of the power, in watts and as a share. Images and videos are published unrounded.
        cast(1 as double) as rounded_watts, cast(0.001 as double) as rounded_share,
        concat(
            'tensor_parallel x data_parallel x expert_parallel',
            case when pipeline_parallel > 1 then ' x pipeline_parallel' end, ': '
        ) as degree_names,
        concat_ws(' x ', tensor_parallel, data_parallel, expert_parallel, nullif(pipeline_parallel, 1)) as degrees,
        cast(tensor_parallel as double) * data_parallel * pipeline_parallel as split_over, expert_parallel,
        pipeline_parallel,
    from configuration
    union all
    select
        'image', image_configuration_key, model_key, gpu, null, repeat, num_gpus, gpu_power_watts_total,
        joules_per_image, 'images_per_second', images_per_second, batch_size / batch_latency_s, 0, 1e-6,
        'ulysses_degree x ring_degree: ', concat_ws(' x ', ulysses_degree, ring_degree),
        cast(ulysses_degree as double) * ring_degree, 1, 1,
    from image_configuration
    union all
    select
        'video', video_configuration_key, model_key, gpu, null, repeat, num_gpus, gpu_power_watts_total,
        joules_per_video, 'videos_per_second', videos_per_second, batch_size / batch_latency_s, 0, 1e-6,
        'ulysses_degree x ring_degree: ', concat_ws(' x ', ulysses_degree, ring_degree),
        cast(ulysses_degree as double) * ring_degree, 1, 1,
    from video_configuration
),
-- What must equal something else but for rounding: power, the rate of batches, and energy in its other unit.
equality as (
    select
        kind, run_key, 'gpu_power_watts_total' as check_name, joules * rate as expected, gpu_power_watts_total as found,
        greatest(rounded_watts, rounded_share * (joules * rate)) as tolerance,
    from run
    union all
    select kind, run_key, rate_name, batch_rate, rate, rounded_share * batch_rate from run
    union all
    select
        'text', configuration_key, 'wh_per_million_output_tokens', joules_per_output_token / 3600 * 1e6,
        wh_per_million_output_tokens, 0.01,
    from configuration
),
-- Fields that came late to the format are in all runs of a document or in none.
late as not materialized (
    select configuration_key, model_key, 'p95_itl_ms' as field, p95_itl_ms as value from configuration
    union all
    select configuration_key, model_key, 'avg_running_batch', avg_running_batch from configuration
),
text_finding as (
    select
        configuration_key, 'itl_order' as check_name,
        'median_itl_ms <= p90_itl_ms <= p95_itl_ms <= p99_itl_ms' as expected,
        concat_ws(', ', median_itl_ms, p90_itl_ms, p95_itl_ms, p99_itl_ms) as found,
    from configuration
    where median_itl_ms > p90_itl_ms or p90_itl_ms > least(p95_itl_ms, p99_itl_ms) or p95_itl_ms > p99_itl_ms

    union all
    -- Seen: 118 times at the most. This catches tails in microseconds.
    select
        configuration_key, 'p99_itl_ms', 'at most 500 x median_itl_ms: ' || 500 * median_itl_ms,
        cast(p99_itl_ms as varchar),
    from configuration
    where p99_itl_ms > 500 * median_itl_ms

    union all
    -- Where the rounded median equals the deadline, the unrounded one may lie on either side.
    select
        configuration_key, 'under_itl_deadline', cast(not under_itl_deadline as varchar),
        cast(under_itl_deadline as varchar),
    from configuration
    join model using (model_key)
    join release using (release_key)
    where (under_itl_deadline and median_itl_ms > itl_deadline_ms)
        or (not under_itl_deadline and median_itl_ms < itl_deadline_ms)

    union all
    select
        configuration_key, 'avg_running_batch', 'avg_requests_in_flight: ' || avg_requests_in_flight,
        cast(avg_running_batch as varchar),
    from configuration
    where avg_running_batch <> avg_requests_in_flight

    union all
    select
        configuration_key, 'max_num_seqs', 'at least avg_requests_in_flight: ' || avg_requests_in_flight,
        cast(max_num_seqs as varchar),
    from configuration
    where max_num_seqs < avg_requests_in_flight

    union all
    -- The servers were kept busy: seen, a limit 1.2 times the observed concurrency at the most.
    select
        configuration_key, 'max_num_seqs', 'at most 10 x avg_requests_in_flight: ' || 10 * avg_requests_in_flight,
        cast(max_num_seqs as varchar),
    from configuration
    where max_num_seqs > 10 * avg_requests_in_flight

    union all
    -- Sequences in the batch each gain a token in one inter-token latency: this catches slips of 1000.
    select
        configuration_key, 'tokens_per_second',
        '0.05 to 1.5 of avg_requests_in_flight / median_itl_ms: ' || avg_requests_in_flight / median_itl_ms * 1000,
        cast(tokens_per_second as varchar),
    from configuration
    where tokens_per_second * median_itl_ms / 1000 / avg_requests_in_flight not between 0.05 and 1.5

    union all
    -- Seen: 213 to 11,861.
    select configuration_key, 'avg_output_tokens', '2 to 200000 tokens', cast(avg_output_tokens as varchar)
    from configuration
    where avg_output_tokens not between 2 and 200000

    union all
    select configuration_key, 'precision', 'BF16, FP8 or MXFP4', precision
    from configuration
    where precision not in ('BF16', 'FP8', 'MXFP4')

    union all
    select configuration_key, 'row_id', named, row_id
    from (
        select
            configuration_key, row_id,
            concat_ws('/', slug, gpu, num_gpus, coalesce(cast(max_num_seqs as varchar), 'none')) as named,
        from configuration
        join model using (model_key)
    )
    where row_id <> named

    union all
    select lacking.configuration_key, lacking.field, 'a value, as other runs of this document have one', 'NULL'
    from late as lacking
    where lacking.value is null and exists (
        from late as other
        where other.model_key = lacking.model_key and other.field = lacking.field and other.value is not null
    )

    union all
    -- No run comes twice, so a gap is a repeat without the one before it.
    select
        configuration_key, 'repeat', 'a run of the same gpu, num_gpus and max_num_seqs with repeat ' || repeat - 1,
        cast(repeat as varchar),
    from configuration
    where repeat > 1 and not exists (
        from configuration as other
        where other.model_key = configuration.model_key
            and other.gpu = configuration.gpu
            and other.num_gpus = configuration.num_gpus
            and other.max_num_seqs is not distinct from configuration.max_num_seqs
            and other.repeat = configuration.repeat - 1
    )
),
run_finding as (
    select kind, run_key, check_name, cast(expected as varchar) as expected, cast(found as varchar) as found, tolerance
    from equality
    where abs(found - expected) > tolerance

    union all
    -- Seen: 0.20 to 0.99 of the rating. This catches a server's power given for one GPU, and the other way about.
    select
        kind, run_key, 'gpu_power_watts_total', '0.1 to 1.1 of rated_watts x num_gpus: ' || rated_watts * num_gpus,
        cast(gpu_power_watts_total as varchar), null,
    from run
    join gpu on gpu.name = run.gpu
    where gpu_power_watts_total / num_gpus / rated_watts not between 0.1 and 1.1

    union all
    -- Expert parallelism splits the same GPUs again where attention is copied: then it spans all GPUs of a stage.
    select kind, run_key, 'num_gpus', degree_names || degrees, cast(num_gpus as varchar), null
    from run
    where split_over * expert_parallel <> num_gpus
        and (split_over <> num_gpus or cast(expert_parallel as double) * pipeline_parallel <> num_gpus)

    union all
    select 'text', configuration_key, check_name, expected, found, null from text_finding
),
described as (
    select
        model_key, kind, params_b, active_params_b, architecture, released, compiled, retrieved, updated, data_version,
        active_params_b || ' of ' || params_b || ' billion active in a' as active_in_a,
        regexp_extract(model.name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as named_size,
        try_cast(named_size as double) as named_params_b,
    from model
    join release using (release_key)
    join task on task.id = release.task
),
model_finding as (
    select
        model_key, kind, 'active_params_b' as check_name, 'at most params_b: ' || params_b as expected,
        cast(active_params_b as varchar) as found,
    from described
    where active_params_b > params_b

    union all
    select
        model_key, kind, 'architecture',
        'a model with all parameters active, or another architecture than Dense Transformer',
        active_in_a || ' Dense Transformer',
    from described
    where architecture = 'Dense Transformer' and active_params_b < params_b

    union all
    select
        model_key, kind, 'architecture', 'a model with some parameters active, or another architecture than MoE',
        active_in_a || 'n MoE',
    from described
    where architecture = 'MoE' and active_params_b = params_b

    union all
    select model_key, kind, 'params_b', '0.01 to 10000 billions', cast(params_b as varchar)
    from described
    where params_b not between 0.01 and 10000

    union all
    -- Where the name tells a size it is the total or the active one, rounded.
    select
        model_key, kind, 'params_b', 'a size near that of the name: ' || named_size || ' billion',
        params_b || ' and ' || active_params_b || ' active',
    from described
    where named_params_b / params_b not between 0.5 and 2 and named_params_b / active_params_b not between 0.5 and 2

    union all
    select
        model_key, kind, 'dates', 'released <= compiled <= retrieved <= updated, compiled <= data_version',
        concat_ws(', ', released, compiled, retrieved, updated, data_version),
    from described
    where released > compiled or compiled > retrieved or retrieved > updated or compiled > data_version
),
published as (
    select
        published_pick.model_key, published_pick.gpu, configuration_key, row_id, repeat,
        joules_per_output_token as joules, median_itl_ms > itl_deadline_ms as is_late,
    from published_pick
    join configuration using (configuration_key)
    join model on model.model_key = published_pick.model_key
    join release using (release_key)
),
-- The least within the deadline, where a document should call it best: no other format publishes picks.
best as (
    select model_key, gpu, min(joules_per_output_token) filter (where median_itl_ms <= itl_deadline_ms) as joules
    from configuration
    join model using (model_key)
    join release using (release_key)
    where format = 'model_document'
    group by model_key, gpu
),
finding as (
    select kind, model_key, gpu, run_key, row_id, repeat, check_name, expected, found, tolerance
    from run_finding
    join run using (kind, run_key)

    union all
    select kind, model_key, null, null, null, null, check_name, expected, found, null from model_finding

    union all
    select
        'text', model_key, gpu, published.configuration_key, published.row_id, published.repeat, 'published_pick',
        coalesce('joules_per_output_token ' || best.joules, 'no pick within the deadline'),
        coalesce('joules_per_output_token ' || published.joules, 'no pick'), null,
    from published
    full join best using (model_key, gpu)
    where best.joules is distinct from published.joules or published.is_late
)
select
    model_detail.task,
    model_detail.model,
    finding.gpu,
    finding.check_name,
    finding.expected,
    finding.found,
    finding.tolerance,
    finding.row_id,
    finding.repeat,
    model_detail.document,
    model_detail.data_version,
    finding.kind,
    finding.run_key,
    model_detail.model_key,
from finding
join model_detail on model_detail.model_key = finding.model_key
order by model_detail.task, model_detail.model, model_detail.document, finding.gpu, finding.run_key, finding.check_name;

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
