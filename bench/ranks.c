/* The throughput of rank 0 of a sweep: runs per second that it assigns and collects, with simulated
 * messages that cost nothing.
 *
 *     ranks [RUNS [RANKS]]
 *
 * Every assigned run is answered at once with its line, as another rank would send it: so this
 * measures parsing, the table and, with a journal, one write per run. The cost of MPI is not
 * included. */
#include <string.h>

#include "base/memory.h"
#include "batch/sweep/sweep.h"
#include "measure.h"

typedef struct others {
    zw_sweep *twin; /* generates the lines */
    int ranks, greeted, left, pending;
    char *text;
    char head[SWEEP_HEAD + 16];
} others;

static const char *receive(void *user, int *from)
{
    others *o = user;
    free(o->text);
    o->text = NULL;
    if (o->greeted < o->ranks) {
        *from = ++o->greeted;
        memcpy(o->head, "hello ", 6);
        sweep_journal_head(o->twin, o->head + 6);
        return o->head;
    }
    *from = 1;
    if (o->pending == -2) {
        o->pending = -1;
        return "";
    }
    if (o->pending < 0) {
        *from = o->left--;
        return "bye ";
    }
    double *value = o->twin->value + (size_t)o->pending * (size_t)o->twin->width;
    for (int i = 0; i < o->twin->width; i++) {
        value[i] = 1.0 / (o->pending + i + 1);
    }
    sweep_set_status(o->twin, o->pending, "ok");
    char *line = sweep_journal_line(o->twin, o->pending);
    o->text = strdup(line);
    base_free(line);
    return o->text;
}

static void answer(void *user, int to, int number)
{
    others *o = user;
    (void)to;
    o->pending = o->greeted < o->ranks || (o->pending == -2 && number == 0) ? -2 : number;
}

static double rate(int runs, int ranks, const char *journal)
{
    char over[64];
    zw_error error = {0};
    const char *const list[] = {over};
    others o = {.ranks = ranks, .left = ranks, .pending = -2};
    zw_sweep_ranks share = {.count = ranks + 1, .user = &o, .receive = receive, .answer = answer};
    zw_sweep_options options = {
        .over = list, .over_count = 1, .keep = "max(x), x at end", .journal = journal};
    snprintf(over, sizeof over, "angle = 0.1..3 : %d", runs);
    options.run.time = 1;
    zw_sweep *sweep = zw_sweep_create(ZW_SOURCE_DIR "/examples/pendulum.zw", &options, &error);
    options.journal = NULL;
    o.twin = zw_sweep_create(ZW_SOURCE_DIR "/examples/pendulum.zw", &options, &error);
    if (!sweep || !o.twin) {
        printf("%s\n", error.text);
        exit(1);
    }
    sweep->options.ranks = &share;
    double begun = seconds_computed();
    sweep_serve(sweep);
    double took = seconds_computed() - begun;
    if (zw_sweep_done(sweep) != runs) {
        printf("only %d of %d runs came back\n", zw_sweep_done(sweep), runs);
    }
    zw_sweep_forget(sweep);
    zw_sweep_free(sweep);
    zw_sweep_free(o.twin);
    return runs / took;
}

int main(int count, char **word)
{
    int runs = count > 1 ? atoi(word[1]) : 200000, ranks = count > 2 ? atoi(word[2]) : 10000;
    printf("rank 0, %d runs of %d other ranks: %.0f runs/s, with a journal %.0f (processor time; "
           "the making of the lines is in it)\n",
           runs, ranks, rate(runs, ranks, NULL), rate(runs, ranks, "bench-ranks.journal"));
    return 0;
}
