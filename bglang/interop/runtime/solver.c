#include "solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N N_UNKNOWNS
enum { TIME_SCAN = 32, SMALL_STEPS = 200, PILED_UP = 2000 };

int fail(Solver *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (s->state != FAILED) vsnprintf(s->message, sizeof s->message, format, arguments);
    va_end(arguments);
    s->state = FAILED;
    return 0;
}

Solver *make_solver(void) {
    Solver *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->work = malloc(13 * SIZE_Y * sizeof(double));
    if (!s->work) {
        free(s);
        return NULL;
    }
    memcpy(s->p, model_default_p, sizeof s->p);
    s->tolerance = MODEL_TOLERANCE;
    s->at = model_start;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < 3; i++) s->stage_order[3 * k + i] = 3 * model_column_order[k] + i;
    return s;
}

void free_solver(Solver *s) {
    if (!s) return;
    free_entries(&s->entries);
    free_factors(&s->stages);
    free_factors(&s->single);
    free(s->work);
    free(s);
}

int parameter_number(const char *name) {
    for (int k = 0; k < N_PARAMETERS; k++)
        if (!strcmp(model_parameters[k].name, name)) return k;
    return -1;
}

int start_number(const char *name) {
    size_t length = strlen(name);
    if (length < 7 || strcmp(name + length - 6, ".start")) return -1;
    for (int i = 0; i < N; i++)
        if (strlen(model_unknowns[i].name) == length - 6 && !strncmp(model_unknowns[i].name, name, length - 6)) return i;
    return -1;
}

static int can_change(Solver *s, const char *name) {
    if (MODEL_STARTS) return 1;
    snprintf(s->message, sizeof s->message,
             "`%s` cannot be changed here: bglang solved this model's start equations; export it again with --set",
             name);
    return 0;
}

int give_parameter(Solver *s, int number, double value) {
    const Parameter *q = &model_parameters[number];
    if (!can_change(s, q->name)) return 0;
    if (!q->settable) {
        snprintf(s->message, sizeof s->message,
                 "`%s` cannot be changed here: a table or a constant is made of it; export again with --set", q->name);
        return 0;
    }
    s->p[q->place] = value;
    s->given_p[q->place] = 1;
    s->changed = 1;
    return 1;
}

int give_start(Solver *s, int number, double value) {
    if (!can_change(s, model_unknowns[number].name)) return 0;
    if (!model_unknowns[number].state) {
        snprintf(s->message, sizeof s->message, "`%s` is no state: its start follows from the others",
                 model_unknowns[number].name);
        return 0;
    }
    s->start[number] = value;
    s->given_start[number] = 1;
    s->changed = 1;
    return 1;
}

/* Parameters that are computed from others follow what was given. */
static void update_parameters(Solver *s) {
    double given[SIZE_P];
    memcpy(given, s->p, sizeof given);
    for (int level = 0; level < N_LEVELS; level++) {
        model_compute_parameters(level, s->p);
        for (int k = 0; k < SIZE_P; k++)
            if (s->given_p[k]) s->p[k] = given[k];
    }
}

int start_run(Solver *s, double time) {
    double z[SIZE_MODES];
    s->begin = time;
    s->state = RUNNING;
    s->message[0] = 0;
    s->step = 0.0;
    memset(s->seen, 0, sizeof s->seen);
    for (int k = 0; k < N_MODES; k++)
        for (int i = 0; i < PAST; i++) s->past[k][i] = NAN;
    for (int k = 0; k < N_MODES; k++) s->last_tick[k] = time; /* the start handles its own */
    memset(s->slack, 0, sizeof s->slack);
    s->largest = 0.0;
    memcpy(z, s->at.z, sizeof z); /* inputs may have been set already */
    s->at = model_start;
    s->at.t = time;
    for (int k = 0; k < N_INPUTS; k++)
        if (s->changed) s->at.z[model_inputs[k].mode] = z[model_inputs[k].mode];
    note_sizes(s, s->at.y);
    if (s->changed || time != model_start.t) {
        Instant guess = s->at, found;
        int held[SIZE_Y] = {0};
        if (!MODEL_STARTS && s->changed) return fail(s, "the start of this model was solved by bglang");
        update_parameters(s);
        model_starts(s->p, guess.y);
        for (int i = 0; i < N; i++) {
            if (s->given_start[i]) guess.y[i] = s->start[i];
            held[i] = model_unknowns[i].state;
            if (!held[i]) guess.y[i] = model_start.y[i];
        }
        note_sizes(s, guess.y);
        read_modes(s, &guess);
        if (!settle(s, &guess, guess.z, held, guess.y, 1, &found))
            return fail(s, "no consistent start was found for these values");
        s->at = found;
    }
    return handle_start(s);
}

