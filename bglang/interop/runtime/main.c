/* Runs the model and prints its variables as comma-separated values.

   ./model [--stop T] [--points N] [--tol TOL] [-o out.csv] [--list] [name=value ...] */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warn(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "warning: %s\n", text);
}

static void print_name(FILE *file, const char *name) {
    if (strchr(name, ','))
        fprintf(file, ",\"%s\"", name);
    else
        fprintf(file, ",%s", name);
}

static void print_row(FILE *file, Solver *s) {
    static double out[SIZE_OUTPUTS];
    model_outputs(s->at.t, s->at.y, s->at.d, s->p, s->at.z, out);
    fprintf(file, "%.17g", s->at.t);
    for (int k = 0; k < N_OUTPUTS; k++) fprintf(file, ",%.17g", out[k]);
    fputc('\n', file);
}

static void list(void) {
    for (int k = 0; k < N_PARAMETERS; k++) {
        const Parameter *q = &model_parameters[k];
        printf("%-30s %.10g %s  %s%s\n", q->name, model_default_p[q->place], q->unit, q->description,
               q->settable ? "" : " (fixed)");
    }
    for (int i = 0; i < N_UNKNOWNS; i++)
        if (model_unknowns[i].state)
            printf("%s.start = %.10g %s\n", model_unknowns[i].name, model_start.y[i], model_unknowns[i].unit);
}

static int give(Solver *s, char *text) {
    char *equals = strchr(text, '='), *end;
    if (!equals) return fprintf(stderr, "`%s` is not of the form name=value\n", text), 0;
    *equals = 0;
    double value = strtod(equals + 1, &end);
    int parameter = parameter_number(text), start = start_number(text);
    if (*end || end == equals + 1) return fprintf(stderr, "`%s` is no number\n", equals + 1), 0;
    if (parameter < 0 && start < 0) return fprintf(stderr, "the model has no parameter or start `%s`\n", text), 0;
    int good = parameter >= 0 ? give_parameter(s, parameter, value) : give_start(s, start, value);
    if (!good) fprintf(stderr, "%s\n", s->message);
    return good;
}

static double number(const char *option, const char *text) {
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0.0;
    if (!text || *end || end == text) {
        fprintf(stderr, "%s needs a number\n", option);
        exit(2);
    }
    return value;
}

int main(int count, char **words) {
    double stop = MODEL_STOP, begin = model_start.t;
    int points = MODEL_POINTS;
    FILE *file = stdout;
    Solver *s = make_solver();
    if (!s) return 3;
    s->warn = warn;
    for (int k = 1; k < count; k++) {
        const char *next = k + 1 < count ? words[k + 1] : NULL;
        if (!strcmp(words[k], "--list")) return list(), 0;
        if (!strcmp(words[k], "--stop"))
            stop = number(words[k++], next);
        else if (!strcmp(words[k], "--points"))
            points = (int)number(words[k++], next);
        else if (!strcmp(words[k], "--tol"))
            s->tolerance = number(words[k++], next);
        else if (!strcmp(words[k], "-o")) {
            file = next ? fopen(next, "w") : NULL;
            k++;
            if (!file) return fprintf(stderr, "cannot write %s\n", next ? next : "a file without name"), 2;
        } else if (!give(s, words[k]))
            return 2;
    }
    if (points < 2 || !(stop >= begin) || !(s->tolerance >= 1e-14 && s->tolerance < 1.0))
        return fprintf(stderr, "--points is at least 2, --stop not before the start, --tol from 1e-14 to 1\n"), 2;
    s->longest = (stop - begin) / (points - 1);
    fputs("time", file);
    for (int k = 0; k < N_OUTPUTS; k++) print_name(file, model_output[k].name);
    fputc('\n', file);
    int good = start_run(s, begin);
    if (good) print_row(file, s);
    for (int k = 1; good && k < points && s->state == RUNNING; k++) {
        good = advance(s, k == points - 1 ? stop : begin + k * s->longest);
        if (good && k == points - 1) end_run(s);
        if (good) print_row(file, s);
    }
    if (s->state != RUNNING) fprintf(stderr, "%s\n", s->message);
    int code = s->state == FAILED ? 3 : 0;
    if (file != stdout) fclose(file);
    free_solver(s);
    return code;
}
