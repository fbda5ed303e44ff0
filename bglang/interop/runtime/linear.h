/* Sparse linear systems: LU factors with partial pivoting (Gilbert and Peierls, left-looking), rows scaled. */
#ifndef LINEAR_H
#define LINEAR_H

typedef struct {
    int n;              /* size of the factored matrix */
    int room_l, room_u; /* allocated entries */
    int *order;         /* order of elimination of the columns */
    int *pivot;         /* row of the matrix -> its place among the pivots */
    int *l_start, *l_row, *u_start, *u_row;
    double *l, *u;
    double *scale; /* of the rows */
    double *work;
    int *path;
    int *start, *row; /* the matrix by columns */
    double *value;
    int room, room_n;
} Factors;

/* A matrix while it is collected, entry by entry; entries at one place add up. */
typedef struct {
    int count, room;
    int *row, *column;
    double *value;
} Entries;

void add_entry(Entries *entries, int row, int column, double value);
void free_entries(Entries *entries);

/* 0 when the factors are made, 1 where the matrix is singular, -1 without memory. */
int factor(Factors *f, int n, const Entries *entries, const int *order);
void solve_with(Factors *f, double *right_then_solution);
void free_factors(Factors *f);

#endif
