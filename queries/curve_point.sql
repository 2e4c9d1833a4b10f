-- View: curve_point
-- Grain: one row per measured run of any kind, in every release
-- Key: kind, run_key
-- Reads: configuration, image_configuration, video_configuration, model_detail
-- Topic: Trust
-- Example: curve_point
--
-- Which runs lie off their own curve?
-- A curve is the runs of one model on one GPU that share the whole serving setup, over max_num_seqs (text) or
-- batch_size (images and videos). Each run is held against the straight line through its neighbours on logarithmic
-- axes: through those on both sides, or at an end through the next two. Repeats are one neighbour, by the mean of
-- their logarithms, and are judged one by one. A run that is off throws its neighbours off too, so the one is named
-- whose removal leaves a sound curve; where that is no one run, the curve is uneven. A curve of fewer than three points
-- can't be judged, and a run without max_num_seqs lies on none.

create or replace view curve_point as
with setting as not materialized (
    select
        'text' as kind, configuration_key as run_key, model_key, gpu, num_gpus, precision, row_id, repeat,
        concat_ws(
            ', ', num_gpus || ' x ' || gpu,
            concat_ws(' x ', tensor_parallel, data_parallel, expert_parallel, nullif(pipeline_parallel, 1)),
            precision, other_parallel
        ) as curve,
        other_parallel, max_num_seqs as curve_at, joules_per_output_token as joules, gpu_power_watts_total as watts,
    from configuration
    union all
    select
        'image', image_configuration_key, model_key, gpu, num_gpus, precision, null, repeat,
        concat_ws(
            ', ', num_gpus || ' x ' || gpu, ulysses_degree || ' x ' || ring_degree, precision,
            image_height || ' x ' || image_width || ' pixels', inference_steps || ' steps', other_parallel
        ),
        other_parallel, batch_size, joules_per_image, gpu_power_watts_total,
    from image_configuration
    union all
    select
        'video', video_configuration_key, model_key, gpu, num_gpus, precision, null, repeat,
        concat_ws(
            ', ', num_gpus || ' x ' || gpu, ulysses_degree || ' x ' || ring_degree, precision,
            video_height || ' x ' || video_width || ' pixels', inference_steps || ' steps', num_frames || ' frames',
            fps || ' fps', other_parallel
        ),
        other_parallel, batch_size, joules_per_video, gpu_power_watts_total,
    from video_configuration
),
-- How far a run may lie from its line, either way: as logarithms of ratios. In the publisher's 1,858 runs of 2026-02-16
-- lie, at 610 inner points and 224 ends of text curves and at 615 and 398 of the others:
--   steady   0.867 to 1.202   0.730 to 1.320   0.903 to 1.073   0.868 to 1.226
--   joules   0.705 to 1.532   0.440 to 2.025   0.834 to 1.074   0.866 to 1.378
--   watts    0.732 to 1.404   0.546 to 1.864   0.884 to 1.177   0.722 to 1.278
--   rate     0.486 to 1.921   0.271 to 4.233   0.829 to 1.320   0.581 to 1.455
-- An end that lies more than 1.5 times as far from the next point as that from its next may lie as much further off.
-- `steady` is watts ** 0.6 x joules ** 0.4: where a run is faster than its neighbours it draws more and needs less for
-- one, and this product hardly moves. It finds energy and power that are both halved or doubled at every one of those
-- points but one end, halved, and a factor of 0.6 or 1.7 at all but 18 ends in 3,694 tries.
bound as (
    from (
        values
            (true, false, ln(1.4), ln(1.9), ln(1.7), ln(2.6)),
            (true, true, ln(1.45), ln(3), ln(2.4), ln(6)),
            (false, false, ln(1.25), ln(1.4), ln(1.4), ln(1.6)),
            (false, true, ln(1.35), ln(1.6), ln(1.6), ln(2))
    ) as bound (is_text, is_end, steady, joules, watts, rate)
),
run as materialized (
    select
        kind, run_key,
        min(run_key) over (partition by kind, model_key, gpu, precision, other_parallel, curve) as curve_key,
        curve_at, ln(joules) as joules, ln(watts) as watts,
    from setting
    where curve_at is not null
),
point as (
    select
        kind, curve_key, curve_at, {'at': ln(curve_at), 'joules': avg(joules), 'watts': avg(watts)} as mean,
    from run
    group by kind, curve_key, curve_at
),
line as (
    select
        kind, curve_key, curve_at,
        row_number() over curve as nth,
        count(*) over (partition by kind, curve_key) as points,
        nth in (1, points) as is_end,
        case nth when 1 then lead(mean, 2) over curve else lag(mean) over curve end as one,
        case nth when points then lag(mean, 2) over curve else lead(mean) over curve end as other,
        (mean['at'] - one['at']) / (other['at'] - one['at']) as share,
        greatest(1, (share - 1) / 1.5, -share / 1.5) as stretch,
        one['joules'] + share * (other['joules'] - one['joules']) as joules,
        one['watts'] + share * (other['watts'] - one['watts']) as watts,
    from point
    window curve as (partition by kind, curve_key order by curve_at)
),
-- How far off each is, by the bound that it is nearest to, or furthest beyond.
held as materialized (
    select
        run.kind, run.run_key, run.curve_key, run.curve_at, line.nth, line.points,
        run.joules - line.joules as joules, run.watts - line.watts as watts,
        greatest(
            abs(0.6 * (run.watts - line.watts) + 0.4 * (run.joules - line.joules)) / bound.steady,
            abs(run.joules - line.joules) / bound.joules,
            abs(run.watts - line.watts) / bound.watts,
            abs(run.watts - line.watts - run.joules + line.joules) / bound.rate
        ) / line.stretch as off,
    from run
    join line using (kind, curve_key, curve_at)
    join bound on bound.is_text = (run.kind = 'text') and bound.is_end = line.is_end
),
-- Of a curve with a run beyond a bound, the one at fault is the furthest off or near it: at most five points, of each
-- the repeat that is furthest off.
uneven as (
    select kind, curve_key, arg_max(nth, (round(off, 9), -nth)) as worst
    from held
    where points >= 3
    group by kind, curve_key
    having max(off) > 1
),
suspect as (
    select held.kind, held.curve_key, arg_max(held.run_key, (round(held.off, 9), -held.run_key)) as suspect_key
    from held
    join uneven using (kind, curve_key)
    where held.nth between uneven.worst - 2 and uneven.worst + 2
    group by held.kind, held.curve_key, held.nth
),
-- The same again, of the curve without that run.
other_run as materialized (
    select run.kind, suspect.suspect_key, run.curve_at, run.joules, run.watts
    from suspect
    join run using (kind, curve_key)
    where run.run_key <> suspect.suspect_key
),
other_point as (
    select
        kind, suspect_key, curve_at, {'at': ln(curve_at), 'joules': avg(joules), 'watts': avg(watts)} as mean,
    from other_run
    group by kind, suspect_key, curve_at
),
other_line as (
    select
        kind, suspect_key, curve_at,
        row_number() over curve as nth,
        count(*) over (partition by kind, suspect_key) as points,
        nth in (1, points) as is_end,
        case nth when 1 then lead(mean, 2) over curve else lag(mean) over curve end as one,
        case nth when points then lag(mean, 2) over curve else lead(mean) over curve end as other,
        (mean['at'] - one['at']) / (other['at'] - one['at']) as share,
        greatest(1, (share - 1) / 1.5, -share / 1.5) as stretch,
        one['joules'] + share * (other['joules'] - one['joules']) as joules,
        one['watts'] + share * (other['watts'] - one['watts']) as watts,
        -- Two points that are left lie on any line: then by its slope. Seen on curves of three: -0.33 to 0.07.
        (0.6 * (other['watts'] - mean['watts']) + 0.4 * (other['joules'] - mean['joules']))
        / (other['at'] - mean['at']) as slope,
    from other_point
    window curve as (partition by kind, suspect_key order by curve_at)
),
left_over as (
    select
        kind, suspect_key,
        max(
            case
                when other_line.points = 2 then abs(other_line.slope + 0.1) / 0.6
                else greatest(
                    abs(0.6 * (other_run.watts - other_line.watts) + 0.4 * (other_run.joules - other_line.joules))
                    / bound.steady,
                    abs(other_run.joules - other_line.joules) / bound.joules,
                    abs(other_run.watts - other_line.watts) / bound.watts,
                    abs(other_run.watts - other_line.watts - other_run.joules + other_line.joules) / bound.rate
                ) / other_line.stretch
            end
        ) as off,
    from other_run
    join other_line using (kind, suspect_key, curve_at)
    join bound on bound.is_text = (kind = 'text') and bound.is_end = other_line.is_end
    group by kind, suspect_key
),
-- A gap makes the neighbours' lines longer, so half as far again is sound there; and the next best must leave a quarter
-- more, or either could be at fault.
blamed as (
    select
        kind, curve_key,
        min(off) <= 1.5 and (count(*) = 1 or min(off) * 1.25 < min(off, 2)[2]) as is_one_run,
        case when is_one_run then arg_min(suspect_key, (off, suspect_key)) end as run_key,
    from suspect
    join left_over using (kind, suspect_key)
    group by kind, curve_key
)
select
    model_detail.task,
    model_detail.model,
    setting.gpu,
    case
        when setting.curve_at is null then 'no max_num_seqs'
        when held.points < 3 then 'too few points'
        when blamed.run_key = setting.run_key then 'off its curve'
        when not blamed.is_one_run then 'on an uneven curve'
        else 'sound'
    end as judgement,
    setting.curve,
    setting.curve_at,
    cast(held.points as integer) as curve_points,
    exp(held.joules) as joules_to_line,
    exp(held.watts) as watts_to_line,
    exp(held.watts - held.joules) as rate_to_line,
    exp(0.6 * held.watts + 0.4 * held.joules) as steady_to_line,
    setting.num_gpus,
    setting.precision,
    setting.row_id,
    setting.repeat,
    model_detail.document,
    model_detail.data_version,
    model_detail.boundary,
    model_detail.licence,
    setting.kind,
    setting.run_key,
    held.curve_key,
    setting.model_key,
