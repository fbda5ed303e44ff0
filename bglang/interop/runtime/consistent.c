/* What holds at one instant: values after an event, rates, and modes that agree with both.

   Rows are of two sorts.  Balances hold rates: what they sum up, F_d (y+ - y-), stays through any instant.  Laws hold
   no rates.  A sticking friction pins a state: its position must hold too. */
#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N N_UNKNOWNS
enum { ROUNDS = 40, COMBINATIONS = 4096, MOST_ITERATIONS = 60 };

typedef struct {
    char balance[SIZE_Y]; /* of each row */
    char pinned[SIZE_POSITIONS];
    int pins, stiff;
} Sorts;

static double scale_of(const Solver *s, int i, double y) {
    double size = model_nominal[i] > 0.0 ? model_nominal[i] : s->seen[i] > 0.0 ? fmin(s->seen[i], 1.0) : 1.0;
    return fmax(fabs(y), size);
}

static void sort_rows(Solver *s, const Instant *at, Sorts *sorts) {
    const double *by_d = s->jacobian + N_ENTRIES;
    memset(sorts, 0, sizeof *sorts);
    for (int j = 0; j < N; j++)
        for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++)
            if (by_d[k] != 0.0 && model_differential[model_jacobian_row[k]]) sorts->balance[model_jacobian_row[k]] = 1;
    if (N_POSITIONS == 0) return;
    double position[SIZE_POSITIONS], slope[2 * SIZE_POSITION_ENTRIES], residual[SIZE_Y];
    model_position(at->t, at->y, at->d, s->p, at->z, position);
    model_position_jacobian(at->t, at->y, at->d, s->p, at->z, slope);
    model_residual(at->t, at->y, at->d, s->p, at->z, residual);
    for (int m = 0; m < N_POSITIONS; m++) { /* in effect where it says something else than its row */
        int row = model_position_row[m], differs = position[m] != residual[row];
        for (int j = 0; j < N && !differs; j++) {
            double difference = 0.0;
            for (int k = model_position_start[j]; k < model_position_start[j + 1]; k++)
                if (model_position_index[k] == m) difference += slope[k];
            for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++)
                if (model_jacobian_row[k] == row) difference -= s->jacobian[k];
            differs = difference != 0.0;
        }
        sorts->pinned[m] = (char)differs;
        sorts->pins += differs;
        if (differs && sorts->balance[row]) sorts->stiff = 1;
    }
}

/* Pinned states come onto their positions; an event located numerically leaves rounding only. */
static int pin(Solver *s, Instant *at, const Sorts *sorts) {
    double position[SIZE_POSITIONS], slope[2 * SIZE_POSITION_ENTRIES];
    for (int round = 0; round < 2; round++) {
        model_position(at->t, at->y, at->d, s->p, at->z, position);
        model_position_jacobian(at->t, at->y, at->d, s->p, at->z, slope);
        for (int m = 0; m < N_POSITIONS; m++) {
            if (!sorts->pinned[m]) continue;
            double square = 0.0;
            for (int j = 0; j < N; j++)
                for (int k = model_position_start[j]; k < model_position_start[j + 1]; k++)
                    if (model_position_index[k] == m) square += slope[k] * slope[k];
            if (!(square > 0.0)) return 0;
            for (int j = 0; j < N; j++)
                for (int k = model_position_start[j]; k < model_position_start[j + 1]; k++)
                    if (model_position_index[k] == m) {
                        double move = -position[m] * slope[k] / square;
                        if (fabs(move) > 1e-6 * scale_of(s, j, at->y[j])) return 0;
                        at->y[j] += move;
                    }
        }
    }
    return 1;
}

/* The balances that count when some unknowns are given: each given one replaces its own. */
static void release(Solver *s, char *balance, const int *held) {
    const double *by_d = s->jacobian + N_ENTRIES;
    int *count = calloc(SIZE_Y, sizeof(int));
    if (!count) return;
    for (int j = 0; j < N; j++)
        for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++)
            if (by_d[k] != 0.0) count[model_jacobian_row[k]]++;
    for (int j = 0; j < N; j++) {
        int best = -1;
        if (!held[j]) continue;
        for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++) {
            int row = model_jacobian_row[k];
            if (by_d[k] == 0.0 || !balance[row]) continue;
            if (best < 0 || count[row] < count[best] ||
                (count[row] == count[best] && abs(row - j) < abs(best - j)))
                best = row;
        }
        if (best >= 0) balance[best] = 0;
    }
    free(count);
}

/* One Newton system: laws, balances that keep their sums, and held unknowns.  Rows that are none of these are free;
   held unknowns stand in their place. */
