#include "linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void add_entry(Entries *e, int row, int column, double value) {
    if (e->count == e->room) {
        int room = 2 * e->room + 64;
        int *rows = realloc(e->row, room * sizeof(int));
        if (rows) e->row = rows;
        int *columns = realloc(e->column, room * sizeof(int));
        if (columns) e->column = columns;
        double *values = realloc(e->value, room * sizeof(double));
        if (values) e->value = values;
        if (!rows || !columns || !values) {
            e->count = -1; /* factor() tells */
            return;
        }
        e->room = room;
    }
    if (e->count < 0) return;
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

void free_entries(Entries *e) {
    free(e->row);
    free(e->column);
    free(e->value);
    memset(e, 0, sizeof *e);
}

void free_factors(Factors *f) {
    void *all[] = {f->order, f->pivot, f->l_start, f->l_row, f->u_start, f->u_row, f->l,    f->u,
                   f->scale, f->work,  f->path,    f->start, f->row,     f->value};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    memset(f, 0, sizeof *f);
}

static int grow(void *pointer, size_t size) {
    void *made = realloc(*(void **)pointer, size ? size : 1);
    if (!made) return 0;
    *(void **)pointer = made;
    return 1;
}

static int make_room(Factors *f, int n, int count) {
    if (n > f->room_n) {
        if (!grow(&f->order, n * sizeof(int)) || !grow(&f->pivot, n * sizeof(int)) ||
            !grow(&f->l_start, (n + 1) * sizeof(int)) || !grow(&f->u_start, (n + 1) * sizeof(int)) ||
            !grow(&f->scale, n * sizeof(double)) || !grow(&f->work, n * sizeof(double)) ||
            !grow(&f->path, 3 * n * sizeof(int)) || !grow(&f->start, (n + 1) * sizeof(int)))
            return 0;
        f->room_n = n;
    }
    if (count > f->room) {
        if (!grow(&f->row, count * sizeof(int)) || !grow(&f->value, count * sizeof(double))) return 0;
        f->room = count;
    }
    return 1;
}

static int factor_room(int **row, double **value, int *room, int needed) {
    if (needed <= *room) return 1;
    int more = 2 * needed;
    if (!grow(row, more * sizeof(int)) || !grow(value, more * sizeof(double))) return 0;
    *room = more;
    return 1;
}

/* Entries sorted by columns, rows divided by their largest entry. */
static void compress(Factors *f, int n, const Entries *e) {
    for (int i = 0; i < n; i++) f->scale[i] = 0.0;
    for (int i = 0; i <= n; i++) f->start[i] = 0;
    for (int k = 0; k < e->count; k++) {
        double size = fabs(e->value[k]);
        if (size > f->scale[e->row[k]]) f->scale[e->row[k]] = size;
        f->start[e->column[k] + 1]++;
    }
    for (int i = 0; i < n; i++) f->start[i + 1] += f->start[i];
    for (int i = 0; i < n; i++) f->scale[i] = f->scale[i] > 0.0 ? 1.0 / f->scale[i] : 1.0;
    int *next = f->path;
    memcpy(next, f->start, n * sizeof(int));
    for (int k = 0; k < e->count; k++) {
        int at = next[e->column[k]]++;
        f->row[at] = e->row[k];
        f->value[at] = e->value[k] * f->scale[e->row[k]];
    }
}

/* Rows that a column of the matrix reaches through the factors so far, in the order in which they must be eliminated:
   path[top .. n-1].  path[n ...] is the stack, path[2n ...] where each row on it has got to; `mark` tells rows seen. */
static int reach(Factors *f, int column, int *mark, int stamp) {
    int n = f->n, top = n, *path = f->path, *stack = f->path + n, *next = f->path + 2 * n;
    for (int k = f->start[column]; k < f->start[column + 1]; k++) {
        if (mark[f->row[k]] == stamp) continue;
        int head = 0;
        stack[0] = f->row[k];
        while (head >= 0) {
            int i = stack[head], step = f->pivot[i], done = 1;
            if (mark[i] != stamp) {
                mark[i] = stamp;
                next[head] = step < 0 ? 0 : f->l_start[step] + 1;
            }
            int end = step < 0 ? 0 : f->l_start[step + 1];
            for (int at = next[head]; at < end; at++) {
                int row = f->l_row[at];
                if (mark[row] == stamp) continue;
                next[head] = at + 1;
                stack[++head] = row;
                done = 0;
                break;
            }
            if (done) {
                head--;
                path[--top] = i;
            }
        }
    }
    return top;
}