from setting
join model_detail on model_detail.model_key = setting.model_key
left join held on held.kind = setting.kind and held.run_key = setting.run_key
left join blamed on blamed.kind = held.kind and blamed.curve_key = held.curve_key
order by setting.kind, setting.run_key;

comment on view curve_point is 'Every run, held against the line through its neighbours on its curve.';
comment on column curve_point.judgement is 'sound; off its curve; on an uneven curve, where no one run is at fault; too few points or no max_num_seqs, where it can''t be judged.';
comment on column curve_point.curve is 'Serving setup that the curve is of: GPUs, how they split the work, precision, and size of what is made.';
comment on column curve_point.curve_at is 'Where the run lies on its curve: max_num_seqs of text runs, batch_size of others.';
comment on column curve_point.curve_points is 'Different max_num_seqs or batch sizes on the curve.';
comment on column curve_point.joules_to_line is 'Energy per token, image or video over that on the line through its neighbours, derived; NULL where there is no line.';
comment on column curve_point.watts_to_line is 'GPU power over that on the line through its neighbours, derived; NULL where there is no line.';
comment on column curve_point.rate_to_line is 'Throughput over that on the line through its neighbours, derived as watts_to_line over joules_to_line.';
comment on column curve_point.steady_to_line is 'watts_to_line ** 0.6 x joules_to_line ** 0.4, which hardly moves where a run is only faster or slower, derived.';
comment on column curve_point.row_id is 'The publisher''s name of a text run; NULL for image and video runs.';
comment on column curve_point.repeat is 'Ordinal among the runs of a model that share every setting.';
comment on column curve_point.kind is 'What the run makes: text, image or video.';
comment on column curve_point.run_key is 'Key of the run in the table of its kind.';
comment on column curve_point.curve_key is 'Least key among the runs of the curve; NULL where the run lies on none.';
