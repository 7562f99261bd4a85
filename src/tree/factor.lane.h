/* M = L' D L on the tree's own sparsity, and its solves.
 *
 * Elimination from the last dof to the first. Eliminating k changes only pairs of ancestors of k,
 * whose entries exist: no fill (Featherstone 2005). The row of an ancestor has the same columns as
 * the first part of row k, so its update is a loop over two arrays:
 *
 *     l = M_ki / D_k,    row i -= l row k  up to column i,    M_ki = l
 *
 * Dofs d, d+1, ..., each the parent of the next, have rows that start with the same columns, those
 * `above`, followed by their own triangle. Up to TREE_BLOCK of them are eliminated together, so
 * that a row above is loaded and stored once for all of them; the order of operations on each entry
 * is still the same, the last dof first. */

/* Factors the triangle of a block and updates the block's own rows. */
PART zw_mask factor_block(const tree_mechanism *tree, int first, int n, const zw_real *diagonal,
                          zw_real *L)
{
    const zw_real zero = lane_fill(0.0);
    zw_mask low = zero > zero;
    int above = tree->depth[first] - 1;
    for (int k = n - 1; k >= 0; k--) {
        zw_real *row = L + tree->start[first + k], pivot = row[above + k];
        if (diagonal != NULL) {
            pivot += diagonal[first + k];
        }
        low |= lane_not_above(pivot, zero);
        zw_real inverse = 1.0 / pivot;
        row[above + k] = inverse;
        for (int e = k - 1; e >= 0; e--) {
            zw_real *upper = L + tree->start[first + e], l = row[above + e] * inverse;
            for (int s = 0; s <= above + e; s++) {
                upper[s] -= l * row[s];
            }
            row[above + e] = l;
        }
    }
    return low;
}

/* Updates the rows above a block of n; n is a constant where this is inlined. */
WHOLE_PART void factor_above(const tree_mechanism *tree, int first, const int n, zw_real *L)
{
    const int *column = tree->column + tree->start[first];
    int above = tree->depth[first] - 1;
    zw_real *row[TREE_BLOCK], inverse[TREE_BLOCK], l[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = L + tree->start[first + k];
        inverse[k] = row[k][above + k];
    }
    for (int t = above - 1; t >= 0; t--) {
        zw_real *upper = L + tree->start[column[t]];
        for (int k = 0; k < n; k++) {
            l[k] = row[k][t] * inverse[k];
        }
        for (int s = 0; s <= t; s++) {
            zw_real entry = upper[s];
            for (int k = n - 1; k >= 0; k--) {
                entry -= l[k] * row[k][s];
            }
            upper[s] = entry;
        }
        for (int k = 0; k < n; k++) {
            row[k][t] = l[k];
        }
    }
}

LANE_CLONES void LANE(tree_factor)(const tree_mechanism *tree, const zw_real *diagonal,
                                   zw_real *work, zw_mask *bad)
{
    const zw_real zero = lane_fill(0.0), *M = work + tree->at.M;
    zw_real *L = work + tree->at.L;
    zw_mask low = zero > zero;
    for (int k = 0; k < tree->entries; k++) {
        L[k] = M[k];
    }
    for (int b = tree->blocks - 1; b >= 0; b--) {
        int first = tree->block[b], n = tree->block[b + 1] - first;
        low |= factor_block(tree, first, n, diagonal, L);
        switch (n) {
        case 1:
            factor_above(tree, first, 1, L);
            break;
        case 2:
            factor_above(tree, first, 2, L);
            break;
        case 3:
            factor_above(tree, first, 3, L);
            break;
        default:
            factor_above(tree, first, TREE_BLOCK, L);
            break;
        }
    }
    *bad = low;
}

/* ---- Solves ---------------------------------------------------------------------------------- */

