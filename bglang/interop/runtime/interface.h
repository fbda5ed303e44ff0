/* What model.c offers: the equations F(t, y, dy/dt, p, z) = 0 of one model as plain functions.
   y: unknowns, d: their rates, p: parameters, tables and constants, z: modes and discrete variables, which change at
   events only.  Sizes are in model.h. */
#ifndef INTERFACE_H
#define INTERFACE_H

typedef struct {
    double t, y[SIZE_Y], d[SIZE_Y], z[SIZE_MODES];
} Instant;

typedef struct {
    const char *name, *unit, *description;
    int place; /* in p */
    int settable;
} Parameter;

typedef struct {
    const char *name, *unit;
    int state; /* its start may be set */
} Unknown;

typedef struct {
    const char *name, *unit, *description;
} Output;

typedef struct {
    const char *name, *unit;
    int mode; /* its place in z */
} Input;

/* How an entry of z follows from its root functions, which are positive while the mode holds:
   RELATION 1 while g > 0, else 0;  COULOMB -1, 0 (sticks), 1;  FLOOR z <= x < z + 1;  SEGMENT a piece of a linear
   table;  SAMPLE 1 in the instant only;  DISCRETE changed by `when` and inputs. */
typedef enum { RELATION, COULOMB, FLOOR, SEGMENT, SAMPLE, DISCRETE } ModeKind;
typedef struct {
    ModeKind kind;
    int first, roots;        /* its root functions */
    int argument, arguments; /* its values among those of model_arguments */
    int strict, time_only;
    const char *text;
} Mode;

enum { REPORT_END, REPORT_NOTHING, REPORT_TERMINATE, REPORT_ERROR, REPORT_WARNING };

#define POINT double t, const double *y, const double *d, const double *p, const double *z, double *out
#define UNUSED_POINT (void)t, (void)y, (void)d, (void)p, (void)z, (void)out
void model_residual(POINT);          /* N_UNKNOWNS */
void model_residual_t(POINT);        /* its partial derivative by time */
void model_jacobian(POINT);          /* N_ENTRIES of dF/dy, then as many of dF/d(dy/dt), by columns */
void model_roots(POINT);             /* N_ROOTS */
void model_arguments(POINT);         /* arguments of modes */
void model_position(POINT);          /* N_POSITIONS: what else holds while a friction sticks */
void model_position_jacobian(POINT);
void model_outputs(POINT);           /* N_OUTPUTS */

extern const int model_jacobian_start[], model_jacobian_row[], model_column_order[];
extern const int model_position_start[], model_position_index[], model_position_row[];
extern const char model_differential[], model_storage[];
extern const double model_nominal[]; /* 0 where the source gives none */
extern const double model_default_p[SIZE_P];
extern const Instant model_start; /* consistent */
extern const Parameter model_parameters[];
extern const Unknown model_unknowns[];
extern const Output model_output[];
extern const Input model_inputs[];
extern const Mode model_modes[];
extern const int model_when_branch[], model_branch_condition[];

void model_compute_parameters(int level, double *p);
void model_starts(const double *p, double *y);

/* `when`: conditions, and what their branches do; `left` is the instant just before the event. */
#define EVENT const Instant *at, const Instant *left, const double *p, int initial, int terminal
#define UNUSED_EVENT (void)at, (void)left, (void)p, (void)initial, (void)terminal
void model_conditions(EVENT, int *out);
void model_latch(int branch, EVENT, double *z);
void model_assign(int branch, EVENT, double *z);
void model_reinit(int branch, EVENT, int *held, double *value);
int model_report(int branch, int number, EVENT); /* branch N_BRANCHES: assertions of the model itself */
const char *model_report_text(int branch, int number);

#endif