static int eliminate(Factors *f, int k, int column, int top, int *count_l, int *count_u) {
    int n = f->n;
    double *x = f->work;
    for (int at = top; at < n; at++) x[f->path[at]] = 0.0;
    for (int at = f->start[column]; at < f->start[column + 1]; at++) x[f->row[at]] += f->value[at];
    for (int at = top; at < n; at++) {
        int i = f->path[at], step = f->pivot[i];
        if (step < 0) continue;
        for (int p = f->l_start[step] + 1; p < f->l_start[step + 1]; p++) x[f->l_row[p]] -= f->l[p] * x[i];
        f->u_row[*count_u] = step;
        f->u[(*count_u)++] = x[i];
    }
    int best = -1, diagonal = 0;
    double largest = 0.0;
    for (int at = top; at < n; at++) {
        int i = f->path[at];
        if (f->pivot[i] >= 0) continue;
        if (i == column) diagonal = 1;
        if (fabs(x[i]) > largest) largest = fabs(x[i]), best = i;
    }
    if (best < 0 || !(largest > 0.0) || !isfinite(largest)) return 1;
    if (diagonal && fabs(x[column]) >= 0.1 * largest) best = column; /* spares new entries */
    double pivot = x[best];
    f->u_row[*count_u] = k;
    f->u[(*count_u)++] = pivot;
    f->pivot[best] = k;
    f->l_row[*count_l] = best;
    f->l[(*count_l)++] = 1.0;
    for (int at = top; at < n; at++) {
        int i = f->path[at];
        if (f->pivot[i] >= 0) continue;
        f->l_row[*count_l] = i;
        f->l[(*count_l)++] = x[i] / pivot;
    }
    return 0;
}

int factor(Factors *f, int n, const Entries *entries, const int *order) {
    if (entries->count < 0 || !make_room(f, n, entries->count)) return -1;
    f->n = n;
    compress(f, n, entries);
    int *mark = calloc(n ? n : 1, sizeof(int)), count_l = 0, count_u = 0, status = 0;
    if (!mark) return -1;
    for (int i = 0; i < n; i++) f->pivot[i] = -1, f->order[i] = order[i];
    for (int k = 0; k < n && status == 0; k++) {
        f->l_start[k] = count_l;
        f->u_start[k] = count_u;
        if (!factor_room(&f->l_row, &f->l, &f->room_l, count_l + n) ||
            !factor_room(&f->u_row, &f->u, &f->room_u, count_u + n)) {
            status = -1;
            break;
        }
        f->l_start[k + 1] = count_l;
        int top = reach(f, order[k], mark, k + 1);
        status = eliminate(f, k, order[k], top, &count_l, &count_u);
    }
    free(mark);
    if (status) return status;
    f->l_start[n] = count_l;
    f->u_start[n] = count_u;
    for (int p = 0; p < count_l; p++) f->l_row[p] = f->pivot[f->l_row[p]];
    return 0;
}

void solve_with(Factors *f, double *b) {
    int n = f->n;
    double *x = f->work;
    for (int i = 0; i < n; i++) x[f->pivot[i]] = b[i] * f->scale[i];
    for (int j = 0; j < n; j++)
        for (int p = f->l_start[j] + 1; p < f->l_start[j + 1]; p++) x[f->l_row[p]] -= f->l[p] * x[j];
    for (int j = n - 1; j >= 0; j--) {
        int last = f->u_start[j + 1] - 1;
        x[j] /= f->u[last];
        for (int p = f->u_start[j]; p < last; p++) x[f->u_row[p]] -= f->u[p] * x[j];
    }
    for (int k = 0; k < n; k++) b[f->order[k]] = x[k];
}
