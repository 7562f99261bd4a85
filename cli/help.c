/* What zwang says about itself. The manual, zwang.1, says the same at more length. */
#include <string.h>

#include "cli.h"

static const char overview[] =
    "zwang computes the motion of constrained systems by Gauss's principle, and certifies it.\n"
    "\n"
    "  zwang run FILE        the motion: a summary, numbers, plots, a report with animation\n"
    "  zwang explain FILE    the principle at one instant: forces, multipliers, rank, certificate\n"
    "  zwang look FILE       places, Jacobians, mass matrix and forces of a mechanism\n"
    "  zwang check FILE      read and assemble only: freedom, redundancy, singularities\n"
    "  zwang certify FILE RECORDING   is a recorded path a motion of the system?\n"
    "  zwang inverse FILE RECORDING   which forces of motors and constraints give this motion?\n"
    "  zwang rest FILE       where it comes to rest, and whether that is stable\n"
    "  zwang modes FILE      small motions near rest or a steady motion: frequencies, damping\n"
    "  zwang limit FILE      added mass and friction without bound: the law they tend to\n"
    "  zwang export FILE OUT.xml      a robot as an MJCF file that MuJoCo reads\n"
    "  zwang help [COMMAND]  this, or the options of a command\n"
    "  zwang --version\n"
    "\n"
    "FILE is a system written as equations (.zw), or a robot (MJCF .xml, .urdf); try\n"
    "  zwang run examples/double_pendulum.zw --report pendulum.html\n"
    "  zwang run examples/bodies/four_bar.xml --report four_bar.html\n"
    "\n"
    "Exit status: 0 done, 1 the motion failed or a check did not hold, 2 wrong usage,\n"
    "3 a mistake in the model, 4 a file cannot be read or written, 5 the recording is not a\n"
    "motion of the system, 130 interrupted.\n";

static const char run[] =
    "zwang run FILE [options]: the motion, then a short summary.\n"
    "\n"
    "  -t, --time T        final time (the file's `run` line, or 10)\n"
    "      --tol X         error per step of the adaptive methods (1e-10);\n"
    "                      of impulse: residual of a step; 1: one linearisation\n"
    "      --accuracy X    impulse: certificate that the contacts of a step need reach, for heaps\n"
    "                      of many bodies; up to 0.1 (as good as a bounded effort makes it)\n"
    "      --method M      dop853 (default, but where robots can touch): adaptive, order 8\n"
    "                      variational, variational4: fixed step, keep energy over long runs\n"
    "                      midpoint: the same for free rigid bodies, whose energy it keeps "
    "exactly\n"
    "                      rk4, euler: fixed step, for teaching\n"
    "                      stiff: implicit, for stiff systems\n"
    "                      impulse: robots, fixed step, implicit; contacts, limits, friction "
    "inside\n"
    "                      soft: robots, MuJoCo's soft contacts and limits, and its step\n"
    "      --contact LAW   robots: coulomb (default), the law itself, by impulse\n"
    "                      convex: its relaxation in the same step; what slides lifts a little\n"
    "                      soft: MuJoCo's, the same as --method soft\n"
    "      --impact LAW    several contacts at one instant: sequential (default), simultaneous\n"
    "      --contacts W    in files: columns of all bodies that touch, or none (up to 24 pairs)\n"
    "      --step H        step of the fixed-step methods, largest step of the others\n"
    "      --every DT      time between samples (1/500 of the run); `step`: every step\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME      robots: begin with this keyframe, not with the pose as described\n"
    "      --save FILE     keep the state at the end\n"
    "      --from FILE     begin with a state that was kept, at its time\n"
    "      --digits        how many digits of the final state can be trusted: two more motions, "
    "with\n"
    "                      smaller tolerances or shorter steps, are computed for it\n"
    "      --hash          print a hash of the state at the end: equal for equal bits\n"
    "      --maximal       robots: in maximal coordinates, every body free, every joint a "
    "constraint\n"
    "      --base B        URDF: fixed (default; a lone link is a free body) or free\n"
    "      --package N=P   URDF: package://N/... lies in the folder P; may be repeated\n"
    "      --balance       robots: moments of inertia that no body can have become their mean; in\n"
    "                      URDF the collision shapes of links without any weigh 1000 kg/m^3\n"
    "      --sleep         robots: what has come to rest falls asleep and costs nothing\n"
    "  -o, --output FILE   write .csv, .h5, .svg or .html, by the ending; - is CSV to a pipe;\n"
    "                      may be repeated\n"
    "      --plain         CSV without the lines that begin with # and without names of events\n"
    "      --plot FILE     the plots, as .svg\n"
    "      --report FILE   everything as one .html page that opens offline, with animation\n"
    "      --json          for programs: the whole summary, in full precision\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "The summary ends with a verdict: what was proved, estimated and assumed, and what went wrong "
    "but\n"
    "was survived. One line says that all is well.\n"
    "\n"
    "Numbers may be formulas: -t 2*pi, --set slope=30*deg.\n"
    "Ctrl-C ends the run; the summary and the files then tell of the motion so far (status 130).\n";

