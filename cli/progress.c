/* The progress bar, and signals that stop a run. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static struct {
    int active;
    double from, to;
    double began, last; /* clock times */
    int runs;           /* counts runs, not seconds */
} bar;

#define IMPATIENT 0.2 /* seconds */

static volatile sig_atomic_t interrupted;
static volatile double first_signal; /* its time in seconds; used by the handler only */

enum { WIDEST = 60, BESIDE = 44 };

/* A bar is shown only on a terminal that can return to the beginning of a line. */
void cli_progress_start(double from, double to)
{
    const char *terminal = getenv("TERM");
    bar.active = isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
    bar.from = from;
    bar.to = to;
    bar.began = bar.last = cli_clock();
    bar.runs = 0;
}

void cli_progress_runs(int done, int runs)
{
    cli_progress_start(done, runs);
    bar.runs = 1;
}

/* The width available for the bar; 0: none. */
static int width(void)
{
    struct winsize size = {0};
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    int capacity = columns - BESIDE;
    return capacity < 0 ? 0 : capacity > WIDEST ? WIDEST : capacity;
}

void cli_progress_show(double now)
{
    double clock = bar.active ? cli_clock() : 0;
    if (!bar.active || clock - bar.last < 0.1 || !(bar.to > bar.from)) {
        return;
    }
    double part = (now - bar.from) / (bar.to - bar.from);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    char line[WIDEST + 1];
    int capacity = width(), full = (int)(part * capacity);
    memset(line, '=', (size_t)full);
    memset(line + full, ' ', (size_t)(capacity - full));
    line[capacity] = 0;
    fprintf(stderr, bar.runs ? "\r%3d%% [%s] run %.0f of %.0f" : "\r%3d%% [%s] t = %.4g of %.4g",
            (int)(part * 100), line, now, bar.to);
    if (part > 0.01 && clock - bar.began > 1) {
        fputs(", ", stderr);
        cli_show_time(stderr, ceil((clock - bar.began) * (1 - part) / part));
        fputs(" left", stderr);
    }
    fputs("\033[K", stderr);
    fflush(stderr);
    bar.last = clock;
}

void cli_progress_end(void)
{
    if (bar.active) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    bar.active = 0;
}

/* A second signal ends the program at once, but not within IMPATIENT of the first: timeout(1) and
 * others send it to the process and to its group, that is twice. */
static void note(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (interrupted && time - first_signal > IMPATIENT) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    first_signal = interrupted ? first_signal : time;
    interrupted = signal_number;
}

/* Ctrl-C, kill, and hangup. Signals that the caller ignores stay ignored: nohup ignores SIGHUP, and
 * a shell ignores SIGINT for background jobs. */
void cli_catch_interrupt(void)
{
    static const int number[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note}, old;
    for (int i = 0; i < 3; i++) {
        if (sigaction(number[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(number[i], &action, NULL);
        }
    }
}

int cli_interrupted(void)
{
    return interrupted;
}