static int newton_values(Solver *s, Instant *at, const Instant *before, const Sorts *sorts, const int *held,
                         int starting) {
    double *f = malloc(SIZE_Y * sizeof(double)), *sum = malloc(SIZE_Y * sizeof(double));
    char keep[SIZE_Y];
    int place[SIZE_Y], good = 0;
    if (!f || !sum) goto done;
    memcpy(keep, sorts->balance, sizeof keep);
    if (starting)
        memset(keep, 0, sizeof keep);
    else
        release(s, keep, held);
    int next = 0; /* rows of held unknowns */
    for (int j = 0; j < N; j++) {
        place[j] = -1;
        if (!held[j]) continue;
        while (next < N && (!sorts->balance[next] || keep[next])) next++;
        if (next == N) goto done;
        place[j] = next++;
    }
    double previous = INFINITY, damping = 1.0;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        Instant middle = *at;
        for (int i = 0; i < N; i++) middle.y[i] = 0.5 * (at->y[i] + before->y[i]), sum[i] = 0.0;
        model_jacobian(at->t, middle.y, at->d, s->p, at->z, s->jacobian);
        for (int j = 0; j < N; j++)
            for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++)
                sum[model_jacobian_row[k]] += s->jacobian[N_ENTRIES + k] * (at->y[j] - before->y[j]);
        model_residual(at->t, at->y, at->d, s->p, at->z, f);
        model_jacobian(at->t, at->y, at->d, s->p, at->z, s->jacobian);
        s->entries.count = 0;
        for (int j = 0; j < N; j++) {
            if (place[j] >= 0) add_entry(&s->entries, place[j], j, 1.0);
            for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++) {
                int row = model_jacobian_row[k];
                if (keep[row])
                    add_entry(&s->entries, row, j, s->jacobian[N_ENTRIES + k]);
                else if (!sorts->balance[row])
                    add_entry(&s->entries, row, j, s->jacobian[k]);
            }
        }
        for (int i = 0; i < N; i++) f[i] = keep[i] ? -sum[i] : sorts->balance[i] ? 0.0 : -f[i];
        if (factor(&s->single, N, &s->entries, model_column_order)) goto done;
        solve_with(&s->single, f);
        double size = 0.0;
        for (int i = 0; i < N; i++) size = fmax(size, fabs(f[i]) / scale_of(s, i, at->y[i]));
        if (!isfinite(size)) goto done;
        damping = size > 2.0 * previous ? fmax(0.5 * damping, 1e-3) : fmin(1.0, 2.0 * damping);
        for (int i = 0; i < N; i++) at->y[i] += damping * f[i];
        if (size < 1e-12 || (size < 1e-9 && size > 0.5 * previous)) {
            good = 1;
            break;
        }
        previous = size;
    }
done:
    free(f);
    free(sum);
    s->factored_step = 0.0;
    return good;
}

static int find_rates(Solver *s, Instant *at) {
    Sorts sorts;
    double drift[SIZE_Y], f[SIZE_Y];
    int good = 0;
    model_residual_t(at->t, at->y, at->d, s->p, at->z, drift);
    for (int iteration = 0; iteration < MOST_ITERATIONS && !good; iteration++) {
        model_jacobian(at->t, at->y, at->d, s->p, at->z, s->jacobian);
        sort_rows(s, at, &sorts);
        if (sorts.stiff) return 0;
        model_residual(at->t, at->y, at->d, s->p, at->z, f);
        for (int i = 0; i < N; i++) f[i] = sorts.balance[i] ? -f[i] : -drift[i];
        s->entries.count = 0;
        for (int j = 0; j < N; j++)
            for (int k = model_jacobian_start[j]; k < model_jacobian_start[j + 1]; k++) {
                int row = model_jacobian_row[k];
                add_entry(&s->entries, row, j, s->jacobian[sorts.balance[row] ? N_ENTRIES + k : k]);
                if (!sorts.balance[row]) f[row] -= s->jacobian[k] * at->d[j];
            }
        if (factor(&s->single, N, &s->entries, model_column_order)) return 0;
        solve_with(&s->single, f);
        double size = 0.0, speed = 0.0;
        for (int i = 0; i < N; i++) {
            at->d[i] += f[i];
            size = fmax(size, fabs(f[i]) / scale_of(s, i, 0.0));
            speed = fmax(speed, fabs(at->d[i]) / scale_of(s, i, 0.0));
        }
        if (!isfinite(size)) return 0;
        good = size <= 1e-11 * fmax(speed, 1.0);
    }
    s->factored_step = 0.0;
    return good;
}

/* --- modes ------------------------------------------------------------------------------------------------------ */

void sides(const double *z, double *side) {
    for (int k = 0; k < N_MODES; k++)
        for (int r = model_modes[k].first; r < model_modes[k].first + model_modes[k].roots; r++)
            side[r] = model_modes[k].kind == RELATION && z[k] == 0.0 ? -1.0 : 1.0;
}

