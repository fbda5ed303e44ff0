/* Events: from the left limit of an instant to the values after it.  Modes whose roots were crossed change, everything
   is solved anew, `when`s whose conditions became true act, until nothing changes. */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N N_UNKNOWNS

static const int nothing_held[SIZE_Y];
static const double no_values[SIZE_Y];

static void report(Solver *s, const Instant *at, const Instant *left, int branch, int initial, int terminal) {
    char text[400];
    int what;
    for (int k = 0; (what = model_report(branch, k, at, left, s->p, initial, terminal)) != REPORT_END; k++) {
        const char *message = model_report_text(branch, k);
        if (what == REPORT_TERMINATE && s->state == RUNNING) {
            s->state = TERMINATED;
            snprintf(s->message, sizeof s->message, "terminated at t = %.9g: %s", at->t, message);
        } else if (what == REPORT_ERROR) {
            fail(s, "assertion failed at t = %.9g: %s", at->t, message);
        } else if (what == REPORT_WARNING && s->warn) {
            snprintf(text, sizeof text, "t = %.9g: %s", at->t, message);
            s->warn(s->context, text);
        }
    }
}

/* The actions of some branches: all see the values before any reset, resets act together. */
static int perform(Solver *s, Instant *at, const Instant *left, const char *fired, int initial, int terminal) {
    Instant now = *at;
    int held[SIZE_Y] = {0}, any = 0;
    double value[SIZE_Y];
    for (int b = 0; b < N_BRANCHES; b++) /* latches read what was before any of them */
        if (fired[b]) model_latch(b, at, left, s->p, initial, terminal, now.z);
    for (int round = 0; round <= N_MODES; round++) { /* assignments hold whatever their order */
        Instant before = now;
        for (int b = 0; b < N_BRANCHES; b++)
            if (fired[b]) model_assign(b, &before, left, s->p, initial, terminal, now.z);
        if (!memcmp(before.z, now.z, sizeof now.z)) break;
    }
    for (int b = 0; b < N_BRANCHES; b++) {
        if (!fired[b]) continue;
        model_reinit(b, &now, left, s->p, initial, terminal, held, value);
        report(s, &now, left, b, initial, terminal);
    }
    if (s->state == FAILED) return 0;
    for (int i = 0; i < N; i++) any |= held[i];
    if (!any && !memcmp(now.z, at->z, sizeof now.z)) return 1;
    Instant from = *at;
    if (!settle(s, &from, now.z, held, value, 0, at))
        return fail(s, "at t = %.9g nothing agrees with the switches of the model after its resets", at->t);
    return 1;
}

/* `when`s whose condition became true act; each once in an event. */
static int act(Solver *s, Instant *at, const Instant *left, int initial, int terminal) {
    int now[SIZE_CONDITIONS];
    char done[SIZE_WHENS] = {0}, fired[SIZE_BRANCHES];
    for (;;) {
        int any = 0;
        if (N_WHENS == 0) return 1;
        model_conditions(at, left, s->p, initial, terminal, now);
        memset(fired, 0, sizeof fired);
        for (int w = 0; w < N_WHENS; w++)
            for (int b = model_when_branch[w]; b < model_when_branch[w + 1] && !done[w]; b++)
                for (int c = model_branch_condition[b]; c < model_branch_condition[b + 1]; c++)
                    if (now[c] && !s->conditions[c]) done[w] = fired[b] = 1, any = 1, c = model_branch_condition[b + 1];
        memcpy(s->conditions, now, sizeof now);
        if (!any) return 1;
        if (!perform(s, at, left, fired, initial, terminal)) return 0;
    }
}

static void rest(Solver *s) {
    if (N_WHENS) model_conditions(&s->at, &s->at, s->p, 0, 0, s->conditions);
    report(s, &s->at, &s->at, N_BRANCHES, 0, 0); /* assertions of the model itself */
    note_sizes(s, s->at.y);
    s->factored_step = 0.0;
}

