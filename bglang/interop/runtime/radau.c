/* One step of Radau IIA of order 5 for F(t, y, dy/dt) = 0 (Hairer & Wanner II, section IV.8).

   stages   F(t + c_i h, y + z_i, (A^-1 z)_i / h) = 0
   error    (mu/h F_d + F_y) err = -F(t, y, -(e.z)/h) */
#include "solver.h"

#include <math.h>
#include <string.h>

#define S6 2.449489742783178098197284
#define N N_UNKNOWNS
enum { MOST_ITERATIONS = 10, NOISE_MARGIN = 20 };

static const double C[3] = {(4 - S6) / 10, (4 + S6) / 10, 1.0};
/* the inverse of the method's matrix A */
static const double B[3][3] = {{3.224744871391589049, 1.167840084690405495, -0.253197264742180826},
                               {-3.567840084690405495, 0.775255128608410951, 1.053197264742180826},
                               {5.531972647421808262, -7.531972647421808262, 5.0}};
static const double MU = 3.637834252744495732208419;
static const double E[3] = {(-13 - 7 * S6) / 3, (-13 + 7 * S6) / 3, -1.0 / 3};

double size_of(const Solver *s, int i, double y) {
    if (model_nominal[i] > 0.0) return fabs(y) + model_nominal[i];
    double own = s->seen[i] > fabs(y) ? s->seen[i] : fabs(y);
    return fabs(y) + own + 1e-9 * s->largest + 1e-100;
}

void note_sizes(Solver *s, const double *y) {
    for (int i = 0; i < N; i++) {
        if (fabs(y[i]) > s->seen[i]) s->seen[i] = fabs(y[i]);
        if (fabs(y[i]) > s->largest) s->largest = fabs(y[i]);
    }
}

static int make_factors(Solver *s, double h) {
    const int *start = model_jacobian_start, *row = model_jacobian_row;
    const double *by_y = s->jacobian, *by_d = s->jacobian + N_ENTRIES;
    s->entries.count = 0;
    for (int j = 0; j < N; j++)
        for (int k = start[j]; k < start[j + 1]; k++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) {
                    double value = B[a][b] / h * by_d[k] + (a == b ? by_y[k] : 0.0);
                    if (a == b || value != 0.0) add_entry(&s->entries, 3 * row[k] + a, 3 * j + b, value);
                }
    int status = factor(&s->stages, 3 * N, &s->entries, s->stage_order);
    if (status) return status;
    s->entries.count = 0;
    for (int j = 0; j < N; j++)
        for (int k = start[j]; k < start[j + 1]; k++) add_entry(&s->entries, row[k], j, MU / h * by_d[k] + by_y[k]);
    status = factor(&s->single, N, &s->entries, model_column_order);
    if (status) return status;
    s->factored_step = h;
    /* How far rounding errors in the terms of the equations may move each unknown: no step is more accurate. */
    for (int i = 0; i < N; i++) s->noise[i] = 0.0;
    for (int j = 0; j < N; j++)
        for (int k = start[j]; k < start[j + 1]; k++)
            s->noise[row[k]] += 2.2e-16 * (fabs(by_y[k] * s->at.y[j]) + fabs(by_d[k] * s->at.d[j]));
    solve_with(&s->single, s->noise);
    for (int i = 0; i < N; i++) s->noise[i] = fabs(s->noise[i]) < 1e300 ? fabs(s->noise[i]) : 0.0;
    return 0;
}

/* The mean over those entries that matter: errors do not hide in a large model of which only a part moves. */
static double norm(const double *values, const double *weight, int stages) {
    double square = 0.0, fourth = 0.0;
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int k = 0; k < stages; k++) {
            double part = values[stages * i + k] / weight[i];
            sum += part * part / stages;
        }
        square += sum;
        fourth += sum * sum;
    }
    return square > 0.0 && square < 1e100 ? sqrt(fourth / square) : sqrt(square);
}

static double weight_of(const Solver *s, int i, double y, double rtol) {
    return fmax(rtol * size_of(s, i, y), NOISE_MARGIN * s->noise[i]);
}