/* Has a root function left its mode?  Exactly zero counts as the language says: z <= x < z + 1, x >= a, x > a. */
int has_left(const Mode *mode, int r, double z, double g) {
    if (mode->kind == RELATION) return z != 0.0 ? g < 0.0 || (g == 0.0 && mode->strict)
                                                : g > 0.0 || (g == 0.0 && !mode->strict);
    return g < 0.0 || (g == 0.0 && r != mode->first && mode->kind != COULOMB);
}

/* Relations of time alone that have left their mode at a time; how many. */
static int crossed_by(Solver *s, double time, int *crossed) {
    double g[SIZE_ROOTS];
    int count = 0;
    model_roots(time, s->at.y, s->at.d, s->p, s->at.z, g);
    for (int k = 0; k < N_MODES; k++)
        for (int r = model_modes[k].first; r < model_modes[k].first + model_modes[k].roots; r++) {
            crossed[r] = model_modes[k].time_only && has_left(&model_modes[k], r, s->at.z[k], g[r]);
            count += crossed[r];
        }
    return count;
}

/* The first time in (t, end] at which such a relation is crossed; `crossed` says which. */
static double time_event(Solver *s, double end, int *crossed) {
    int hit[SIZE_ROOTS], any = 0;
    double low = s->at.t;
    for (int k = 0; k < N_MODES; k++) any |= model_modes[k].time_only && model_modes[k].roots > 0;
    memset(crossed, 0, SIZE_ROOTS * sizeof(int));
    for (int n = 1; any && n <= TIME_SCAN; n++) {
        double high = n == TIME_SCAN ? end : s->at.t + (end - s->at.t) * n / TIME_SCAN;
        if (!crossed_by(s, high, crossed)) {
            low = high;
            continue;
        }
        for (;;) { /* bisect down to neighbouring numbers */
            double middle = 0.5 * (low + high);
            if (middle <= low || middle >= high) return high;
            if (crossed_by(s, middle, hit)) {
                high = middle;
                memcpy(crossed, hit, sizeof hit);
            } else
                low = middle;
        }
    }
    return INFINITY;
}

/* Roots that are on the wrong side at an instant; how many. */
static int crossings(Solver *s, const Instant *at, double *g, int *crossed) {
    double side[SIZE_ROOTS];
    int count = 0;
    sides(s->at.z, side);
    model_roots(at->t, at->y, at->d, s->p, at->z, g);
    for (int k = 0; k < N_MODES; k++)
        for (int r = model_modes[k].first; r < model_modes[k].first + model_modes[k].roots; r++) {
            crossed[r] = !model_modes[k].time_only && side[r] * g[r] < -s->slack[r];
            count += crossed[r];
        }
    return count;
}

/* The event inside a step that was crossed at its end: the step is repeated, shorter, until it ends right behind it. */
static void locate(Solver *s, Instant *end, int *crossed, double *g_high) {
    double low = 0.0, high = end->t - s->at.t, g_low[SIZE_ROOTS], g[SIZE_ROOTS], advice;
    int hit[SIZE_ROOTS], same = 0;
    Instant *middle = malloc(sizeof *middle);
    model_roots(s->at.t, s->at.y, s->at.d, s->p, s->at.z, g_low);
    for (int round = 0; middle && round < 80; round++) {
        double width = high - low, guess = high;
        if (width <= 4e-16 * fabs(s->at.t) + 1e-14 * fmax(s->longest, high)) break;
        for (int r = 0; r < N_ROOTS; r++) /* the first of the crossings, by the straight line */
            if (crossed[r] && g_low[r] != g_high[r]) {
                double at = low - g_low[r] * width / (g_high[r] - g_low[r]);
                guess = fmin(guess, at);
            }
        guess += 1e-3 * width * (same > 0 ? -1.0 : 1.0); /* so that the bracket closes from both sides */
        if (!(guess > low) || !(guess < high) || round % 3 == 2) guess = 0.5 * (low + high);
        if (!try_step(s, guess, 0, middle, &advice)) break;
        if (crossings(s, middle, g, hit)) {
            high = guess;
            same = same > 0 ? same + 1 : 1;
            *end = *middle;
            memcpy(g_high, g, sizeof g);
            memcpy(crossed, hit, sizeof hit);
        } else {
            low = guess;
            same = same < 0 ? same - 1 : -1;
            memcpy(g_low, g, sizeof g);
        }
    }
    free(middle);
    s->factored_step = 0.0;
}