/* Samples due at a time, or the time of the next ones. */
int sample_due(Solver *s, double time, int inclusive, double *next, int *due) {
    double argument[SIZE_ARGUMENTS];
    int any = 0;
    if (next) *next = INFINITY;
    model_arguments(time, s->at.y, s->at.d, s->p, s->at.z, argument);
    for (int k = 0; k < N_MODES; k++) {
        due[k] = 0;
        if (model_modes[k].kind != SAMPLE) continue;
        double start = argument[model_modes[k].argument], interval = argument[model_modes[k].argument + 1];
        double n = (time - start) / interval, count = inclusive ? ceil(n - 1e-9) : floor(n + 1e-9) + 1.0;
        double tick = start + fmax(count, 0.0) * interval;
        if (inclusive) any |= due[k] = fabs(tick - time) <= 1e-9 * interval;
        if (next && tick < *next) *next = tick;
    }
    return any;
}

/* Intervals that shrink alike are a geometric series: infinitely many events before the time that is returned, which
   is INFINITY where there is no such thing, or where much of the series is still to come. */
static double accumulation(const Solver *s, const double *past) {
    double low = INFINITY, high = 0.0, sum = 0.0;
    for (int k = 1; k + 1 < PAST; k++) {
        double before = past[k] - past[k - 1], after = past[k + 1] - past[k], ratio = after / before;
        if (!(before > 0.0) || !(after > 0.0)) return INFINITY;
        low = fmin(low, ratio);
        high = fmax(high, ratio);
        sum += ratio;
    }
    double ratio = sum / (PAST - 2), last = past[PAST - 1] - past[PAST - 2], remains = last * ratio / (1.0 - ratio);
    if (!(ratio < 0.999) || high - low > 0.05 || remains > 5e-4 * s->longest) return INFINITY;
    return past[PAST - 1] + remains;
}

static int accumulates(Solver *s, double time, const int *crossed) {
    for (int k = 0; k < N_MODES; k++) {
        const Mode *mode = &model_modes[k];
        int any = 0;
        for (int r = mode->first; r < mode->first + mode->roots; r++) any |= crossed[r];
        if (!any || mode->time_only) continue;
        memmove(s->past[k], s->past[k] + 1, (PAST - 1) * sizeof(double));
        s->past[k][PAST - 1] = time;
        double limit = accumulation(s, s->past[k]);
        if (isfinite(limit)) {
            fail(s, "infinitely many events: `%s` accumulates at t = %.9g", mode->text, limit);
            return 1;
        }
    }
    return 0;
}

int handle_event(Solver *s, const Instant *left, const int *crossed, const int *due) {
    double z[SIZE_MODES], g[SIZE_ROOTS];
    Instant *at = malloc(sizeof *at);
    int good = 0;
    if (!at) return fail(s, "out of memory");
    memcpy(z, left->z, sizeof z);
    model_roots(left->t, left->y, left->d, s->p, left->z, g);
    for (int k = 0; k < N_MODES; k++) {
        const Mode *mode = &model_modes[k];
        double left_by = 0.0; /* how far from zero the located roots are */
        for (int r = mode->first; r < mode->first + mode->roots; r++)
            if (crossed[r]) left_by = fmax(left_by, 2.0 * fabs(g[r]));
        for (int r = mode->first; r < mode->first + mode->roots; r++) {
            s->zone[r] = left_by;
            if (!crossed[r]) continue;
            int down = r == mode->first;
            if (mode->kind == RELATION)
                z[k] = 1.0 - left->z[k];
            else if (mode->kind == COULOMB)
                z[k] = left->z[k] != 0.0 ? 0.0 : down ? 1.0 : -1.0;
            else
                z[k] = left->z[k] + (down ? -1.0 : 1.0);
        }
        if (due && due[k]) z[k] = 1.0;
    }
    s->events++;
    if (accumulates(s, left->t, crossed)) {
        free(at);
        return 0;
    }
    if (settle(s, left, z, nothing_held, no_values, 0, at)) {
        good = act(s, at, left, 0, 0);
        for (int k = 0; k < N_MODES; k++)
            if (due && due[k]) at->z[k] = 0.0;
        s->at = *at;
        if (good) rest(s);
    } else
        fail(s, "at t = %.9g no combination of the model's switches agrees with itself", left->t);
    free(at);
    return good && s->state != FAILED;
}