/* 1 when the stages converged; `ratio` tells how fast. */
static int find_stages(Solver *s, double h, double *z, double *weight, double rtol, double tolerance, double *ratio) {
    double *y = s->work, *d = y + N, *f = d + N, *r = f + N; /* r: 3 N */
    double before = 0.0;
    *ratio = 1e-3;
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < N; i++) {
                y[i] = s->at.y[i] + z[3 * i + k];
                d[i] = (B[k][0] * z[3 * i] + B[k][1] * z[3 * i + 1] + B[k][2] * z[3 * i + 2]) / h;
            }
            model_residual(s->at.t + C[k] * h, y, d, s->p, s->at.z, f);
            for (int i = 0; i < N; i++) r[3 * i + k] = -f[i];
        }
        solve_with(&s->stages, r);
        for (int i = 0; i < 3 * N; i++) z[i] += r[i];
        for (int i = 0; i < N && iteration < 2; i++) /* what rested may move: its new size counts */
            weight[i] = weight_of(s, i, fmax(fabs(s->at.y[i]), fabs(s->at.y[i] + z[3 * i + 2])), rtol);
        double size = norm(r, weight, 3);
        if (!isfinite(size)) return 0;
        /* The second correction may exceed the first where the guess was good and the law bends: judge from the third. */
        if (size <= 1e-3 * tolerance) return 1;
        if (iteration > 0) *ratio = size / fmax(before, 1e-300);
        if (iteration > 1) {
            if (size <= tolerance && before <= tolerance) return 1;
            if (*ratio >= 0.99) return 0;
            if (*ratio / (1.0 - *ratio) * size <= tolerance) return 1;
        }
        before = size;
    }
    return 0;
}

/* Tries a step from s->at.  With `judge` its error must be small; `advice` is then the factor for the next step, or,
   after a failure, for another try.  1 when `end` holds the end of the step. */
int try_step(Solver *s, double h, int judge, Instant *end, double *advice) {
    double *z = s->work + 6 * N, *weight = z + 3 * N, *error = weight + N, *y = error + N, *d = y + N;
    double rtol = 0.1 * pow(s->tolerance, 2.0 / 3.0), tolerance = fmax(2.2e-15 / rtol, fmin(1e-2, 0.1 * sqrt(rtol))), ratio;
    if (h != s->factored_step) {
        model_jacobian(s->at.t, s->at.y, s->at.d, s->p, s->at.z, s->jacobian);
        int status = make_factors(s, h);
        *advice = 0.5;
        if (status) return 0;
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) z[3 * i + k] = C[k] * h * s->at.d[i];
    if (!find_stages(s, h, z, weight, rtol, tolerance, &ratio)) {
        s->factored_step = 0.0;
        *advice = 0.5;
        return 0;
    }
    if (ratio > 1e-2) s->factored_step = 0.0; /* the Jacobian has aged */
    for (int i = 0; i < N; i++) {
        end->y[i] = s->at.y[i] + z[3 * i + 2];
        end->d[i] = (B[2][0] * z[3 * i] + B[2][1] * z[3 * i + 1] + B[2][2] * z[3 * i + 2]) / h;
    }
    end->t = s->at.t + h;
    memcpy(end->z, s->at.z, sizeof end->z);
    *advice = 1.0;
    if (!judge) return 1;
    double err = 0.0;
    for (int again = 0; again < 2; again++) { /* the second time filtered once more: stiff first steps need that */
        for (int i = 0; i < N; i++) {
            d[i] = -(E[0] * z[3 * i] + E[1] * z[3 * i + 1] + E[2] * z[3 * i + 2]) / h;
            y[i] = s->at.y[i] + (again ? error[i] : 0.0);
            weight[i] = weight_of(s, i, fmax(fabs(s->at.y[i]), fabs(end->y[i])), rtol);
        }
        model_residual(s->at.t, y, d, s->p, s->at.z, error);
        for (int i = 0; i < N; i++) error[i] = -error[i];
        solve_with(&s->single, error);
        err = fmax(norm(error, weight, 1), 1e-10);
        if (err < 1.0) break;
    }
    *advice = fmin(8.0, fmax(0.2, 0.9 * pow(err, -0.25)));
    if (!(err < 1.0)) *advice = isfinite(err) ? fmin(*advice, 0.9) : 0.2;
    return err < 1.0;
}