static const char explain[] =
    "zwang explain FILE [options]: Gauss's principle made visible at one instant.\n"
    "\n"
    "      --at T          the time (0); the motion up to there is computed first\n"
    "      --json          for programs: everything, in full precision\n"
    "      --all           all rows of long tables\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME      robots: begin with this keyframe, not with the pose as described\n"
    "      --maximal       robots: in maximal coordinates, every body free, every joint a "
    "constraint\n"
    "      --base B        URDF: fixed (default; a lone link is a free body) or free\n"
    "      --package N=P   URDF: package://N/... lies in the folder P; may be repeated\n"
    "      --balance       robots: moments of inertia that no body can have become their mean; in\n"
    "                      URDF the collision shapes of links without any weigh 1000 kg/m^3\n"
    "      --tol X, --method M, --contact LAW, --step H   of the motion up to T, as for run\n"
    "\n"
    "Tells the state, the free and the actual accelerations, the forces F^N (applied), F^L (ideal\n"
    "constraint force) and F^C (non-ideal), every constraint with its multipliers and force, Z,\n"
    "rank, redundant constraints, energy and the certificate.\n";

static const char look[] =
    "zwang look FILE [options]: places, Jacobians, masses and forces at one instant.\n"
    "\n"
    "      --frame NAME    this site, body or geom of a robot, or point of equations: its motion "
    "and\n"
    "                      Jacobian; \"site hand\", \"body hand\", \"geom hand\", \"com hand\" "
    "(centre\n"
    "                      of mass) leave no doubt; may be repeated. Without: all bodies or "
    "points\n"
    "      --at T          the time (0); the motion up to there is computed first\n"
    "      --json          for programs: everything, in full precision\n"
    "      --all           all rows of long tables, and mass matrices of any size\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME      robots: begin with this keyframe, not with the pose as described\n"
    "      --maximal       robots: in maximal coordinates, every body free, every joint a "
    "constraint\n"
    "      --base B        URDF: fixed (default; a lone link is a free body) or free\n"
    "      --package N=P   URDF: package://N/... lies in the folder P; may be repeated\n"
    "      --balance       robots: moments of inertia that no body can have become their mean; in\n"
    "                      URDF the collision shapes of links without any weigh 1000 kg/m^3\n"
    "      --tol X, --method M, --contact LAW, --step H   of the motion up to T, as for run\n"
    "\n"
    "Vectors are along the axes of the world. Accelerations are those of Gauss's principle at "
    "this\n"
    "instant. The forces add up, with those of constraints and contacts, to M a.\n";

static const char check[] =
    "zwang check FILE [options]: read and assemble, without running.\n"
    "\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME      robots: begin with this keyframe, not with the pose as described\n"
    "      --maximal       robots: in maximal coordinates, every body free, every joint a "
    "constraint\n"
    "      --base B        URDF: fixed (default; a lone link is a free body) or free\n"
    "      --package N=P   URDF: package://N/... lies in the folder P; may be repeated\n"
    "      --balance       robots: moments of inertia that no body can have become their mean; in\n"
    "                      URDF the collision shapes of links without any weigh 1000 kg/m^3\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Tells what a robot file has, coordinates, constraints by kind, degrees of freedom, redundant\n"
    "constraints, coordinates without mass, contacts that touch, and what assembly changed at the "
    "start.\n"
    "Exit status: 0 it can run, 1 the principle has no answer at the start, 3 a mistake in the\n"
    "model or no consistent start, 4 the file cannot be read.\n";

static const char certify[] =
    "zwang certify FILE RECORDING [options]: is a recorded path a motion of the system?\n"
    "\n"
    "RECORDING is a .csv or .h5 file with the time (t or time) and all coordinates by name, "
    "perhaps\n"
    "with their speeds (of x: x', xd or x_dot); from zwang, another program, or a measurement.\n"
    "\n"
    "      --column NAME=TITLE   the column of a coordinate x, a speed x' or the time t\n"
    "      --noise S       of the recorded numbers, relative to each coordinate's size; else it "
    "is\n"
    "                      found in the recording\n"
    "      --metric B      measure in `identity` or x=1,y=5 instead of the masses\n"
    "      --law L         by another law than the file's: nonholonomic, vakonomic,\n"
    "                      mixed,alpha=1,beta=10 or penalty,N=1e4\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "  -o, --output FILE   what was found at each sample, as .csv, .h5, .svg or .html, by the\n"
    "                      ending; - is CSV to a pipe; may be repeated\n"
    "      --plot FILE     the force of the unseen hand and the multipliers, as .svg\n"
    "      --report FILE   the same as one .html page that opens offline\n"
    "      --json          for programs: everything, in full precision\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Exit status: 0 a motion, 5 not a motion (an unseen hand pushes, or it leaves the "
    "constraints),\n"
    "1 it cannot be told (too coarse, too noisy, or a formula fails), else as for run.\n";

