/* Connected components: a partition of 0, ..., n - 1 into islands.
 *
 * Disjoint sets as trees of links (Galler and Fischer 1964), with paths halved on the way up (van
 * Leeuwen and Tarjan 1984). The smallest member of an island is its root, so that neither roots nor
 * numbers depend on the order in which members were joined. Contacts, soft contacts, impacts, what
 * sleeps and what is awake are all divided by these. */
#ifndef ZW_MATH_PARTITION_H
#define ZW_MATH_PARTITION_H

/* Each alone. */
static inline void partition_begin(int n, int *link)
{
    for (int i = 0; i < n; i++) {
        link[i] = i;
    }
}

/* The smallest member of the island of i. */
static inline int partition_root(int *link, int i)
{
    while (link[i] != i) {
        i = link[i] = link[link[i]];
    }
    return i;
}

/* The islands of i and j become one; returns its root. */
static inline int partition_join(int *link, int i, int j)
{
    i = partition_root(link, i);
    j = partition_root(link, j);
    int low = i < j ? i : j;
    link[i < j ? j : i] = low;
    return low;
}

/* link[i] is the root of i itself from now on. */
static inline void partition_flatten(int n, int *link)
{
    for (int i = 0; i < n; i++) { /* roots come first */
        link[i] = link[link[i]];
    }
}

#endif