/* x = L' \ x for a block: first among its own dofs, then above. */
WHOLE_PART void tips_block(const tree_mechanism *tree, int first, const int n, const zw_real *L,
                           zw_real *x)
{
    const int *column = tree->column + tree->start[first];
    int above = tree->depth[first] - 1;
    const zw_real *row[TREE_BLOCK];
    zw_real own[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = L + tree->start[first + k];
        own[k] = x[first + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int e = 0; e < k; e++) {
            own[e] -= row[k][above + e] * own[k];
        }
    }
    for (int t = 0; t < above; t++) {
        zw_real sum = x[column[t]];
        for (int k = n - 1; k >= 0; k--) {
            sum -= row[k][t] * own[k];
        }
        x[column[t]] = sum;
    }
    for (int k = 0; k < n; k++) {
        x[first + k] = own[k];
    }
}

/* x = L \ x for a block: first from above, then among its own dofs. */
WHOLE_PART void root_block(const tree_mechanism *tree, int first, const int n, const zw_real *L,
                           zw_real *x)
{
    const int *column = tree->column + tree->start[first];
    int above = tree->depth[first] - 1;
    const zw_real *row[TREE_BLOCK];
    zw_real own[TREE_BLOCK];
    for (int k = 0; k < n; k++) {
        row[k] = L + tree->start[first + k];
        own[k] = x[first + k];
    }
    for (int t = 0; t < above; t++) {
        zw_real value = x[column[t]];
        for (int k = 0; k < n; k++) {
            own[k] -= row[k][t] * value;
        }
    }
    for (int k = 0; k < n; k++) {
        for (int e = 0; e < k; e++) {
            own[k] -= row[k][above + e] * own[e];
        }
        x[first + k] = own[k];
    }
}

/* x = L' \ x: from the tips to the root */
PART void solve_tips(const tree_mechanism *tree, const zw_real *L, zw_real *x)
{
    for (int b = tree->blocks - 1; b >= 0; b--) {
        int first = tree->block[b];
        switch (tree->block[b + 1] - first) {
        case 1:
            tips_block(tree, first, 1, L, x);
            break;
        case 2:
            tips_block(tree, first, 2, L, x);
            break;
        case 3:
            tips_block(tree, first, 3, L, x);
            break;
        default:
            tips_block(tree, first, TREE_BLOCK, L, x);
            break;
        }
    }
}

/* x = L \ x: from the root to the tips */
PART void solve_root(const tree_mechanism *tree, const zw_real *L, zw_real *x)
{
    for (int b = 0; b < tree->blocks; b++) {
        int first = tree->block[b];
        switch (tree->block[b + 1] - first) {
        case 1:
            root_block(tree, first, 1, L, x);
            break;
        case 2:
            root_block(tree, first, 2, L, x);
            break;
        case 3:
            root_block(tree, first, 3, L, x);
            break;
        default:
            root_block(tree, first, TREE_BLOCK, L, x);
            break;
        }
    }
}

LANE_CLONES void LANE(tree_solve)(const tree_mechanism *tree, const zw_real *work, zw_real *x)
{
    const zw_real *L = work + tree->at.L;
    solve_tips(tree, L, x);
    for (int k = 0; k < tree->nv; k++) {
        x[k] *= L[tree->start[k + 1] - 1];
    }
    solve_root(tree, L, x);
}

/* M = (L' D^1/2) (L' D^1/2)': x = L' D^1/2 \ x, and with its transpose. */
LANE_CLONES void LANE(tree_solve_lower)(const tree_mechanism *tree, const zw_real *work, zw_real *x)
{
    const zw_real *L = work + tree->at.L;
    solve_tips(tree, L, x);
    for (int k = 0; k < tree->nv; k++) {
        x[k] *= lane_sqrt(L[tree->start[k + 1] - 1]);
    }
}

LANE_CLONES void LANE(tree_solve_upper)(const tree_mechanism *tree, const zw_real *work, zw_real *x)
{
    const zw_real *L = work + tree->at.L;
    for (int k = 0; k < tree->nv; k++) {
        x[k] *= lane_sqrt(L[tree->start[k + 1] - 1]);
    }
    solve_root(tree, L, x);
}
