/* The model as a unit of FMI 2.0, for co-simulation (with the solver of this folder) and for model exchange.
   Declarations follow the standard; nothing else is needed to compile it. */
#include "solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI2_FUNCTION_PREFIX
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define FMI(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#define API
#elif defined(_WIN32)
#define FMI(name) name
#define API __declspec(dllexport)
#else
#define FMI(name) name
#define API __attribute__((visibility("default")))
#endif

#define N N_UNKNOWNS
typedef void *Component;
typedef unsigned int Reference;
typedef double Real;
typedef int Integer, Boolean;
typedef char Char;
typedef const Char *String;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Type;
typedef enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED_STATUS } StatusKind;
typedef struct {
    void (*log)(void *, String, Status, String, String, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct {
    Boolean again, terminate, nominals, values, next_defined;
    Real next;
} EventInfo;

/* References are a kind and a number. */
enum { UNKNOWN = 0, RATE = 1, PARAMETER = 2, OUTPUT = 3, INPUT = 4, STRIDE = 1 << 24 };
enum { CREATED, INITIALIZING, READY };

typedef struct {
    Solver *solver;
    Callbacks calls;
    char *name;
    Type type;
    int phase, stale;
    double start, stop, inputs[SIZE_INPUTS], outputs[SIZE_OUTPUTS];
    int next_event_known;
} Unit;

static Status tell(Unit *u, Status status, const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (u->calls.log) u->calls.log(u->calls.environment, u->name, status, status == WARNING ? "warning" : "error", "%s", text);
    return status;
}

static void warn(void *unit, const char *text) { tell(unit, WARNING, "%s", text); }

static Status failed(Unit *u) { return tell(u, ERROR, "%s", u->solver->message); }

API const char *FMI(fmi2GetTypesPlatform)(void) { return "default"; }
API const char *FMI(fmi2GetVersion)(void) { return "2.0"; }
API Status FMI(fmi2SetDebugLogging)(Component c, Boolean on, size_t count, const String names[]) {
    (void)c, (void)on, (void)count, (void)names;
    return OK;
}

static void set_up(Unit *u) {
    u->solver->warn = warn;
    u->solver->context = u;
    u->phase = CREATED;
    u->stale = 1;
    u->start = model_start.t;
    u->stop = MODEL_STOP;
    for (int k = 0; k < N_INPUTS; k++) u->inputs[k] = model_start.z[model_inputs[k].mode];
}

API Component FMI(fmi2Instantiate)(String name, Type type, String guid, String resources, const Callbacks *calls,
                                   Boolean visible, Boolean logging) {
    (void)resources, (void)visible, (void)logging;
    Unit *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    if (calls) u->calls = *calls;
    u->type = type;
    u->name = malloc(strlen(name ? name : "") + 1);
    u->solver = make_solver();
    if (!u->name || !u->solver) goto wrong;
    strcpy(u->name, name ? name : "");
    if (!guid || strcmp(guid, MODEL_GUID)) {
        tell(u, ERROR, "the GUID does not belong to this binary");
        goto wrong;
    }
    set_up(u);
    return u;
wrong:
    free_solver(u->solver);
    free(u->name);
    free(u);
    return NULL;
}

API void FMI(fmi2FreeInstance)(Component c) {
    Unit *u = c;
    if (!u) return;
    free_solver(u->solver);
    free(u->name);
    free(u);
}

API Status FMI(fmi2SetupExperiment)(Component c, Boolean has_tolerance, Real tolerance, Real start, Boolean has_stop,
                                    Real stop) {
    Unit *u = c;
    if (has_tolerance && tolerance >= 1e-14 && tolerance < 1.0) u->solver->tolerance = tolerance;
    u->start = start;
    u->stop = has_stop ? stop : start + (MODEL_STOP - model_start.t);
    return OK;
}

API Status FMI(fmi2EnterInitializationMode)(Component c) {
    ((Unit *)c)->phase = INITIALIZING;
    return OK;
}

/* Solves the start with what has been set so far. */
static Status begin(Unit *u) {
    Solver *s = u->solver;
    s->longest = fmax(u->stop - u->start, 0.0) / 500.0;
    for (int k = 0; k < N_INPUTS; k++) {
        double *now = &s->at.z[model_inputs[k].mode];
        if (u->inputs[k] != model_start.z[model_inputs[k].mode]) s->changed = 1;
        *now = u->inputs[k];
    }
    if (!start_run(s, u->start)) return failed(u);
    u->stale = 1;
    return OK;
}

API Status FMI(fmi2ExitInitializationMode)(Component c) {
    Unit *u = c;
    Status status = begin(u);
    if (status == OK) u->phase = READY;
    return status;
}

API Status FMI(fmi2Terminate)(Component c) {
    end_run(((Unit *)c)->solver);
    return OK;
}

API Status FMI(fmi2Reset)(Component c) {
    Unit *u = c;
    free_solver(u->solver);
    u->solver = make_solver();
    if (!u->solver) return FATAL;
    set_up(u);
    return OK;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Outputs, and in model exchange whatever follows from states, time and inputs. */
static int refresh(Unit *u) {
    Solver *s = u->solver;
    if (!u->stale) return 1;
    if (u->phase == INITIALIZING && begin(u) != OK) return 0;
    if (u->phase == READY && u->type == MODEL_EXCHANGE && !follow_states(s)) return 0;
    model_outputs(s->at.t, s->at.y, s->at.d, s->p, s->at.z, u->outputs);
    u->stale = 0;
    return 1;
}

API Status FMI(fmi2GetReal)(Component c, const Reference references[], size_t count, Real values[]) {
    Unit *u = c;
    Solver *s = u->solver;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = references[i] / STRIDE, k = references[i] % STRIDE;
        if (kind == PARAMETER && k < N_PARAMETERS)
            values[i] = s->p[model_parameters[k].place];
        else if (kind == INPUT && k < N_INPUTS)
            values[i] = u->inputs[k];
        else if (u->phase == CREATED && kind == UNKNOWN && k < N)
            values[i] = s->given_start[k] ? s->start[k] : model_start.y[k];
        else if (!refresh(u))
            return failed(u);
        else if (kind == UNKNOWN && k < N)
            values[i] = s->at.y[k];
        else if (kind == RATE && k < N)
            values[i] = s->at.d[k];
        else if (kind == OUTPUT && k < N_OUTPUTS)
            values[i] = u->outputs[k];
        else
            return tell(u, ERROR, "there is no variable %u", references[i]);
    }
    return OK;
}

API Status FMI(fmi2SetReal)(Component c, const Reference references[], size_t count, const Real values[]) {
    Unit *u = c;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = references[i] / STRIDE, k = references[i] % STRIDE;
        int good = 0;
        if (kind == INPUT && k < N_INPUTS) {
            if (u->inputs[k] != values[i]) u->stale = 1;
            u->inputs[k] = values[i];
            if (u->phase == READY && u->type == MODEL_EXCHANGE) u->solver->at.z[model_inputs[k].mode] = values[i];
            continue;
        }
        if (u->phase == READY) return tell(u, ERROR, "variable %u cannot be set while the model runs", references[i]);
        if (kind == PARAMETER && k < N_PARAMETERS)
            good = values[i] == u->solver->p[model_parameters[k].place] || give_parameter(u->solver, (int)k, values[i]);
        else if (kind == UNKNOWN && k < N)
            good = values[i] == model_start.y[k] || give_start(u->solver, (int)k, values[i]);
        else
            return tell(u, ERROR, "variable %u cannot be set", references[i]);
        if (!good) return failed(u);
        u->stale = 1;
    }
    return OK;
}

#define NO_VALUES(name, type)                                                                                   \
    API Status FMI(name)(Component c, const Reference r[], size_t count, type v) {                              \
        (void)r, (void)v;                                                                                       \
        return count ? tell(c, ERROR, "all variables of this model are Real") : OK;                             \
    }
NO_VALUES(fmi2GetInteger, Integer *)
NO_VALUES(fmi2GetBoolean, Boolean *)
NO_VALUES(fmi2GetString, String *)
NO_VALUES(fmi2SetInteger, const Integer *)
NO_VALUES(fmi2SetBoolean, const Boolean *)
NO_VALUES(fmi2SetString, const String *)

/* --- co-simulation ------------------------------------------------------------------------------------------------ */

API Status FMI(fmi2DoStep)(Component c, Real time, Real step, Boolean no_return) {
    Unit *u = c;
    Solver *s = u->solver;
    (void)no_return;
    if (s->state == TERMINATED) return DISCARD;
    if (fabs(s->at.t - time) > 1e-9 * fmax(fabs(time), step))
        return tell(u, ERROR, "this step begins at %.9g, the last one ended at %.9g", time, s->at.t);
    s->longest = step;
    if (!set_inputs(s, u->inputs) || !advance(s, time + step)) return failed(u);
    u->stale = 1;
    return s->state == TERMINATED ? DISCARD : OK;
}

API Status FMI(fmi2CancelStep)(Component c) { return (void)c, ERROR; }
API Status FMI(fmi2SetRealInputDerivatives)(Component c, const Reference r[], size_t n, const Integer o[], const Real v[]) {
    (void)r, (void)o, (void)v;
    return n ? tell(c, ERROR, "inputs are constant during a step") : OK;
}
API Status FMI(fmi2GetRealOutputDerivatives)(Component c, const Reference r[], size_t n, const Integer o[], Real v[]) {
    (void)r, (void)o, (void)v;
    return n ? tell(c, ERROR, "derivatives of outputs are not offered") : OK;
}
API Status FMI(fmi2GetStatus)(Component c, const StatusKind kind, Status *value) {
    (void)kind, (void)value;
    return tell(c, DISCARD, "steps are never pending");
}
API Status FMI(fmi2GetRealStatus)(Component c, const StatusKind kind, Real *value) {
    if (kind != LAST_SUCCESSFUL_TIME) return DISCARD;
    *value = ((Unit *)c)->solver->at.t;
    return OK;
}
API Status FMI(fmi2GetIntegerStatus)(Component c, const StatusKind k, Integer *v) { return (void)c, (void)k, (void)v, DISCARD; }
API Status FMI(fmi2GetBooleanStatus)(Component c, const StatusKind kind, Boolean *value) {
    if (kind != TERMINATED_STATUS) return DISCARD;
    *value = ((Unit *)c)->solver->state == TERMINATED;
    return OK;
}
API Status FMI(fmi2GetStringStatus)(Component c, const StatusKind k, String *v) { return (void)c, (void)k, (void)v, DISCARD; }

/* --- model exchange ----------------------------------------------------------------------------------------------- */

API Status FMI(fmi2EnterEventMode)(Component c) { return (void)c, OK; }
API Status FMI(fmi2EnterContinuousTimeMode)(Component c) { return (void)c, OK; }

API Status FMI(fmi2NewDiscreteStates)(Component c, EventInfo *info) {
    Unit *u = c;
    Solver *s = u->solver;
    memset(info, 0, sizeof *info);
    if (!refresh(u) || !event_now(s)) return failed(u);
    u->stale = 1;
    info->values = 1;
    info->terminate = s->state == TERMINATED;
    double next = next_time_event(s, u->stop);
    info->next_defined = isfinite(next);
    info->next = next;
    return OK;
}

API Status FMI(fmi2CompletedIntegratorStep)(Component c, Boolean no_set, Boolean *enter_event, Boolean *terminate) {
    Unit *u = c;
    (void)no_set;
    if (!refresh(u)) return failed(u);
    note_sizes(u->solver, u->solver->at.y);
    *enter_event = 0;
    *terminate = 0;
    return OK;
}

API Status FMI(fmi2SetTime)(Component c, Real time) {
    Unit *u = c;
    if (u->solver->at.t != time) u->stale = 1;
    u->solver->at.t = time;
    return OK;
}

API Status FMI(fmi2SetContinuousStates)(Component c, const Real x[], size_t count) {
    Unit *u = c;
    size_t k = 0;
    for (int i = 0; i < N && k < count; i++)
        if (model_unknowns[i].state) u->solver->at.y[i] = x[k++];
    u->stale = 1;
    return OK;
}

API Status FMI(fmi2GetDerivatives)(Component c, Real derivatives[], size_t count) {
    Unit *u = c;
    size_t k = 0;
    if (!refresh(u)) return failed(u);
    for (int i = 0; i < N && k < count; i++)
        if (model_unknowns[i].state) derivatives[k++] = u->solver->at.d[i];
    return OK;
}

API Status FMI(fmi2GetEventIndicators)(Component c, Real indicators[], size_t count) {
    Unit *u = c;
    Solver *s = u->solver;
    double g[SIZE_ROOTS], side[SIZE_ROOTS];
    if (!refresh(u)) return failed(u);
    model_roots(s->at.t, s->at.y, s->at.d, s->p, s->at.z, g);
    sides(s->at.z, side);
    for (size_t r = 0; r < count && r < N_ROOTS; r++) indicators[r] = g[r] + side[r] * s->slack[r];
    return OK;
}

API Status FMI(fmi2GetContinuousStates)(Component c, Real x[], size_t count) {
    Unit *u = c;
    size_t k = 0;
    for (int i = 0; i < N && k < count; i++)
        if (model_unknowns[i].state) x[k++] = u->solver->at.y[i];
    return OK;
}

API Status FMI(fmi2GetNominalsOfContinuousStates)(Component c, Real nominals[], size_t count) {
    Unit *u = c;
    size_t k = 0;
    for (int i = 0; i < N && k < count; i++)
        if (model_unknowns[i].state)
            nominals[k++] = model_nominal[i] > 0.0 ? model_nominal[i] : u->solver->seen[i] > 0.0 ? u->solver->seen[i] : 1.0;
    return OK;
}

/* --- not offered -------------------------------------------------------------------------------------------------- */

API Status FMI(fmi2GetFMUstate)(Component c, void **state) { return (void)state, tell(c, ERROR, "not offered"); }
API Status FMI(fmi2SetFMUstate)(Component c, void *state) { return (void)state, tell(c, ERROR, "not offered"); }
API Status FMI(fmi2FreeFMUstate)(Component c, void **state) { return (void)c, (void)state, OK; }
API Status FMI(fmi2SerializedFMUstateSize)(Component c, void *state, size_t *size) {
    return (void)state, (void)size, tell(c, ERROR, "not offered");
}
API Status FMI(fmi2SerializeFMUstate)(Component c, void *state, char bytes[], size_t size) {
    return (void)state, (void)bytes, (void)size, tell(c, ERROR, "not offered");
}
API Status FMI(fmi2DeSerializeFMUstate)(Component c, const char bytes[], size_t size, void **state) {
    return (void)bytes, (void)size, (void)state, tell(c, ERROR, "not offered");
}
API Status FMI(fmi2GetDirectionalDerivative)(Component c, const Reference a[], size_t n, const Reference b[], size_t m,
                                             const Real v[], Real w[]) {
    return (void)a, (void)n, (void)b, (void)m, (void)v, (void)w, tell(c, ERROR, "not offered");
}