static double suggested(const Mode *mode, const double *g, const double *argument, double present) {
    double x = mode->arguments ? argument[mode->argument] : 0.0;
    switch (mode->kind) {
    case RELATION:
        return g[mode->first] > 0.0 || (g[mode->first] == 0.0 && !mode->strict);
    case COULOMB:
        return isfinite(x) ? (x > 0.0) - (x < 0.0) : present;
    case FLOOR:
        return isfinite(x) ? floor(x) : present;
    case SEGMENT:
        return isfinite(x) ? argument[mode->argument + 1] : present;
    default:
        return present;
    }
}

void read_modes(Solver *s, Instant *at) {
    double g[SIZE_ROOTS], argument[SIZE_ARGUMENTS];
    for (int round = 0; round <= N_MODES; round++) {
        int changed = 0;
        for (int k = 0; k < N_MODES; k++) {
            model_roots(at->t, at->y, at->d, s->p, at->z, g);
            model_arguments(at->t, at->y, at->d, s->p, at->z, argument);
            double now = suggested(&model_modes[k], g, argument, at->z[k]);
            changed |= now != at->z[k];
            at->z[k] = now;
        }
        if (!changed) return;
    }
}

/* How much the roots move when every unknown moves by a small part of its size. */
static void margins(Solver *s, const Instant *at, double part, const double *g, double *zone) {
    double up[SIZE_ROOTS], down[SIZE_ROOTS];
    Instant moved = *at;
    for (int i = 0; i < N; i++) moved.y[i] = at->y[i] + part * scale_of(s, i, at->y[i]);
    model_roots(at->t, moved.y, at->d, s->p, at->z, up);
    for (int i = 0; i < N; i++) moved.y[i] = at->y[i] - part * scale_of(s, i, at->y[i]);
    model_roots(at->t, moved.y, at->d, s->p, at->z, down);
    for (int r = 0; r < N_ROOTS; r++) {
        double most = fmax(fabs(up[r] - g[r]), fabs(down[r] - g[r]));
        zone[r] = 4.0 * (isfinite(most) ? most : 0.0) + 1e-300;
    }
}

/* Modes that the values contradict; `other` gets the modes to try instead.  How many there are. */
static int contradicted(Solver *s, const Instant *at, int starting, int ahead, double *other) {
    double g[SIZE_ROOTS] = {0}, zone[SIZE_ROOTS] = {0}, argument[SIZE_ARGUMENTS], soon[SIZE_ROOTS] = {0};
    int count = 0;
    memcpy(other, at->z, SIZE_MODES * sizeof(double));
    model_roots(at->t, at->y, at->d, s->p, at->z, g);
    model_arguments(at->t, at->y, at->d, s->p, at->z, argument);
    margins(s, at, starting ? 1e-13 : 1e-10, g, zone);
    for (int r = 0; r < N_ROOTS && !starting; r++) zone[r] = fmax(zone[r], s->zone[r]);
    if (ahead) { /* where the roots are going */
        double speed = 0.1 / fmax(s->longest * 500.0, 1e-300);
        Instant later = *at;
        for (int i = 0; i < N; i++) speed = fmax(speed, fabs(at->d[i]) / scale_of(s, i, at->y[i]));
        double step = 1e-6 / speed;
        for (int i = 0; i < N; i++) later.y[i] = at->y[i] + step * at->d[i];
        model_roots(at->t + step, later.y, at->d, s->p, at->z, soon);
    }
    for (int k = 0; k < N_MODES; k++) {
        const Mode *mode = &model_modes[k];
        int r = mode->first;
        if (mode->kind == RELATION) {
            double side = at->z[k] != 0.0 ? 1.0 : -1.0;
            if (side * g[r] < -zone[r])
                other[k] = 1.0 - at->z[k];
            else if (ahead && !mode->time_only && fabs(g[r]) <= zone[r] && side * (soon[r] - g[r]) < -1e-3 * zone[r])
                other[k] = 1.0 - at->z[k];
        } else if (mode->kind == COULOMB) {
            double slack = 1e-9 * fabs(argument[mode->argument + 2]);
            if (at->z[k] != 0.0)
                other[k] = g[r] < -zone[r] ? 0.0 : at->z[k];
            else if (g[r] < -slack)
                other[k] = 1.0;
            else if (g[r + 1] < -slack)
                other[k] = -1.0;
        } else if ((mode->kind == FLOOR || mode->kind == SEGMENT) && (g[r] < -zone[r] || g[r + 1] < -zone[r])) {
            other[k] = suggested(mode, g, argument, at->z[k]);
        }
        count += other[k] != at->z[k];
    }
    return count;
}

typedef struct {
    Solver *s;
    const Instant *left;
    const int *held;
    const double *value;
    int starting, ahead;
} Attempt;

