/* Finds the word that a misspelt one was meant to be. */
#include <string.h>

#include "cli.h"

enum { LONGEST = 32 };

static int least(int a, int b, int c)
{
    int two = a < b ? a : b;
    return two < c ? two : c;
}

/* The number of insertions, deletions, changes, or swaps of neighbours that turn a into b. */
static int distance(const char *a, const char *b)
{
    int m = (int)strlen(a), n = (int)strlen(b), d[3][LONGEST + 1];
    if (m > LONGEST || n > LONGEST) {
        return LONGEST;
    }
    for (int j = 0; j <= n; j++) {
        d[0][j] = j;
    }
    for (int i = 1; i <= m; i++) {
        int *row = d[i % 3], *above = d[(i + 2) % 3], *before = d[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j]) {
                row[j] = before[j - 2] + 1;
            }
        }
    }
    return d[m % 3][n];
}

const char *cli_suggest(const char *word, const char *const *list, int count)
{
    const char *best = NULL;
    int letters = (int)(strlen(word) - strspn(word, "-"));
    int closest = letters < 6 ? 2 : letters / 3 + 1; /* one mistake in a short word */
    for (int i = 0; i < count; i++) {
        int far = distance(word, list[i]);
        if (far < closest && far < (int)strlen(list[i])) {
            closest = far;
            best = list[i];
        }
    }
    return best;
}
