-- View: data_quality
-- Grain: one row per finding
-- Key: model_key, gpu, kind, run_key, check_name, expected
-- Reads: configuration, image_configuration, video_configuration, curve_point, model, model_detail, release, source, file, task, published_pick, gpu, build
-- Topic: Trust
-- Example: data_quality
--
-- What in the data can't be right?
-- Rules of physics and of the publication that every run must keep, held against each run of each release. Empty on
-- good data. `tolerance` is what rounding in the documents explains, in the unit of the value; NULL where the rule is
-- exact. What is merely new to energydb (a field, a precision, a GPU without a rating) is no finding.
-- `touches_energy` says which findings put a pick of the run in doubt: run_mark marks the runs that they are about.

create or replace view data_quality as
-- Each rule is one select of what breaks it. A comparison with NULL is NULL, so what is absent breaks no rule.
with run as not materialized (
    -- Runs of all kinds, by what they share: joules for one token, image or video, and how many of them a second.
    -- Not materialized, as each rule reads few columns: a copy of them all would take longer than the rules.
    select
        'text' as kind, configuration_key as run_key, model_key, gpu, row_id, repeat, num_gpus, precision,
        gpu_power_watts_total, joules_per_output_token as joules, 'tokens_per_second' as rate_name,
        tokens_per_second as rate, cast(null as double) as batch_rate,
        -- What rounding explains of the power, in watts and as a share. Images and videos are published unrounded.
        cast(1 as double) as rounded_watts, cast(0.001 as double) as rounded_share,
        'joules_per_output_token' as joules_name, cast(null as double) as work,
        concat(
            'tensor_parallel x data_parallel x expert_parallel',
            case when pipeline_parallel > 1 then ' x pipeline_parallel' end, ': '
        ) as degree_names,
        concat_ws(' x ', tensor_parallel, data_parallel, expert_parallel, nullif(pipeline_parallel, 1)) as degrees,
        cast(max_num_seqs as varchar) as setting,
        cast(tensor_parallel as double) * data_parallel * pipeline_parallel as split_over, expert_parallel,
        pipeline_parallel, other_parallel,
    from configuration
    union all
    select
        'image', image_configuration_key, model_key, gpu, null, repeat, num_gpus, precision, gpu_power_watts_total,
        joules_per_image, 'images_per_second', images_per_second, batch_size / batch_latency_s, 0, 1e-6,
        'joules_per_image', cast(image_height as double) * image_width * inference_steps / 1e6,
        'ulysses_degree x ring_degree: ', concat_ws(' x ', ulysses_degree, ring_degree),
        concat_ws(
            ' ', ulysses_degree, ring_degree, image_height, image_width, inference_steps, batch_size
        ),
        cast(ulysses_degree as double) * ring_degree, 1, 1, other_parallel,
    from image_configuration
    union all
    select
        'video', video_configuration_key, model_key, gpu, null, repeat, num_gpus, precision, gpu_power_watts_total,
        joules_per_video, 'videos_per_second', videos_per_second, batch_size / batch_latency_s, 0, 1e-6,
        'joules_per_video', cast(video_height as double) * video_width * num_frames * inference_steps / 1e6,
        'ulysses_degree x ring_degree: ', concat_ws(' x ', ulysses_degree, ring_degree),
        concat_ws(
            ' ', ulysses_degree, ring_degree, video_height, video_width, inference_steps, batch_size,
            coalesce(num_frames, 0), coalesce(fps, 0)
        ),
        cast(ulysses_degree as double) * ring_degree, 1, 1, other_parallel,
    from video_configuration
),
-- Figures that a source rounds: half of the last decimal that it gives explains as much. Looked at only where something
-- else is off, as writing numbers out takes long.
rounded as materialized (
    select
        configuration_key, joules_per_output_token, avg_output_tokens, energy_per_request_joules, tokens_per_second,
        [
            case
                when contains(cast(figure as varchar), 'e-') then 0
                else 0.5 * pow(10, -length(regexp_extract(cast(figure as varchar), '[.]([0-9]*?)0*$', 1)))
            end
            for figure in [joules_per_output_token, avg_output_tokens, energy_per_request_joules]
        ] as half,
        -- Three decimals are the fewest that energy per token is given with: 1 J isn't 0.5 to 1.5 J.
        least(half[1], 0.0005) as half_joules, half[2] as half_tokens, half[3] as half_request_joules,
    from configuration
    where abs(gpu_power_watts_total / (joules_per_output_token * tokens_per_second) - 1) > 0.001
        or abs(energy_per_request_joules / (joules_per_output_token * avg_output_tokens) - 1) > 1e-9
),
-- What must equal something else but for rounding: power, the rate of batches, energy in its other unit and by request.
equality as (
    select
        kind, run_key, 'gpu_power_watts_total' as check_name, joules * rate as expected, gpu_power_watts_total as found,
        greatest(
            rounded_watts, rounded_share * (joules * rate),
            case when kind = 'text' then rate * half_joules end
        ) as tolerance,
    from run
    left join rounded on rounded.configuration_key = run.run_key
    union all
    select
        'text', configuration_key, 'energy_per_request_joules', joules_per_output_token * avg_output_tokens,
        energy_per_request_joules,
        greatest(
            1e-9 * (joules_per_output_token * avg_output_tokens),
            half_joules * avg_output_tokens + half_tokens * joules_per_output_token + half_request_joules
        ),
    from rounded
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
-- Releases of a source that were compiled on one day and lie here in two formats: they hold the same runs.
twin as (
    select release_key, format, source.name as source, compiled, release.task, boundary, origin
    from release
    join source using (source_key)
    window same as (partition by source.name, compiled, release.task, boundary, origin)
    qualify min(format) over same <> max(format) over same
),
twin_run as (
    select
        configuration_key,
        case format
            when min(format) over same then arg_max(configuration_key, (format, configuration_key)) over same
            else arg_min(configuration_key, (format, configuration_key)) over same
        end as other_key,
    from configuration
    join model using (model_key)
    join twin using (release_key)
    window same as (
        partition by source, compiled, task, boundary, origin, identity, gpu, num_gpus, max_num_seqs, repeat
    )
    qualify min(format) over same <> max(format) over same
),
-- What one has and the other, and how far documents round it: by half of the last decimal.
twin_figure as (
    select
        run.configuration_key, other.row_id, file_name,
        unnest([
            {'name': 'joules_per_output_token', 'found': run.joules_per_output_token,
                'other': other.joules_per_output_token, 'half': 5e-8},
            {'name': 'wh_per_million_output_tokens', 'found': run.wh_per_million_output_tokens,
                'other': other.wh_per_million_output_tokens, 'half': 0.005},
            {'name': 'gpu_power_watts_total', 'found': run.gpu_power_watts_total,
                'other': other.gpu_power_watts_total, 'half': 0.5},
            {'name': 'tokens_per_second', 'found': run.tokens_per_second,
                'other': other.tokens_per_second, 'half': 0.05},
            {'name': 'avg_output_tokens', 'found': run.avg_output_tokens,
                'other': other.avg_output_tokens, 'half': 0.5},
            {'name': 'avg_requests_in_flight', 'found': run.avg_requests_in_flight,
                'other': other.avg_requests_in_flight, 'half': 0.05},
            {'name': 'median_itl_ms', 'found': run.median_itl_ms, 'other': other.median_itl_ms, 'half': 0.05},
            {'name': 'p90_itl_ms', 'found': run.p90_itl_ms, 'other': other.p90_itl_ms, 'half': 0.05},
            {'name': 'p95_itl_ms', 'found': run.p95_itl_ms, 'other': other.p95_itl_ms, 'half': 0.05},
            {'name': 'p99_itl_ms', 'found': run.p99_itl_ms, 'other': other.p99_itl_ms, 'half': 0.05}
        ]) as figure,
        -- What the half itself can't hold in binary.
        figure['half'] * (1 + 1e-6) as tolerance,
    from twin_run
    join configuration as run using (configuration_key)
    join configuration as other on other.configuration_key = twin_run.other_key
    join model on model.model_key = other.model_key
    join file using (file_key)
),
-- Runs that share a setting, in the order of their energy: one run that comes twice lies beside itself. Only models
-- that have repeats are looked at.
repeated as (
    select
        kind, run_key, repeat, joules, gpu_power_watts_total as watts, rate,
        lag({'repeat': repeat, 'joules': joules, 'watts': watts, 'rate': rate}) over (
            partition by kind, model_key, gpu, num_gpus, setting order by joules, repeat
        ) as before,
    from run
    where exists (
        from run as other where other.kind = run.kind and other.model_key = run.model_key and other.repeat > 1
    )
),
-- What one setting needed in the release before: of the same source, task, format and boundary.
followed as (
    select
        release_key, source.name as source, release.task, format, boundary, origin, compiled, data_version,
    from release
    join source using (source_key)
    qualify count(*) over (partition by source.name, release.task, format, boundary, origin) > 1
),
following as (
    select
        configuration_key, joules_per_output_token as joules,
        lag({'joules': joules_per_output_token, 'data_version': data_version}) over (
            partition by
                source, task, format, boundary, origin, identity, gpu, num_gpus, tensor_parallel, data_parallel,
                expert_parallel, pipeline_parallel, other_parallel, precision, max_num_seqs, repeat
            order by compiled, data_version, release_key, configuration_key
        ) as before,
    from configuration
    join model using (model_key)
    join followed using (release_key)
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
    select configuration_key, 'row_id', named, row_id
    from (
        select
            configuration_key, row_id,
            concat_ws(
                '/', slug, coalesce(gpu_as_published, gpu), num_gpus, coalesce(cast(max_num_seqs as varchar), 'none')
            ) as named,
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
    select
        configuration_key, figure['name'], concat(figure['other'], ' as ', row_id, ' in ', file_name),
        cast(figure['found'] as varchar),
    from twin_figure
    where abs(figure['found'] - figure['other']) > tolerance

    union all
    select
        configuration_key, 'joules_per_output_token',
        concat('0.2 to 5 x what the release of ', before['data_version'], ' has: ', before['joules']),
        cast(joules as varchar),
    from following
    where joules / before['joules'] not between 0.2 and 5

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
off_curve as materialized (
    select
        kind, run_key, model_key, gpu, curve, curve_key, judgement,
        round(joules_to_line, 3) as joules, round(watts_to_line, 3) as watts, round(rate_to_line, 3) as rate,
    from curve_point
    where judgement in ('off its curve', 'on an uneven curve')
),
-- Words in a model's id or slug that name a format of weights, and what a precision of that format has in its name.
weight_format as (
    from (
        values
            ('bf16', ['BF16', 'BFLOAT16']), ('bfloat16', ['BF16', 'BFLOAT16']), ('fp16', ['FP16', 'FLOAT16']),
            ('fp8', ['FP8', 'F8', 'FLOAT8']), ('mxfp8', ['FP8', 'F8', 'FLOAT8']), ('mxfp6', ['FP6']),
            ('fp4', ['FP4']), ('nvfp4', ['FP4']), ('mxfp4', ['FP4']),
            ('int8', ['INT8', 'W8', '8BIT', '8-BIT']), ('int4', ['INT4', 'W4', '4BIT', '4-BIT', 'AWQ', 'GPTQ']),
            ('w4a16', ['INT4', 'W4', '4BIT', '4-BIT', 'AWQ', 'GPTQ']), ('awq', ['INT', 'W4', 'W8', 'BIT', 'AWQ']),
            ('gptq', ['INT', 'W4', 'W8', 'BIT', 'GPTQ'])
    ) as weight_format (token, parts)
),
named_format as (
    select model_key, token, parts
    from (
        select model_key, unnest(string_split_regex(lower(concat_ws(' ', model_id, slug)), '[^a-z0-9]+')) as token
        from model
    )
    join weight_format using (token)
),
misnamed as (
    select model_key, precision, string_agg(distinct token, ' or ' order by token) as tokens
    from named_format
    join (select distinct model_key, precision from run) using (model_key)
    group by model_key, precision
    having not bool_or(len(list_filter(parts, lambda part: contains(upper(precision), part))) > 0)
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
    -- Where no rating is known: the smallest boards for inference draw 7 W, and none is rated near 2,000 W.
    select
        kind, run_key, 'gpu_power_watts_total', '5 to 2000 x num_gpus: ' || 5 * num_gpus || ' to ' || 2000 * num_gpus,
        cast(gpu_power_watts_total as varchar), null,
    from run
    join gpu on gpu.name = run.gpu
    where rated_watts is null and gpu_power_watts_total / num_gpus not between 5 and 2000

    union all
    -- Energy for the size of a model: a token against the geometric mean of total and active parameters, in billions,
    -- an image or video against active ones x megapixels x frames x steps. Seen: 0.0016 to 0.27 J, and 9.3 to 490 J.
    select
        run.kind, run_key, joules_name,
        case run.kind
            when 'text' then '0.0002 to 5 x sqrt(params_b x active_params_b): '
            when 'image' then '0.1 to 5000 x active_params_b x megapixels x inference_steps: '
            else '0.1 to 5000 x active_params_b x megapixels x num_frames x inference_steps: '
        end || size,
        cast(joules as varchar), null,
    from (
        select
            run.kind, run_key, joules_name, joules,
            coalesce(work * active_params_b, sqrt(params_b * active_params_b)) as size,
        from run
        join model using (model_key)
        where run.kind = 'text' or work is not null
    ) as run
    where case
        when run.kind = 'text' then joules / size not between 0.0002 and 5
        else joules / size not between 0.1 and 5000
    end

    union all
    -- A model's id tells the format of its weights.
    select kind, run_key, 'precision', tokens || ', as its id says', precision, null
    from run
    join misnamed using (model_key, precision)

    union all
    select
        kind, run_key, 'repeat', 'another measurement than repeat ' || before['repeat'],
        'the same figures', null,
    from repeated
    where abs(joules / before['joules'] - 1) < 1e-9 and abs(watts / before['watts'] - 1) < 1e-9
        and abs(rate / before['rate'] - 1) < 1e-9

    union all
    -- Against the line through its neighbours.
    select
        kind, run_key, 'curve', 'joules, watts and rate near the line through its neighbours on ' || curve,
        concat(joules, ', ', watts, ' and ', rate, ' of it'), null,
    from off_curve
    where judgement = 'off its curve'

    union all
    -- Expert parallelism splits the same GPUs again where attention is copied: then it spans all GPUs of a stage.
    select kind, run_key, 'num_gpus', degree_names || degrees, cast(num_gpus as varchar), null
    from run
    where other_parallel is null and split_over * expert_parallel <> num_gpus
        and (split_over <> num_gpus or cast(expert_parallel as double) * pipeline_parallel <> num_gpus)

    union all
    select 'text', configuration_key, check_name, expected, found, null from text_finding
),
described as (
    select
        model_key, model.release_key, slug, model_id, identity, file_name,
        kind, params_b, active_params_b, architecture, released, compiled, retrieved, updated, data_version,
        -- What is dated so much later than this energydb is a slip.
        (select cast(max(energydb_released) + interval 1 year as date) from build) as too_late,
        active_params_b || ' of ' || params_b || ' billion active in a' as active_in_a,
        regexp_extract(model.name, '(?:^|[ -])([0-9]+(?:[.][0-9]+)?)B(?:$|[ -])', 1) as named_size,
        try_cast(named_size as double) as named_params_b,
    from model
    join file using (file_key)
    join release on release.release_key = model.release_key
    join task on task.id = release.task
),
-- Models of one identity in one release, and of each another.
namesake as (
    select
        model_key, kind,
        coalesce(lead(described) over same, first_value(described) over same) as other,
    from described
    window same as (
        partition by release_key, identity order by model_key rows between unbounded preceding and unbounded following
    )
    qualify count(*) over (partition by release_key, identity) > 1
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

    union all
    select
        model_key, kind, 'dates', 'compiled and data_version before ' || too_late,
        concat_ws(', ', compiled, data_version),
    from described
    where greatest(compiled, data_version) >= too_late

    union all
    -- Nobody measured what a token needs so long ago: it is what stands where no date was given.
    select
        model_key, kind, 'dates', 'compiled and data_version since 2010-01-01', concat_ws(', ', compiled, data_version)
    from described
    where least(compiled, data_version) < date '2010-01-01'

    union all
    select
        model_key, kind, 'identity', 'one model of this id in a release',
        concat('also ', other['slug'], ' (', other['model_id'], ') in ', other['file_name']),
    from namesake
),
-- Names that tell no card, and several spellings of one name.
odd_gpu as (
    select name as gpu, 'the name of a card' as expected
    from gpu
    where regexp_full_match(
        lower(name),
        '[^a-z0-9]*(nvidia|amd|intel|apple)?[^a-z0-9]*'
        '(cuda|rocm|hip|xpu|cpu|tpu|npu|mps|gpus?|device|accelerator|unknown|none|null|other|default|n[^a-z0-9]?a)?'
        '[^a-z0-9]*[0-9]?[^a-z0-9]*'
    )

    union all
    select name, 'one spelling in a file, not also ' || other
    from (
        select
            name,
            coalesce(lead(name) over same, first_value(name) over same) as other,
        from gpu
        window same as (
            partition by regexp_replace(lower(name), '[\s._-]', '', 'g') order by name
            rows between unbounded preceding and unbounded following
        )
    )
    where name <> other
),
gpu_finding as (
    select kind, model_key, gpu, 'gpu' as check_name, expected, gpu as found
    from (select distinct kind, model_key, gpu from run where gpu in (select gpu from odd_gpu))
    join odd_gpu using (gpu)

    union all
    -- Where no one run is to blame for an uneven curve.
    select
        kind, model_key, gpu, 'curve', 'an even curve of ' || any_value(curve),
        concat(
            'joules ', min(joules), ' to ', max(joules), ' and watts ', min(watts), ' to ', max(watts),
            ' of the lines through neighbours'
        ),
    from off_curve
    where judgement = 'on an uneven curve'
    group by kind, model_key, gpu, curve_key
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
    select kind, model_key, gpu, null, null, null, check_name, expected, found, null from gpu_finding

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
    finding.check_name in (
        'joules_per_output_token', 'joules_per_image', 'joules_per_video', 'wh_per_million_output_tokens',
        'energy_per_request_joules', 'gpu_power_watts_total', 'tokens_per_second', 'images_per_second',
        'videos_per_second', 'num_gpus', 'precision', 'gpu', 'identity', 'curve'
    ) as touches_energy,
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
comment on column data_quality.gpu is 'GPU model of the run or curve; NULL where the model itself is meant.';
comment on column data_quality.touches_energy is 'Whether it is about energy, power, throughput, precision, the GPU or the identity, so that a pick is in doubt.';
comment on column data_quality.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column data_quality.repeat is 'Ordinal among the runs of a model that share every setting.';
comment on column data_quality.kind is 'What the task makes: text, image or video.';
comment on column data_quality.run_key is 'Key of the run in the table of its kind; NULL where no one run is meant.';
comment on column data_quality.check_name is 'Rule that is broken, named for the column at fault.';
comment on column data_quality.expected is 'What the rule calls for.';
comment on column data_quality.found is 'What the document says.';
comment on column data_quality.tolerance is 'Difference that rounding in the documents explains, in the unit of the value; NULL where the rule is exact.';
