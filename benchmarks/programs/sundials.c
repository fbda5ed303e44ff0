/* SUNDIALS in C: `ladder N STOP TOL` by CVODE with KLU, `robertson` and `pendulum` by IDA with a dense Jacobian. */
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

static long n;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static int ladder(double t, N_Vector yy, N_Vector ff, void *user) {
  double *y = N_VGetArrayPointer(yy), *f = N_VGetArrayPointer(ff);
  for (long k = 0; k < n; k++) {
    double before = k ? y[k - 1] : 1.0;
    f[k] = before - y[k] - (k + 1 < n ? y[k] - y[k + 1] : 0.0);
  }
  return 0;
}
static int ladder_jacobian(double t, N_Vector y, N_Vector f, SUNMatrix J, void *user, N_Vector a, N_Vector b, N_Vector c) {
  sunindextype *at = SM_INDEXPTRS_S(J), *row = SM_INDEXVALS_S(J), k = 0;
  double *v = SM_DATA_S(J);
  for (long j = 0; j < n; j++) {
    at[j] = k;
    if (j) { row[k] = j - 1; v[k++] = 1.0; }
    row[k] = j; v[k++] = j + 1 < n ? -2.0 : -1.0;
    if (j + 1 < n) { row[k] = j + 1; v[k++] = 1.0; }
  }
  at[n] = k;
  return 0;
}
static int robertson(double t, N_Vector yy, N_Vector dd, N_Vector rr, void *user) {
  double *y = N_VGetArrayPointer(yy), *d = N_VGetArrayPointer(dd), *r = N_VGetArrayPointer(rr);
  r[0] = d[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
  r[1] = d[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
  r[2] = d[2] - 3e7 * y[1] * y[1];
  return 0;
}
static int pendulum(double t, N_Vector yy, N_Vector dd, N_Vector rr, void *user) {
  double *y = N_VGetArrayPointer(yy), *d = N_VGetArrayPointer(dd), *r = N_VGetArrayPointer(rr);
  r[0] = d[0] - y[2];
  r[1] = d[1] - y[3];
  r[2] = d[2] + y[4] * y[0];
  r[3] = d[3] + y[4] * y[1] + 9.81;
  r[4] = y[2] * y[2] + y[3] * y[3] - y[4] * (y[0] * y[0] + y[1] * y[1]) - 9.81 * y[1];
  return 0;
}
int main(int count, char **words) {
  double stop = atof(words[count - 2]), tol = atof(words[count - 1]), best = 1e9, value = 0, t;
  int which = words[1][0];
  SUNContext context;
  SUNContext_Create(NULL, &context);
  n = which == 'l' ? atol(words[2]) : which == 'r' ? 3 : 5;
  for (int again = 0; again < 3; again++) {
    N_Vector y = N_VNew_Serial(n, context), d = N_VNew_Serial(n, context);
    N_VConst(0.0, y);
    N_VConst(0.0, d);
    if (which == 'l') {
      void *m = CVodeCreate(CV_BDF, context);
      SUNMatrix A = SUNSparseMatrix(n, n, 3 * n, CSC_MAT, context);
      SUNLinearSolver S = SUNLinSol_KLU(y, A, context);
      CVodeInit(m, ladder, 0.0, y);
      CVodeSStolerances(m, tol, tol);
      CVodeSetMaxNumSteps(m, 1000000);
      CVodeSetLinearSolver(m, S, A);
      CVodeSetJacFn(m, ladder_jacobian);
      double begin = now();
      CVodeSetStopTime(m, stop);
      if (CVode(m, stop, y, &t, CV_NORMAL) < 0) return 1;
      best = fmin(best, now() - begin);
    } else {
      double *start = N_VGetArrayPointer(y), *rate = N_VGetArrayPointer(d);
      start[0] = 1.0;
      if (which == 'r') rate[0] = -0.04, rate[1] = 0.04; else rate[3] = -9.81;
      void *m = IDACreate(context);
      SUNMatrix A = SUNDenseMatrix(n, n, context);
      SUNLinearSolver S = SUNLinSol_Dense(y, A, context);
      IDAInit(m, which == 'r' ? robertson : pendulum, 0.0, y, d);
      IDASStolerances(m, tol, which == 'r' ? 1e-4 * tol : tol);
      IDASetMaxNumSteps(m, 1000000);
      IDASetLinearSolver(m, S, A);
      double begin = now();
      IDASetStopTime(m, stop);
      if (IDASolve(m, stop, &t, y, d, IDA_NORMAL) < 0) return 1;
      best = fmin(best, now() - begin);
    }
    value = N_VGetArrayPointer(y)[0];
  }
  printf("{\"value\": %.17g, \"solve\": %.9g}\n", value, best);
  return 0;
}
