/* The order of a tape's instructions.
 *
 * A list scheduler: among the steps within a window after the oldest unscheduled one, those whose
 * operands have been computed are ready, in a queue for each operation. It takes from one queue
 * until that is empty, then continues with the longest. So there is one dispatch per run, branches
 * are easy to predict, and neighbouring steps rarely depend on each other. The window limits how
 * much longer a temporary lives than in the order of the graph. */
#include "expr/tape_plan.h"

#include "base/memory.h"

enum { WINDOW = 192 };

typedef struct queue {
    int head, tail, length;
} queue;

typedef struct schedule {
    const tape_step *step; /* [first .. first + count) are scheduled here */
    const int *maker;
    int first, count;
    int *order;
    int *unmet; /* [count] operands not computed yet */
    int *start; /* [count + 1] users of step i: user[start[i] .. start[i + 1]) */
    int *user;
    int *next; /* [count] in the queue; -1 ends it */
    unsigned char *done;
    queue ready[TAPE_OP_COUNT];
} schedule;

static void lay_out(schedule *s, base_arena *arena, int links)
{
    size_t count = (size_t)s->count;
    s->unmet = base_arena_ints(arena, count);
    s->start = base_arena_ints(arena, count + 2);
    s->user = base_arena_ints(arena, (size_t)links);
    s->next = base_arena_ints(arena, count);
    s->done = base_arena_bytes(arena, count);
}

/* The step scheduled here that computes the k-th operand of step i, or -1. */
static int source(const schedule *s, int i, int k)
{
    expr_id node = s->step[s->first + i].operand[k];
    int maker = node == EXPR_NONE ? -1 : s->maker[node];
    return maker >= s->first ? maker - s->first : -1;
}

static void link_users(schedule *s)
{
    for (int i = 0; i < s->count; i++) { /* start[i + 2]: how many users step i has */
        for (int k = 0; k < 4; k++) {
            int from = source(s, i, k);
            if (from >= 0) {
                s->start[from + 2]++;
                s->unmet[i]++;
            }
        }
    }
    for (int i = 1; i <= s->count; i++) {
        s->start[i + 1] += s->start[i];
    }
    for (int i = 0; i < s->count; i++) { /* start[i + 1] moves to where i's users end */
        for (int k = 0; k < 4; k++) {
            int from = source(s, i, k);
            if (from >= 0) {
                s->user[s->start[from + 1]++] = i;
            }
        }
    }
}

static void push(schedule *s, int i)
{
    queue *q = &s->ready[s->step[s->first + i].op];
    s->next[i] = -1;
    if (q->length++ == 0) {
        q->head = i;
    } else {
        s->next[q->tail] = i;
    }
    q->tail = i;
}

static int pop(schedule *s, queue *q)
{
    int i = q->head;
    q->head = s->next[i];
    q->length--;
    return i;
}

static queue *longest(schedule *s)
{
    queue *best = &s->ready[0];
    for (int op = 1; op < TAPE_OP_COUNT; op++) {
        if (s->ready[op].length > best->length) {
            best = &s->ready[op];
        }
    }
    return best;
}

static void arrange(schedule *s)
{
    int oldest = 0, seen = 0; /* steps below `seen` are or were in the window */
    queue *current = &s->ready[0];
    for (int placed = 0; placed < s->count; placed++) {
        while (oldest < s->count && s->done[oldest]) {
            oldest++;
        }
        for (; seen < s->count && seen < oldest + WINDOW; seen++) {
            if (s->unmet[seen] == 0) {
                push(s, seen);
            }
        }
        if (current->length == 0) {
            current = longest(s);
        }
        int i = pop(s, current);
        s->done[i] = 1;
        s->order[placed] = s->first + i;
        for (int u = s->start[i]; u < s->start[i + 1]; u++) {
            if (--s->unmet[s->user[u]] == 0 && s->user[u] < seen) {
                push(s, s->user[u]);
            }
        }
    }
}

zw_status tape_order(const tape_step *step, int first, int count, const int *maker, int *order)
{
    schedule s = {.step = step, .maker = maker, .first = first, .count = count, .order = order};
    int links = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            links += source(&s, i, k) >= 0;
        }
    }
    base_arena arena = {0};
    lay_out(&s, &arena, links);
    unsigned char *block = arena.block = base_alloc(arena.used);
    if (block == NULL) {
        return ZW_NO_MEMORY;
    }
    arena.used = 0;
    lay_out(&s, &arena, links);
    link_users(&s);
    arrange(&s);
    base_free(block);
    return ZW_OK;
}
