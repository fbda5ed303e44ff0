/* Runs a model: consistent start, Radau IIA(5) with step control, located events. */
#ifndef SOLVER_H
#define SOLVER_H

#include "linear.h"
#include "model.h"

enum { RUNNING, TERMINATED, FAILED };
enum { PAST = 12 };

typedef struct Solver {
    double p[SIZE_P];     /* parameters, tables, constants */
    double start[SIZE_Y]; /* start values that were given */
    int given_p[SIZE_P], given_start[SIZE_Y];
    int changed; /* parameters or starts differ from the exported ones */
    Instant at;  /* where the run is */
    double tolerance, step, longest;
    double begin; /* time at the start of the run */
    double seen[SIZE_Y], largest; /* how large each unknown, and any of them, has been */
    double noise[SIZE_Y];         /* what rounding alone may do to it in a step */
    int stage_order[3 * SIZE_Y];
    double zone[SIZE_ROOTS];  /* how far from zero the located roots of an event were left */
    double slack[SIZE_ROOTS]; /* roots that begin a step on the wrong side, by rounding, may stay so far from zero */
    double past[SIZE_MODES][PAST]; /* when each mode changed, the latest last */
    double last_tick[SIZE_MODES];
    int conditions[SIZE_CONDITIONS];
    int state;         /* RUNNING, TERMINATED or FAILED */
    char message[400]; /* why */
    long steps, events;
    void (*warn)(void *context, const char *text);
    void *context;
    Entries entries;
    Factors stages, single;
    double factored_step, jacobian[SIZE_JACOBIAN];
    double *work;
} Solver;

/* NULL without memory.  Values of parameters and starts may be given before `start_run`. */
Solver *make_solver(void);
void free_solver(Solver *s);
int parameter_number(const char *name); /* -1: there is none */
int start_number(const char *name);
/* 0: not possible, the message says why. */
int give_parameter(Solver *s, int number, double value);
int give_start(Solver *s, int number, double value);

int start_run(Solver *s, double time);           /* 1 when it succeeded */
int advance(Solver *s, double time);             /* to that time; 1 when it succeeded */
int set_inputs(Solver *s, const double *values); /* inputs jump: an event */
void end_run(Solver *s);                         /* `terminal()` is true */

/* For a solver outside, which sets time, states and inputs in s->at: */
int follow_states(Solver *s);                      /* finds the other unknowns and the rates */
int event_now(Solver *s);                          /* modes that have been left change, samples that are due act */
double next_time_event(Solver *s, double stop);    /* INFINITY: none before `stop` */

/* used by the parts of the solver */
int settle(Solver *s, const Instant *left, const double *z, const int *held, const double *value, int starting,
           Instant *result);
int fail(Solver *s, const char *format, ...);
double size_of(const Solver *s, int i, double y);
void note_sizes(Solver *s, const double *y);
void read_modes(Solver *s, Instant *at);
int sample_due(Solver *s, double time, int inclusive, double *next, int *due);
int handle_event(Solver *s, const Instant *left, const int *crossed, const int *due);
int handle_start(Solver *s);
int try_step(Solver *s, double h, int judge, Instant *end, double *advice);
void sides(const double *z, double *side);
int has_left(const Mode *mode, int r, double z, double g);

#endif