static const char inverse[] =
    "zwang inverse FILE RECORDING [options]: the forces that give a recorded motion.\n"
    "\n"
    "RECORDING is a .csv or .h5 file as for certify; where there are quaternions, with all "
    "speeds.\n"
    "\n"
    "      --drive NAME    a force may act on this speed, beside the motors; `all`: on each; may "
    "be\n"
    "                      repeated\n"
    "      --column NAME=TITLE   the column of a coordinate x, a speed x' or the time t\n"
    "      --noise S       of the recorded numbers, relative to their size; else it is found\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "      --key NAME, --maximal, --base B, --package N=P, --balance   of robots, as for run\n"
    "  -o, --output FILE   forces at each sample, as .csv, .h5, .svg or .html, by the ending;\n"
    "                      - is CSV to a pipe; may be repeated\n"
    "      --plot FILE, --report FILE   pictures as .svg, a page as .html\n"
    "      --json          for programs\n"
    "      --all           all rows of long tables\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Where more forces are there than the motion tells, the sum of the squares of the motors' is\n"
    "least. What no force can give is told as the residual.\n";

static const char rest[] =
    "zwang rest FILE [options]: a position near the start where nothing accelerates.\n"
    "\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME, --maximal, --base B, --package N=P, --balance   of robots, as for run\n"
    "      --json          for programs: with all modes, in full precision\n"
    "      --all           all coordinates\n"
    "\n"
    "It goes downhill from the start, as through honey, and stays on a top that it stands on.\n";

static const char modes[] =
    "zwang modes FILE [options]: how small deviations go on: growth, frequency, damping, shape.\n"
    "\n"
    "      --at T          along the motion at this time; without: at rest near the start, or, if "
    "the\n"
    "                      file begins with speeds, along that motion, which should be steady\n"
    "      --period T      forces are periodic: what becomes of deviations over this time\n"
    "      --set NAME=X    give a parameter, or a motor of a robot, another value; may be "
    "repeated\n"
    "      --key NAME, --maximal, --base B, --package N=P, --balance   of robots, as for run\n"
    "      --tol X, --method M, --step H   of the motion up to --at\n"
    "      --json          for programs: everything, in full precision\n"
    "      --all           all modes\n"
    "\n"
    "Only deviations that the constraints admit are modes. Shapes tell the speeds that take part "
    "most,\n"
    "as parts of the largest; i is a quarter of a turn ahead.\n";

static const char limit[] =
    "zwang limit FILE [options]: the systems without the constraint, but with the added mass\n"
    "alpha N Phi^2/2 and the friction beta N Phi^2/2, for N = 10, 100, ...; and what they tend "
    "to.\n"
    "\n"
    "alpha and beta are those of the file's `law` line; without one they are 0 and 1, and\n"
    "the limit is the nonholonomic law.\n"
    "\n"
    "      --from N        the first N (10)\n"
    "      --to N          the last (1e8), by factors of ten\n"
    "  -t, --time T        final time (the file's `run` line, or 10)\n"
    "      --tol X         error per step (the file's, or 1e-12)\n"
    "      --method M, --step H   as for run; by default each N has what suits it\n"
    "      --every DT      time between the moments that are compared (1/500 of the run)\n"
    "      --set NAME=X    give a parameter another value; may be repeated\n"
    "  -o, --output FILE   the table as .csv or .h5, the pictures as .svg or .html, by the\n"
    "                      ending; - is CSV to a pipe; may be repeated\n"
    "      --plot FILE     the distance over N, and coordinates for some N, as .svg\n"
    "      --report FILE   the same as one .html page that opens offline\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "Ctrl-C ends it; the table and the files then have the rows so far (status 130).\n";

static const char export[] =
    "zwang export FILE OUT.xml [options]: a robot as an MJCF file that MuJoCo reads.\n"
    "\n"
    "      --base B        URDF: fixed (default; a lone link is a free body) or free\n"
    "      --package N=P   URDF: package://N/... lies in the folder P; may be repeated\n"
    "      --balance       robots: moments of inertia that no body can have become their mean; in\n"
    "                      URDF the collision shapes of links without any weigh 1000 kg/m^3\n"
    "  -q, --quiet         print only what goes wrong\n"
    "\n"
    "All numbers stand in the file, with 17 digits: no classes, no other files. What MJCF has no\n"
    "words for is refused by its name.\n";

static const char help[] = "zwang help [COMMAND]: what zwang does, or the options of a command.\n";

const char *const cli_command_name[] = {"run",  "explain", "look",  "check",  "certify", "inverse",
                                        "rest", "modes",   "limit", "export", "help"};
static const char *const page[] = {run,  explain, look,  check,  certify, inverse,
                                   rest, modes,   limit, export, help};

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
