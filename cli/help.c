/* What zwang says about itself. The manual, zwang.1, says the same at more length. */
#include <string.h>

#include "cli.h"

static const char overview[] =
    "zwang computes the motion of constrained systems by Gauss's principle, and certifies it.\n"
    "\n"
    "  zwang run FILE        the motion: a summary, numbers, plots, a report with animation\n"
    "  zwang explain FILE    the principle at one instant: forces, multipliers, rank, certificate\n"
    "  zwang check FILE      read and assemble only: freedom, redundancy, singularities\n"
    "  zwang help [COMMAND]  this, or the options of a command\n"
    "  zwang --version\n"
    "\n"
    "FILE is a system written as equations (.zw); try\n"
    "  zwang run examples/double_pendulum.zw --report pendulum.html\n"
    "\n"
    "Exit status: 0 done, 1 the motion failed or a check did not hold, 2 wrong usage,\n"
    "3 a mistake in the model, 4 a file cannot be read or written, 130 interrupted.\n";

static const char run[] =
    "zwang run FILE [options]: the motion, then a short summary.\n"
    "\n"
    "  -t, --time T        final time (the file's `run` line, or 10)\n"
    "      --tol X         error per step of the adaptive methods (1e-10)\n"
    "      --method M      dop853 (default): adaptive, order 8\n"
    "                      variational, variational4: fixed step, keep energy over long runs\n"
    "                      rk4, euler: fixed step, for teaching\n"
    "                      stiff: implicit, for stiff systems\n"
    "      --step H        step of the fixed-step methods, largest step of the others\n"
    "      --every DT      time between samples (1/500 of the run); `step`: every step\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "  -o, --output FILE   write .csv, .h5, .svg or .html, by the ending; - is CSV to a pipe;\n"
    "                      may be repeated\n"
    "      --plot FILE     the plots, as .svg\n"
    "      --report FILE   everything as one .html page that opens offline, with animation\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Numbers may be formulas: -t 2*pi, --set slope=30*deg.\n"
    "Ctrl-C ends the run; the summary and the files then tell of the motion so far (status 130).\n";

static const char explain[] =
    "zwang explain FILE [options]: Gauss's principle made visible at one instant.\n"
    "\n"
    "      --at T          the time (0); the motion up to there is computed first\n"
    "      --json          for programs: everything, in full precision\n"
    "      --all           all rows of long tables\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "      --tol X, --method M, --step H   of the motion up to T, as for run\n"
    "\n"
    "Tells the state, the free and the actual accelerations, the forces F^N (applied), F^L (ideal\n"
    "constraint force) and F^C (non-ideal), every constraint with its multipliers and force, Z,\n"
    "rank, redundant constraints, energy and the certificate.\n";

static const char check[] =
    "zwang check FILE [options]: read and assemble, without running.\n"
    "\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Tells coordinates, constraints by kind, degrees of freedom, redundant constraints, "
    "coordinates\n"
    "without mass, contacts that touch, and what assembly changed at the start.\n"
    "Exit status: 0 it can run, 1 the principle has no answer at the start, 3 a mistake in the\n"
    "model or no consistent start, 4 the file cannot be read.\n";

static const char help[] = "zwang help [COMMAND]: what zwang does, or the options of a command.\n";

const char *const cli_command_name[] = {"run", "explain", "check", "help"};
static const char *const page[] = {run, explain, check, help};

int cli_help(const char *command, FILE *to)
{
    if (!command) {
        fputs(overview, to);
        return CLI_OK;
    }
    for (int i = 0; i < CLI_COMMANDS; i++) {
        if (!strcmp(command, cli_command_name[i])) {
            fputs(page[i], to);
            return CLI_OK;
        }
    }
    return CLI_USAGE;
}