/* Values and rates for given modes.  -1: there are none; else how many modes they contradict. */
static int attempt(const Attempt *a, const double *z, Instant *at, double *other) {
    Solver *s = a->s;
    Sorts sorts;
    *at = *a->left;
    memcpy(at->z, z, sizeof at->z);
    for (int i = 0; i < N; i++)
        if (a->held[i]) at->y[i] = a->value[i];
    Instant before = *at;
    model_jacobian(at->t, at->y, at->d, s->p, at->z, s->jacobian);
    sort_rows(s, at, &sorts);
    if (sorts.stiff) return -1;
    if (sorts.pins && !a->starting) {
        if (!pin(s, at, &sorts)) return -1;
        before = *at;
        model_jacobian(at->t, at->y, at->d, s->p, at->z, s->jacobian);
        sort_rows(s, at, &sorts);
    }
    if (!newton_values(s, at, &before, &sorts, a->held, a->starting)) return -1;
    if (!find_rates(s, at)) return -1;
    return contradicted(s, at, a->starting, a->ahead, other);
}

static double jump(const Solver *s, const Instant *left, const Instant *at) {
    double most = 0.0;
    for (int i = 0; i < N; i++)
        if (model_storage[i]) most = fmax(most, fabs(at->y[i] - left->y[i]) / scale_of(s, i, left->y[i]));
    return most;
}

/* Tries the combinations of the modes that were touched; of those that agree, the one with the smallest jump. */
static int search(const Attempt *a, const double *z, const char *touched, Instant *result) {
    double candidate[SIZE_MODES], other[SIZE_MODES], best = INFINITY;
    Instant *at = malloc(sizeof *at);
    int digit[SIZE_MODES] = {0};
    if (!at) return 0;
    for (int count = 0; count < COMBINATIONS; count++) {
        memcpy(candidate, z, sizeof candidate);
        for (int k = 0; k < N_MODES; k++) {
            if (!touched[k]) continue;
            if (model_modes[k].kind == RELATION)
                candidate[k] = digit[k] ? 1.0 - z[k] : z[k];
            else if (model_modes[k].kind == COULOMB)
                candidate[k] = digit[k] == 2 ? -1.0 : digit[k];
            else
                candidate[k] = z[k] + (digit[k] == 2 ? -1.0 : digit[k]);
        }
        if (attempt(a, candidate, at, other) == 0) {
            double size = jump(a->s, a->left, at);
            if (size < best) best = size, *result = *at;
            if (best == 0.0) break;
        }
        int k = 0;
        for (; k < N_MODES; k++) { /* the next combination */
            if (!touched[k]) continue;
            if (++digit[k] < (model_modes[k].kind == RELATION ? 2 : 3)) break;
            digit[k] = 0;
        }
        if (k == N_MODES) break;
    }
    free(at);
    return isfinite(best);
}

/* Values that agree with modes near z, starting from `left`; `held` unknowns take the given values.  1: found. */
int settle(Solver *s, const Instant *left, const double *z, const int *held, const double *value, int starting,
           Instant *result) {
    double now[SIZE_MODES], other[SIZE_MODES];
    char touched[SIZE_MODES];
    Attempt a = {s, left, held, value, starting, !starting};
    for (int pass = 0; pass < 2; pass++) { /* a switch that is driven back from both sides goes on as it can */
        memset(touched, 0, sizeof touched);
        memcpy(now, z, sizeof now);
        for (int round = 0; round < ROUNDS; round++) {
            int wrong = attempt(&a, now, result, other);
            if (wrong == 0) return 1;
            if (wrong < 0) break;
            for (int k = 0; k < N_MODES; k++) touched[k] |= other[k] != now[k];
            memcpy(now, other, sizeof now);
        }
        int any = 0;
        for (int k = 0; k < N_MODES; k++) any |= touched[k];
        for (int k = 0; k < N_MODES && !any; k++)
            touched[k] = (model_modes[k].kind == RELATION || model_modes[k].kind == COULOMB) && !model_modes[k].time_only;
        if (search(&a, now, touched, result)) return 1;
        a.ahead = 0;
    }
    return 0;
}

/* The states hold and the modes stay: everything else follows. */
int follow_states(Solver *s) {
    Sorts sorts;
    int held[SIZE_Y];
    Instant before = s->at;
    for (int i = 0; i < N; i++) held[i] = model_unknowns[i].state;
    model_jacobian(s->at.t, s->at.y, s->at.d, s->p, s->at.z, s->jacobian);
    sort_rows(s, &s->at, &sorts);
    if (!newton_values(s, &s->at, &before, &sorts, held, 1) || !find_rates(s, &s->at)) {
        s->at = before;
        return fail(s, "at t = %.9g the equations cannot be solved for these states", s->at.t);
    }
    return 1;
}