static double first_step(const Solver *s, double span) {
    double speed = 0.0;
    for (int i = 0; i < N; i++) speed = fmax(speed, fabs(s->at.d[i]) / fmax(size_of(s, i, s->at.y[i]), 1e-100));
    return fmin(fmax(1e-2 / fmax(speed, 1e-100), 1e-8 * span), 1e-2 * span);
}

/* One accepted step, not beyond `end`; the event at its end is handled.  1 when it succeeded. */
static int one_step(Solver *s, double end) {
    int crossed[SIZE_ROOTS], by_time[SIZE_ROOTS], due[SIZE_MODES], refused = 0;
    double g[SIZE_ROOTS], side[SIZE_ROOTS], advice, sample, at_time, limit = end;
    Instant *next = malloc(sizeof *next);
    if (!next) return fail(s, "out of memory");
    sides(s->at.z, side);
    model_roots(s->at.t, s->at.y, s->at.d, s->p, s->at.z, g);
    for (int r = 0; r < N_ROOTS; r++) s->slack[r] = side[r] * g[r] < 0.0 ? 2.0 * fabs(g[r]) : 0.0;
    sample_due(s, s->at.t, 0, &sample, due);
    if (sample < limit) limit = sample;
    at_time = time_event(s, limit + 5e-10 * s->longest, by_time); /* right behind a point is at the point */
    if (at_time > limit && isfinite(at_time)) at_time = limit;
    if (at_time < limit) limit = at_time;
    double h = s->step > 0.0 ? s->step : first_step(s, limit - s->at.t), full = h;
    for (;;) {
        int now = refused == 0 && limit - s->at.t <= 1e-12 * fmax(s->longest, fabs(s->at.t));
        int last = now || s->at.t + 1.000001 * h >= limit;
        if (last) h = limit - s->at.t;
        else if (s->at.t + 2.0 * h > limit) h = 0.5 * (limit - s->at.t);
        if (N == 0 || now) {
            *next = s->at;
            next->t = limit;
            for (int i = 0; i < N; i++) next->y[i] += h * s->at.d[i];
            break;
        }
        if (s->at.t + h == s->at.t) {
            free(next);
            return fail(s, "at t = %.9g the step became too small", s->at.t);
        }
        if (try_step(s, h, 1, next, &advice)) {
            if (last) next->t = limit;
            s->step = last && h < full ? fmax(full, h * advice) : h * (refused ? fmin(advice, 1.0) : advice);
            break;
        }
        if (++refused > SMALL_STEPS) {
            free(next);
            return fail(s, "at t = %.9g no step succeeds", s->at.t);
        }
        h = full = h * advice;
    }
    int event = crossings(s, next, g, crossed);
    if (event) locate(s, next, crossed, g);
    if (s->longest > 0.0) s->step = fmin(s->step, s->longest);
    s->steps++;
    Instant left = *next;
    free(next);
    note_sizes(s, left.y);
    if (left.t == at_time && left.t <= limit)
        for (int r = 0; r < N_ROOTS; r++) crossed[r] |= by_time[r], event |= by_time[r];
    int sampled = left.t == sample ? sample_due(s, left.t, 1, NULL, due) : (memset(due, 0, sizeof due), 0);
    if (!event && !sampled) {
        s->at = left;
        return 1;
    }
    s->step = 0.0;
    return handle_event(s, &left, crossed, due);
}

int advance(Solver *s, double time) {
    double mark = s->at.t, near = 1e-6 * fmax(s->longest, time - s->at.t);
    long before = s->events;
    while (s->state == RUNNING && s->at.t < time) {
        if (s->at.t > mark + near) mark = s->at.t, before = s->events;
        if (s->events > before + PILED_UP) return fail(s, "at t = %.9g events pile up: they chatter or accumulate", mark);
        if (time - s->at.t <= 1e-14 * fmax(fabs(time), fabs(s->begin))) {
            s->at.t = time;
            break;
        }
        if (!one_step(s, time)) break;
    }
    return s->state != FAILED;
}

double next_time_event(Solver *s, double stop) {
    int crossed[SIZE_ROOTS], due[SIZE_MODES];
    double sample, at_time = s->at.t, step = fmax(stop - s->at.t, 0.0) / 100.0;
    sample_due(s, s->at.t, 0, &sample, due);
    for (int k = 0; k < 100 && step > 0.0; k++) { /* in pieces: what time decides may be short */
        Instant here = s->at;
        s->at.t = here.t + k * step;
        at_time = time_event(s, s->at.t + step, crossed);
        s->at = here;
        if (isfinite(at_time)) return fmin(sample, at_time);
    }
    return sample;
}