/* `sample` and `initial()` fire at the start; other conditions that are true there do not. */
int handle_start(Solver *s) {
    int due[SIZE_MODES];
    Instant *at = malloc(sizeof *at), *left = malloc(sizeof *left);
    int good = at && left;
    if (!good) {
        free(at);
        free(left);
        return fail(s, "out of memory");
    }
    memset(s->zone, 0, sizeof s->zone);
    if (N_WHENS) model_conditions(&s->at, &s->at, s->p, 0, 0, s->conditions);
    *at = *left = s->at;
    if (sample_due(s, s->at.t, 1, NULL, due)) {
        double z[SIZE_MODES];
        memcpy(z, at->z, sizeof z);
        for (int k = 0; k < N_MODES; k++)
            if (due[k]) z[k] = 1.0;
        good = settle(s, left, z, nothing_held, no_values, 0, at) ||
               fail(s, "at the start no combination of the model's switches agrees with itself");
    }
    if (good) good = act(s, at, left, 1, 0);
    for (int k = 0; k < N_MODES; k++)
        if (due[k]) at->z[k] = 0.0;
    if (good) {
        s->at = *at;
        rest(s);
    }
    free(at);
    free(left);
    return good && s->state != FAILED;
}

int set_inputs(Solver *s, const double *values) {
    double z[SIZE_MODES];
    int changed = 0;
    memcpy(z, s->at.z, sizeof z);
    for (int k = 0; k < N_INPUTS; k++) {
        changed |= z[model_inputs[k].mode] != values[k];
        z[model_inputs[k].mode] = values[k];
    }
    if (!changed) return 1;
    Instant *at = malloc(sizeof *at), *left = malloc(sizeof *left);
    int good = 0;
    if (at && left) {
        *left = s->at;
        memset(s->zone, 0, sizeof s->zone);
        good = settle(s, left, z, nothing_held, no_values, 0, at) && act(s, at, left, 0, 0);
        if (good) {
            s->at = *at;
            rest(s);
        } else
            fail(s, "at t = %.9g no combination of the model's switches agrees with its inputs", left->t);
    }
    free(at);
    free(left);
    return good && s->state != FAILED;
}

void end_run(Solver *s) {
    Instant left = s->at;
    if (s->state == RUNNING) act(s, &s->at, &left, 0, 1);
}

/* Roots that have been left; what time alone decides right behind an instant belongs to it. */
static int left_now(Solver *s, int *crossed) {
    double g[SIZE_ROOTS], soon[SIZE_ROOTS];
    int any = 0;
    model_roots(s->at.t, s->at.y, s->at.d, s->p, s->at.z, g);
    model_roots(s->at.t + 5e-10 * s->longest, s->at.y, s->at.d, s->p, s->at.z, soon);
    for (int k = 0; k < N_MODES; k++)
        for (int r = model_modes[k].first; r < model_modes[k].first + model_modes[k].roots; r++) {
            const Mode *mode = &model_modes[k];
            crossed[r] = mode->time_only ? has_left(mode, r, s->at.z[k], soon[r])
                                         : has_left(mode, r, s->at.z[k], g[r]) && fabs(g[r]) > s->slack[r];
            any |= crossed[r];
        }
    return any;
}

int event_now(Solver *s) {
    int crossed[SIZE_ROOTS] = {0}, due[SIZE_MODES], any = 0;
    double g[SIZE_ROOTS], side[SIZE_ROOTS];
    sample_due(s, s->at.t, 1, NULL, due);
    for (int k = 0; k < N_MODES; k++) { /* a tick acts once */
        due[k] = due[k] && s->last_tick[k] != s->at.t;
        if (due[k]) s->last_tick[k] = s->at.t, any = 1;
    }
    for (int round = 0; (left_now(s, crossed) || any) && round <= 2 * N_MODES; round++) {
        Instant left = s->at;
        if (!handle_event(s, &left, crossed, due)) return 0;
        memset(due, 0, sizeof due);
        any = 0;
        sides(s->at.z, side);
        model_roots(s->at.t, s->at.y, s->at.d, s->p, s->at.z, g);
        for (int r = 0; r < N_ROOTS; r++) s->slack[r] = side[r] * g[r] < 0.0 ? 2.0 * fabs(g[r]) : 0.0;
    }
    return 1;
}
