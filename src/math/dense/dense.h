/* Small dense linear algebra, row-major, in place, allocating nothing.
 *
 * Invariants
 * 1. Every inner loop is either elementwise over contiguous memory or dense_dot, whose eight
 * partial sums have a fixed order. So any vector width gives the same bits.
 * 2. Matrices are passed as (rows, columns, pointer, stride). */
#ifndef ZW_MATH_DENSE_H
#define ZW_MATH_DENSE_H

double dense_dot(int n, const double *x, const double *y);
double dense_norm(int n, const double *x);                         /* Euclidean */
double dense_largest(int n, const double *x);                      /* max |x_i| */
void dense_axpy(int n, double s, const double *x, double *y);      /* y += s x */
void dense_axpy_size(int n, double s, const double *x, double *y); /* y += |s x| */
void dense_scale(int n, double s, double *x);
void dense_swap(int n, double *x, double *y);

double dense_dot_size(int n, const double *x, const double *y); /* sum |x_i y_i| */
/* One look at a row: row . x, sum |row_i x_i|, row . y, and the squared length of (row_i s_i). */
void dense_look(int n, const double *row, const double *x, const double *y, const double *s,
                double out[4]);
/* The first entry that is not a number of at most this size, or -1. */
long dense_first_beyond(long n, const double *x, double size);

/* y += sum_i s_i row_i over `count` rows: the loop that everything heavy is made of. s_i stands at
 * s[i * step]. Terms are added in the order of i. */
void dense_combine(int count, int n, const double *s, int step, const double *rows, int stride,
                   double *y);

/* The same for m results at once: Y_a = sum_i s_ai row_i, or Y_a += if `add`, s_ai at
 * s[a * across + i * step]. */
void dense_product(int add, int m, int count, int n, const double *s, int across, int step,
                   const double *rows, int stride, double *Y, int Y_stride);

/* Y_je = s_e X_je for X and Y n x m. */
void dense_scale_columns(int n, int m, const double *s, const double *X, double *Y);
/* square[e] = sum_j X_je^2 for X n x m, m a multiple of eight. */
void dense_column_squares(int n, int m, const double *X, double *square);

/* T (n x m) = A' for A m x n; what its stride has beyond m is set to zero. */
void dense_transpose(int m, int n, const double *A, int stride, double *T, int T_stride);

void dense_multiply(int m, int n, const double *A, int stride, const double *x, double *y);
/* The same for a symmetric A of which the lower triangle is given. */
void dense_multiply_symmetric(int n, const double *A, int stride, const double *x, double *y);
void dense_multiply_transposed(int m, int n, const double *A, int stride, const double *x,
                               double *y);

/* Jacobi's rotation of rows and columns p and q of the symmetric A (n x n), whose entry there
 * becomes zero: A = R A R', V = V R'. With V = 1 at first, V A V' stays what A was. */
void dense_turn(double *A, double *V, int n, int p, int q);

/* The upper triangle of H += s x y', rows 0..n-1: the half that dense_cholesky reads. */
void dense_update_upper(int n, double s, const double *x, const double *y, double *H, int stride);

/* H = U'U from the upper triangle of H, in its place; the lower one is scratch. Returns n, or the
 * index of the first pivot that is not above floor times its original diagonal entry: that pivot
 * stands on the diagonal then, rows from it on and three before it are in disorder. */
int dense_cholesky(int n, double *H, int stride, double floor);
void dense_solve_upper_transposed(int n, const double *U, int stride, double *x); /* x = U' \ x */
void dense_solve_upper(int n, const double *U, int stride, double *x);            /* x = U \ x */
/* The same for m right-hand sides at once, X = U' \ X, with X n x m (row k: component k of each)
 * and m a multiple of eight. */
void dense_solve_upper_transposed_many(int n, int m, const double *U, int stride, double *X);

/* x = J \ x by elimination with partial pivoting; J is used up. Works on whole lines: the stride is
 * a multiple of eight. A pivot below `floor` is lifted to it. */
void dense_solve_general(int n, double *J, int stride, double floor, double *x);

/* A = [L 0] Q' by Householder reflections from the right, with row pivoting: the next row is always
 * the one farthest from the span of the rows already taken. Row i of the result holds L's row i up
 * to the diagonal (columns <= i, or <= rank), and after it the reflection vector of step i.
 *   order[m]  which row of A stands in row i now
 *   beta[min(m,n)]  the reflections H_i = I - beta_i v_i v_i'
 *   distance[2m] on exit the distance each row had from the span of the rows before it; then
 * scratch Stops when the farthest distance is <= tolerance; returns the rank. Rows themselves are
 * permuted.
 */
int dense_lq(int m, int n, double *A, int stride, double tolerance, int *order, double *beta,
             double *distance);
/* x = Q' x or x = Q x for a vector of n entries. */
void dense_lq_apply_transposed(int rank, int n, const double *A, int stride, const double *beta,
                               double *x);
void dense_lq_apply_transposed_rows(int rank, int n, const double *A, int stride,
                                    const double *beta, int rows, double *x, int x_stride);
void dense_lq_apply(int rank, int n, const double *A, int stride, const double *beta, double *x);

/* dense_lines.c: strides are multiples of eight, and vectors have room for whole lines.
 *
 * A = U L from the last row up, without pivoting, for a tree's sparsity: L stays in A, U's factors
 * go to U, row k having those of column k. Answers n, or where a pivot vanished. Then x = A \ x. */
int dense_ul(int n, double *A, int stride, double *U);
void dense_ul_solve(int n, const double *A, int stride, const double *U, double *x);
/* H += weight J' T for rows of J and T with entries in these columns only. */
void dense_fold(int count, const int *column, int rows, double weight, const double *J,
                const double *T, int stride, double *H);
void dense_lines_times(int m, int wide, const double *A, const double *x, double *y); /* y = A x */

/* P J = L U with partial pivoting. A pivot below `floor` is replaced by it. pivot[n]. */
void dense_lu(int n, double *J, int stride, int *pivot, double floor);
void dense_lu_solve(int n, const double *J, int stride, const int *pivot, double *x);

#endif
