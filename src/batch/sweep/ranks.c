/* A sweep in several processes.
 *
 * Rank 0 owns the table; its calling thread serves requests, its other threads execute runs. A
 * thread of another rank requests a run, and the same message returns the run it has finished, as
 * the line of the journal, so that rank 0 gets the exact bits. Nothing is assigned beforehand: a
 * free rank asks, and long runs delay no other.
 *
 *     "hello HEAD"    once: rank 0 returns 0, or -1 where HEAD, which identifies model, values and
 *                     quantities by a hash, differs from its own
 *     "LINE" or ""    a finished run; the answer is the next one, or -1
 *     "bye REASON"    the last message of a rank; with a reason it ends the sweep
 *
 * For each run rank 0 handles one message, one line of the journal and one row, whatever the number
 * of ranks. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "batch/sweep/sweep.h"

static const char hello[] = "hello ", bye[] = "bye ";

int sweep_serves(const zw_sweep *sweep)
{
    const zw_sweep_ranks *ranks = sweep->options.ranks;
    return ranks && ranks->count > 1 && ranks->rank == 0;
}

int sweep_asks(const zw_sweep *sweep)
{
    const zw_sweep_ranks *ranks = sweep->options.ranks;
    return ranks && ranks->count > 1 && ranks->rank > 0;
}

/* ---- Rank 0 ---------------------------------------------------------------------------------- */

static void take_row(zw_sweep *sweep, const char *text)
{
    zw_error error = {0};
    size_t length = strlen(text);
    char *line = base_alloc(length + 1);
    int run = -1;
    if (!line) {
        base_fail(&error, ZW_NO_MEMORY, "out of memory");
        sweep_give_up(sweep, &error);
        return;
    }
    memcpy(line, text, length);
    run = sweep_journal_take(sweep, line, length > 0 && line[length - 1] == '\n' ? length - 1 : 0);
    base_free(line);
    if (run >= 0 && !sweep_journal_add(sweep, run, &error)) {
        sweep_give_up(sweep, &error);
    }
}

static int is_ours(zw_sweep *sweep, const char *head, int from)
{
    char own[SWEEP_HEAD];
    zw_error error = {0};
    sweep_journal_head(sweep, own);
    if (strcmp(own, head) == 0) {
        return 1;
    }
    base_fail(&error, ZW_BAD_INPUT,
              "rank %d has another model, other values, quantities or options than rank 0", from);
    sweep_give_up(sweep, &error);
    return 0;
}

static void hear_reason(zw_sweep *sweep, const char *reason, int from)
{
    zw_error error = {0};
    if (reason[0]) {
        base_fail(&error, ZW_INACCURATE, "rank %d: %.300s", from, reason);
        sweep_give_up(sweep, &error);
    }
}

void sweep_serve(zw_sweep *sweep)
{
    const zw_sweep_ranks *ranks = sweep->options.ranks;
    for (int left = ranks->count - 1; left > 0;) {
        int from = 0, number = -1;
        const char *text = ranks->receive(ranks->user, &from);
        if (!text) {
            sweep_watch(sweep);
            continue;
        }
        if (strncmp(text, hello, strlen(hello)) == 0) {
            number = is_ours(sweep, text + strlen(hello), from) ? 0 : -1;
        } else if (strncmp(text, bye, strlen(bye)) == 0) {
            hear_reason(sweep, text + strlen(bye), from);
            left--;
        } else {
            take_row(sweep, text);
            number = sweep_next(sweep);
        }
        ranks->answer(ranks->user, from, number);
    }
}

/* ---- The other ranks ------------------------------------------------------------------------- */

static int ask(zw_sweep *sweep, const char *text)
{
    const zw_sweep_ranks *ranks = sweep->options.ranks;
    pthread_mutex_lock(&sweep->lock);
    int number = ranks->ask(ranks->user, text);
    pthread_mutex_unlock(&sweep->lock);
    return number;
}

int sweep_greet(zw_sweep *sweep)
{
    char text[sizeof hello + SWEEP_HEAD];
    memcpy(text, hello, sizeof hello);
    sweep_journal_head(sweep, text + strlen(hello));
    return ask(sweep, text) == 0;
}

int sweep_ask(zw_sweep *sweep, int done)
{
    zw_error error = {0};
    char *line = NULL;
    if (atomic_load(&sweep->stopped)) {
        return -1;
    }
    if (done >= 0 && sweep->status[done]) {
        line = sweep_journal_line(sweep, done);
        if (!line) {
            base_fail(&error, ZW_NO_MEMORY, "out of memory");
            sweep_give_up(sweep, &error);
            return -1;
        }
    }
    int run = ask(sweep, line ? line : "");
    base_free(line);
    return run < sweep->runs ? run : -1;
}

void sweep_part(zw_sweep *sweep)
{
    char text[sizeof bye + sizeof sweep->error.text];
    snprintf(text, sizeof text, "%s%s", bye, sweep->error.status != ZW_OK ? sweep->error.text : "");
    ask(sweep, text);
}
