/* docs/bodies.md is printed from the tables that drive the readers. After a change of them:
 *
 *     ZW_BLESS=1 <build>/test/read/test_bodies_doc
 */
#include "robots.h"

#include <stdlib.h>

#include "read/mjcf.h"
#include "read/urdf.h"

#define PAGE ZW_SOURCE_DIR "/docs/bodies.md"

static const char *const beginning =
    "# Bodies: what of MJCF and URDF is read\n"
    "\n"
    "`zw_model_read` reads MuJoCo's XML (`.xml`, `.mjcf`) and URDF (`.urdf`). Nothing in a file "
    "is\n"
    "silently ignored. Every element and attribute is\n"
    "\n"
    "- **honoured**: it becomes part of the model (`include/zwang/bodies.h`);\n"
    "- **refused**: the file is not read, and the message says the name, the line and why. A "
    "value\n"
    "  that asks for nothing (listed in brackets) passes;\n"
    "- **without effect**: it is about looks, memory or the inside of another solver. The model "
    "keeps\n"
    "  a list of those it met (`zw_model_note`);\n"
    "- or unknown: then it is a mistake, and the message says what may have been meant.\n"
    "\n"
    "The names are those of MuJoCo 2.2.2 and of the current release. The tables below are printed "
    "from\n"
    "those that drive the readers (`ZW_BLESS=1 build/release/test/read/test_bodies_doc`).\n"
    "\n"
    "## What is different from MuJoCo\n"
    "\n"
    "- `autolimits` is on unless it is switched off, as in current releases.\n"
    "- One element says its orientation once. Where a class says it by `euler` and an element by "
    "`quat`,\n"
    "  MuJoCo takes the class's; here that is refused. `pos` beside `fromto` is refused too.\n"
    "- Meshes stay where they are written. MuJoCo moves the frame of a mesh geom to the mesh's "
    "centre\n"
    "  and principal axes; a frame sensor on such a geom is therefore refused.\n"
    "- The mass of a mesh is its density times its volume, by the rule of `inertia` (`legacy` "
    "unless\n"
    "  said, `exact`, `convex`, `shell`), as in current releases; MuJoCo 2.2.2 took the volume of\n"
    "  the box with the same moments. `exactmeshinertia` of the compiler, which current releases "
    "no\n"
    "  longer have, makes `exact` the usual rule. Release 3.14 is the judge of it\n"
    "  (`test/system/judge_numbers.mjs`): to 1e-6, because its vertices are floats.\n"
    "- A body may have a moment of inertia from its centre of mass alone: a point mass swings on "
    "a\n"
    "  hinge. What moves without any is refused, also where MuJoCo's check would be another.\n"
    "- Files of `<include>` are looked up from the folder of the file that was opened, as MuJoCo "
    "has\n"
    "  it, also those that an included file includes. No file is included twice.\n"
    "- `<replicate>`: each copy stands in the frame of the copy before. What refers to a name "
    "inside\n"
    "  (an actuator, say) is not copied: it uses the names with their numbers.\n"
    "- `<attach>` takes a body by its name, and of the other model's constraints, tendons, "
    "actuators\n"
    "  and sensors those that refer to nothing else; not its options and keys.\n"
    "- Activations (`dyntype` integrator, filter, filterexact; `timeconst` of a position) are part "
    "of the\n"
    "  state and move with it in continuous time: filter and filterexact are the same, `actearly` "
    "has no\n"
    "  meaning. `actrange` stops an activation at its ends. `zwang certify` refuses such robots: a "
    "recording\n"
    "  of coordinates does not have them.\n"
    "- An actuator with `refsite` pulls on both sites, with the opposite wrench at the same point: "
    "a force\n"
    "  within the robot: what floats keeps its momenta, and the rate of a shift is its "
    "derivative.\n"
    "  In MuJoCo 2.2.2 it turns the common ancestors of both as well.\n"
    "- `dampratio` is settled in the pose as described, as in current releases.\n"
    "- `timestep` is the step of `--method impulse` and `soft`; the other methods find their own, "
    "or are\n"
    "  told.\n"
    "- Margins of two geoms add up, and `gap` has no effect, as in MuJoCo 3.14.\n"
    "- `actuatorfrcrange` of a joint limits what all motors together do there, also those on "
    "tendons\n"
    "  and sites; that of a tendon what all motors on it do.\n"
    "- URDF: the root link is fast to the world; shapes weigh nothing (only `<inertial>` does); a\n"
    "  `planar` joint becomes two slides and a hinge with the names `*_x`, `*_y`, `*_turn`; "
    "`effort`\n"
    "  limits the force of all actuators of the joint; `package://` is looked for in the folder of "
    "the\n"
    "  file and in all folders above it. Friction and restitution are those of `<contact>` in a "
    "link,\n"
    "  as Bullet reads them (`lateral_friction`, `spinning_friction`, `rolling_friction`, "
    "`restitution`), "
    "or of\n"
    "  `<contact_coefficients mu/>` in a collision; friction is 1 where nothing is said. A floor "
    "is "
    "not in such\n"
    "  a file: a `.zw` file that imports it says `ground z = 0` "
    "([language.md](language.md#robots)).\n"
    "\n"
    "## Contact\n"
    "\n"
    "Shapes touch in `--method impulse`, with fixed steps of the file's `timestep`\n"
    "([cli.md](cli.md#robots-by-fixed-steps)), and that is the method one gets where two shapes of "
    "a\n"
    "model can meet and everything else in it is known to that method. Other methods, asked for by "
    "name,\n"
    "let them pass through each other and say so. `<flag contact=\"disable\"/>` switches contact "
    "off.\n"
    "\n"
    "Who may touch whom is as in MuJoCo: bodies that joints can move against each other, not a "
    "body and\n"
    "its parent (but the world), not what `exclude` names, by `contype` and `conaffinity`; a "
    "`pair` always.\n"
    "Planes, spheres, capsules, ellipsoids, cylinders, boxes and height fields are themselves, a "
    "mesh is its\n"
    "convex hull.\n"
    "`condim` 1, 3, 4 or 6 says what friction holds: nothing, sliding, spinning too, rolling too. "
    "The\n"
    "numbers are those of the geom of higher `priority`, else the larger ones.\n"
    "\n"
    "What follows is not as in MuJoCo. Contact is hard, without penetration, and friction is "
    "Coulomb's\n"
    "law itself: what sticks does not creep ([mathematics.md](mathematics.md#23-integrators)).\n"
    "\n"
    "*Height fields* (`<hfield>`) are read from MuJoCo's binary files, or written out in "
    "`elevation`; pictures\n"
    "are not read. They are cut into triangles as MuJoCo cuts them, but what slides over them does "
    "not stumble\n"
    "over edges between triangles that are no ridges. Below the surface all is ground: what got "
    "there is pushed\n"
    "out. The base only says how far down it is drawn. By C: `zw_hfield_def`, with heights in "
    "metres.\n"
    "\n"
    "*Triangle meshes.* A mesh touches by its hull, as in MuJoCo. What stands still can touch by "
    "its triangles\n"
    "instead, each from the side from which its corners go round anticlockwise: in MJCF by\n"
    "`<custom><text name=\"triangles\" data=\"floor stairs\"/></custom>`, which names the geoms "
    "(MuJoCo reads such\n"
    "a file too, and takes the hulls); in URDF by `<mesh filename=\"...\" triangles=\"true\"/>` "
    "in a collision; by\n"
    "C with `zw_geom_def.triangles`. Height fields and triangle meshes do not touch planes or each "
    "other.\n"
    "\n"
    "*Cones* are an addition of ours: `<geom type=\"cone\" size=\"radius half\"/>` in MJCF, the "
    "base at z = -half,\n"
    "the apex at z = +half, or `fromto` from the apex to the middle of the base; `<cone radius "
    "length/>` in URDF;\n"
    "`ZW_SHAPE_CONE` by C.\n"
    "\n"
    "*Restitution.* MJCF has no word for it: `<custom><numeric name=\"restitution\" "
    "data=\"0.8\"/></custom>`\n"
    "gives it to all geoms of a file, with `name=\"restitution:ball\"` to the geom `ball` (in C: "
    "`zw_geom_def.restitution`);\n"
    "of two geoms the larger holds. It is\n"
    "Newton's: what meets at the speed c along the normal parts at e c. A step is cut where a pair "
    "with\n"
    "e > 0 meets, to round-off, and between impacts a free body is on its parabola: a thousand "
    "bounces with\n"
    "e = 1 end within 1e-9 m, whatever the step. Pairs that meet slower than 0.01 of what gravity "
    "gives in a\n"
    "step stay together, so that resting things do not rattle and e < 1 comes to rest when it "
    "should;\n"
    "`<numeric name=\"restitution_speed\" data=\"0.1\"/>` (`zw_world_def.bounce_speed`) sets a "
    "speed of "
    "your own,\n"
    "in m/s, below which nothing comes back. Where\n"
    "several pairs touch, the one that meets fastest is struck first, then the next: Newton's "
    "cradle sends\n"
    "out as many balls as come in. After a hundred impacts in one step its rest is without "
    "bounce.\n"
    "\n"
    "*Bullets.* Contacts within reach of a step take part in it before they touch, so a ball of 1 "
    "cm at\n"
    "100 m/s does not pass through a wall of 1 mm in steps of 10 ms; what goes past an edge is not "
    "stopped.\n"
    "That is decided with the speeds at the start of the step: what another contact throws to the "
    "side within\n"
    "the same step is seen where the step ends.\n"
    "\n"
    "*Overlaps.* Two geoms that are deeper in one another at the start of a step than 0.5 m/s "
    "would undo in\n"
    "it come apart at 0.5 m/s, not at once: that speed is all that overlapping can give them. "
    "Shallower\n"
    "overlaps are gone after the step.\n"
    "\n"
    "*Looking.* `zwang explain` lists points, forces, slip and sums by pairs of bodies, `zwang "
    "check` who\n"
    "touches at the start; `zw_contacts` and `zw_contact_sums` (`include/zwang/bodies.h`) give the "
    "same in C,\n"
    "after a step or in the observer of a run. Accelerations, sensors and forces through joints at "
    "an instant\n"
    "(`zw_forward`) are those with contact forces. Points that do not fit `contact_capacity`\n"
    "(64 and 12 for each geom unless said, by `<custom><numeric name=\"contact_capacity\" "
    "data=\"2000\"/></custom>`\n"
    "or `zw_world_def.contact_capacity`) end the run with their number.\n"
    "\n"
    "## Laws of contact\n"
    "\n"
    "`--contact coulomb | convex | soft`, `run contact convex` in a file, `zw_run_options.contact` "
    "in C.\n"
    "\n"
    "`coulomb`, what one gets: at the end of each step gap >= 0, push >= 0, one of them 0; "
    "friction is on\n"
    "its cone and against the slip, or holds. Nothing is smoothed.\n"
    "\n"
    "`convex`: the same step with Gauss's minimum instead, the speeds nearest to the free ones "
    "with\n"
    "gap + h w_n >= h mu |w_t| at every point (maximal dissipation; Anitescu's relaxation). Where\n"
    "things stick or roll, or where there is no friction, it is Coulomb's law to round-off. What "
    "slides\n"
    "does so at the height mu |w_t| h above the floor, and what is put on the floor while it "
    "slides at a\n"
    "speed v hops: it leaves at mu v/(1 + mu^2), however short the step. Its problem always has "
    "one\n"
    "solution, also where Coulomb's has none or several. Where Coulomb's steps are easy (warm, a "
    "few\n"
    "bodies) it costs as much; where they are hard (an arch of stones) it costs a fraction.\n"
    "\n"
    "`soft`: MuJoCo's, a method of its own ([below](#mujocos-soft-contacts)).\n"
    "\n"
    "*Painlevé.* A rod that is dragged at a steep angle with much friction can slide in a way that "
    "no\n"
    "finite force allows: pushing presses its end into the floor, p = n W (n - mu t) < 0. The law "
    "for\n"
    "accelerations has no answer there, or two: `zw_forward` and `zwang explain` say that there is "
    "no\n"
    "solution, with the name of the contact. For a step it has one: an impulse that stops the slip "
    "at once,\n"
    "whatever the step, an impact without collision. It is taken, it costs energy, and it is "
    "told:\n"
    "`zwang run` has a line `jams`, `zw_run_summary.jams` their number, the point's state is\n"
    "`ZW_TOUCH_JAM`. Where it could as well lift off, and nothing else holds it, "
    "it does.\n"
    "p is that of the point alone, closers held, other contacts not.\n"
    "\n"
    "*Spinning and rolling.* `friction=\"mu mu_t mu_r\"` with `condim=\"4\"` or `\"6\"`: mu_t and "
    "mu_r are\n"
    "lengths. One ellipsoid holds all of a point's friction, |(f/mu, t/mu_t, m/mu_r)| <= N for the "
    "force\n"
    "f across, the moment t about the normal and m about the directions across it, and the force "
    "is the\n"
    "one that takes most power. So a ball that spins on the spot slows down by mu_t N / I and then "
    "stands;\n"
    "one that rolls slows down by 5/7 g mu_r/r, and rests on slopes up to tan = mu_r/r. The last "
    "two are\n"
    "for e = mu_r/(mu r) << 1; the ellipsoid couples rolling with a slip of 5/7 e^2 r w. The exact "
    "numbers\n"
    "are in `test/step/test_touch_friction.c`. A coefficient of 0 is none of its kind; the others "
    "stand.\n"
    "\n"
    "*Elliptic friction.* `<pair friction=\"a b mu_t r1 r2\">` has two coefficients of sliding and "
    "two of\n"
    "rolling: a along the first direction across the normal, b along the second. The first is the\n"
    "world's y axis less its part along the normal (z, if the normal is within 60 degrees of y), "
    "the\n"
    "second is normal x first: on a floor, a is along y and b along x. They do not turn with the\n"
    "bodies. It is MuJoCo's rule. A geom's own friction is the same all round.\n"
    "\n"
    "## Long runs\n"
    "\n"
    "Where nothing can touch, `dop853` is the method one gets. For very long conservative runs "
    "there are three with a fixed "
    "step\n"
    "(`--method variational --step 1e-3`), which keep loops closed to round-off, hold the energy "
    "within\n"
    "bounds instead of letting it drift, and can be run backwards:\n"
    "\n"
    "- `variational`, order 2, and `variational4`, order 4: symplectic. Momenta that belong to a\n"
    "  symmetry (about the vertical, of a top about its axis) stay to round-off.\n"
    "- `midpoint`, order 2: a free body keeps its angular momentum *and* its energy to round-off. "
    "With\n"
    "  hinges and slides only it is the same method as `variational`.\n"
    "\n"
    "They take loops, limits, springs, dampers and motors (with dampers and motors they are simply "
    "of\n"
    "their order); dry friction is refused by name. A step that is too long for their equations to "
    "be\n"
    "solved is an error that says so: unlike adaptive methods they do not shorten it.\n"
    "\n"
    "## MuJoCo's soft contacts\n"
    "\n"
    "`zwang run robot.xml --contact soft` (or `--method soft`) moves a robot as MuJoCo does: "
    "contacts, "
    "limits,\n"
    "equalities and friction of joints and tendons give way by `solref` and `solimp`, cones are "
    "pyramids unless\n"
    "the file says `elliptic`, `impratio`, `solmix`, `priority`, `margin` and pairs have their "
    "meaning there, and the\n"
    "step is its semi-implicit Euler with the damping of joints at the end of the step "
    "(`src/system/soft.h` has the\n"
    "formulas). Everything is solved to round-off; MuJoCo's options of its solver have no effect. "
    "With its own solver\n"
    "run to the end (release 3.14) accelerations, forces and contacts of its humanoid, of its car, "
    "of Cassie, the\n"
    "2F-85 gripper and the WX250s arm are the same to 1e-10 relative, and one second of the "
    "humanoid to 1e-12\n"
    "(`test/system/judge_soft.mjs`). What is not the same:\n"
    "\n"
    "- Points of contact are those of our own routines. They agree for planes with spheres, "
    "capsules and\n"
    "  boxes, for spheres and capsules with each other, and for spheres with boxes; manifolds of "
    "other pairs\n"
    "  may have other points.\n"
    "- The step is Euler's, whatever `integrator` says; `filterexact` activations go as `filter`.\n"
    "- `diagexact`, `autoreset` and sleep are not there.\n"
    "- Joints that close loops, maximal coordinates and formulas over a robot are refused.\n"
    "- The start is put onto the constraints, as for all methods.\n"
    "\n"
    "## Forces that pass through joints, welds and closers\n"
    "\n"
    "`zwang explain robot.xml` shows them, `zw_wrenches` (`include/zwang/bodies.h`) gives them in "
    "C: after\n"
    "`zw_forward`, the force and the moment that the parent exerts on a body through each joint "
    "(about\n"
    "the joint's point), on each body (about its origin, also where a weld and no joint is between "
    "it and\n"
    "its parent: the tree has fused the two, but Newton and Euler are summed over the bodies of "
    "the\n"
    "file), and that each `connect`, `weld`, hinge, slide or distance closer exerts on its second "
    "body.\n"
    "All are along the axes of the world. Of a joint's force, `drive` is the part along its own "
    "speeds,\n"
    "from motors, springs, dampers, friction, limits, tendons and couplings, less what its "
    "armature takes;\n"
    "the rest, `held_force` and `held_moment`, is what it takes to hold the bodies together. "
    "Closers,\n"
    "motors on sites and weight taken off (`gravcomp`) act on their bodies from outside. MuJoCo "
    "counts\n"
    "the last two as if they came through the joints; its force sensors differ there.\n"
    "Of redundant closers the smallest multipliers are told; the motion does not depend on the "
    "choice.\n"
    "\n"
    "## Sensors\n"
    "\n"
    "`ZW_FIELD_SENSOR` holds the numbers of all sensors, in the order of the file, after "
    "`zw_forward`;\n"
    "`zw_name(system, ZW_SENSOR, i)` is `imu.x`, `imu.y` ... (quaternions begin with `.w`), or "
    "the\n"
    "sensor's name if it gives one number. Recordings have them as columns `sensor(imu.x)`; "
    "`explain`\n"
    "shows them. They are computed from the exact motion: accelerations and forces are those of "
    "the\n"
    "principle, with all that is held. Units, axes and signs are MuJoCo's: an accelerometer and\n"
    "`framelinacc` feel gravity; `force` and `torque` are what the parent exerts on the body of "
    "the site.\n"
    "\n"
    "- `cutoff` clips each number to [-cutoff, cutoff]; directions and quaternions refuse it.\n"
    "- `noise` is kept and never added.\n"
    "- Limits read gap - margin, its rate and force while they touch or are nearer than the "
    "margin, and\n"
    "  else 0; limits are hard here, and so are their forces.\n"
    "- `framelinacc` and `frameangacc` may be relative to a frame (`reftype`), which MuJoCo does "
    "not know:\n"
    "  they are then the rates of `framelinvel` and `frameangvel`.\n"
    "- `jointactuatorfrc` and `tendonactuatorfrc` have the gears of the actuators in them.\n"
    "- `e_potential` counts what moves, and not what stands in the world.\n";

static const char rolling[] =
    "## What rolls and glides\n"
    "\n"
    "Elements of `zw_equality_def` that no robot format has; from C, or by the statements "
    "`wheel`,\n"
    "`mecanum`, `roll` and `blade` of a `.zw` file that imports a robot\n"
    "([language.md](language.md), section 11). Frame 1 is on what rolls, frame 2 on what carries "
    "the\n"
    "plane: its origin lies in the plane, its z axis stands on it. Mostly that is the world (body "
    "0), but\n"
    "any body will do: a table that turns, the bed of a truck.\n"
    "\n"
    "| kind | frame 1 | holds, of the point that touches |\n"
    "|---|---|---|\n"
    "| `ZW_EQUALITY_WHEEL` | centre of a thin disc, z its axle; `radius` | the speed along and "
    "across: it rolls |\n"
    "| `ZW_EQUALITY_MECANUM` | the same; `roller`: angle from the axle to the axis of its rollers "
    "| the speed along the roller's axis |\n"
    "| `ZW_EQUALITY_ROLL` | centre of a ball; `radius` | both speeds in the plane; it may spin |\n"
    "| `ZW_EQUALITY_BLADE` | a point of the blade, x along it | the speed across it, in the plane "
    "|\n"
    "\n"
    "These are constraints on speeds: nonholonomic, exact, and without work. That the thing stays "
    "on its\n"
    "plane is another constraint, a holonomic one. It comes along, with the name `NAME.touch`, "
    "unless\n"
    "`touch` is 0: for what is held in the plane otherwise, by its joints. A wheel may lean and "
    "its\n"
    "contact is the lowest point of its rim; one that lies flat touches everywhere, and is told as "
    "a row\n"
    "that is not finite. Rollers of 0 hold across the wheel alone, a quarter turn along it alone; "
    "45\n"
    "degrees are usual, crossed: opposite signs for neighbours.\n";

typedef struct page {
    char *text;
    size_t used, room;
    const form_element *seen[100];
    int seen_count;
} page;

static void put(page *p, const char *text)
{
    size_t length = strlen(text);
    assert_true(p->used + length < p->room);
    memcpy(p->text + p->used, text, length + 1);
    p->used += length;
}

/* Names one after the other; `kind` of the rows. */
static void put_rows(page *p, const form_element *e, int fate, int in_default)
{
    int count = 0;
    for (const form_row *row = e->row; row != NULL && row->name != NULL; row++) {
        if (row->fate != fate || (in_default && form_word(mjcf_never_in_default, row->name) >= 0)) {
            continue;
        }
        put(p, count++ > 0 ? (fate == FORM_REFUSED ? "; " : ", ") : "");
        put(p, row->name);
        if (fate == FORM_REFUSED) {
            if (row->words != NULL && row->words[0] != 0) {
                put(p, " (");
                put(p, row->words);
                put(p, ")");
            }
            put(p, ": ");
            put(p, row->why);
        }
    }
}

static void put_quiet(page *p, const char *words)
{
    for (const char *at = words; at != NULL && *at != 0;) {
        size_t length = strcspn(at, " ");
        char word[80];
        snprintf(word, sizeof word, "%.*s%s", (int)length, at, at[length] == ' ' ? ", " : "");
        put(p, word);
        at += length + (at[length] == ' ');
    }
}

static void put_element(page *p, const char *path, const form_element *e)
{
    put(p, "| `");
    put(p, path);
    put(p, "` | ");
    if (e->fate == FORM_REFUSED) {
        put(p, " | **refused**: ");
        put(p, e->why);
        put(p, " | |\n");
        return;
    }
    int in_default = strncmp(path, "default/", 8) == 0 && strcmp(e->name, "default") != 0;
    put_rows(p, e, FORM_HONOURED, in_default);
    put(p, " | ");
    put_rows(p, e, FORM_REFUSED, in_default);
    put(p, " | ");
    put(p, e->fate == FORM_QUIET ? "**all of it** " : "");
    put_quiet(p, e->quiet);
    put(p, " |\n");
}

static void put_tree(page *p, const char *path, const form_element *e)
{
    put_element(p, path, e);
    for (int i = 0; i < p->seen_count; i++) {
        if (p->seen[i] == e->child) {
            return; /* bodies in bodies */
        }
    }
    if (e->child == NULL || e->child == form_anything) {
        return;
    }
    assert_true(p->seen_count < 100);
    p->seen[p->seen_count++] = e->child;
    for (const form_element *c = e->child; c->name != NULL; c++) {
        char inner[200];
        const char *outer = e->child == mjcf_in_body      ? "body"
                            : e->child == mjcf_in_default ? "default"
                                                          : e->name;
        snprintf(inner, sizeof inner, "%s/%s", outer, c->name);
        put_tree(p, inner, c);
    }
}

static const char *const mechanisms =
    "\n"
    "## Joints that close loops\n"
    "\n"
    "MJCF and URDF hang a body on its parent by joints and close loops by equalities, which have "
    "no\n"
    "coordinate. In C every joint but a free one may close a loop, with all that joints have:\n"
    "\n"
    "    zw_joint_def pin = zw_joint_default(); /* a hinge about z */\n"
    "    pin.name = \"pin\";\n"
    "    pin.body = rocker;    /* which other joints move already */\n"
    "    pin.closes = coupler; /* it leads from here to the rocker; 0: from the world */\n"
    "    pin.pos[0] = 0.7;     /* in the rocker's frame, as of all joints */\n"
    "    zw_model_add_joint(model, &pin, &error);\n"
    "\n"
    "Its angle or length is a coordinate of the state (behind those of the other joints) and "
    "counts\n"
    "turns. `ref`, `range`, springs, damping, armature, dry friction, actuators, tendons, "
    "couplings,\n"
    "sensors and keyframes are as of other joints. Two or three joints with the same two bodies "
    "act one\n"
    "after another: two hinges are a universal joint, a slide and a hinge along one axis a "
    "cylindrical\n"
    "one.\n"
    "\n"
    "The body is cut for it: a copy without mass hangs on `closes` by the joint, and a weld of six "
    "rows,\n"
    "called after the joint, holds it to the body. The multipliers of the weld are the force "
    "(along the\n"
    "world's axes) and the moment (along the body's) that the joint transmits, at its anchor. "
    "Where the\n"
    "loop makes rows redundant, nothing is to be done. A start that does not close the loop is\n"
    "assembled, as with every constraint.\n"
    "\n"
    "## Sleep\n"
    "\n"
    "`--sleep`, `<option><flag sleep=\"enable\"/></option>` or in C `world.sleep = 1`: what has "
    "come to rest falls asleep\n"
    "and costs nothing (method `impulse`; by default nothing sleeps). Bodies that hang on each "
    "other by joints,\n"
    "loops, tendons or motors, or touch, are an island. It falls asleep when for half a second "
    "none of its points was\n"
    "faster than `sleep_tolerance` (0.0001 m/s, as MuJoCo has it) and none of its parts has "
    "doubled its speed in\n"
    "that time: what begins to fall from an unstable place does not pass for rest. Asleep, its "
    "coordinates stay\n"
    "bit for bit and its speeds are 0; the energy that they had counts as work. It wakes as a "
    "whole\n"
    "\n"
    "- when something that is awake meets it within a step, or comes as near as the step looks "
    "(twice the way that\n"
    "  gravity makes in a step): the step is then made again with all of the island. So nothing "
    "can be pulled\n"
    "  away from under a sleeper without waking it;\n"
    "- when the control of one of its motors changes;\n"
    "- by `zw_wake`, which wakes all. Who writes into a state by other means than the interface "
    "has to call it;\n"
    "  only where he changes what is awake, and the last step was made with the same `zw_work`, is "
    "it seen.\n"
    "\n"
    "Who sleeps is part of the state: saved, hashed and restored with it, so that a run in pieces "
    "has the bits of a\n"
    "whole one. `zw_sleepers` tells. Steps cost what is awake, in a loop of `zw_step` and in runs: "
    "a robot beside 10000\n"
    "boxes that sleep as much as alone ([benchmarks.md](benchmarks.md), `bench/sleep`). Samples "
    "show all bodies, and cost\n"
    "it: with few of them (`--every`) a run among sleepers costs next to nothing. When somebody "
    "falls asleep or wakes,\n"
    "the next step makes its tables anew, for about the price of a step of all that is awake then "
    "and of placing all\n"
    "that sleeps.\n"
    "\n"
    "In the samples of a run sleepers stand by the forces of a first step from rest. After "
    "`zw_step` what touches inside\n"
    "a sleeping island is not in the list of `zw_contacts`. Sleep comes with method `impulse`, "
    "which is the default where\n"
    "it is asked for, and is refused with all others, `soft` among them. A motor whose activation "
    "still changes keeps what\n"
    "it drives awake. What the formulas of a `.zw` file see and push, with the motors that they "
    "drive, is one island: it\n"
    "sleeps as others do, unless the formulas know the time `t`, and wakes when a parameter "
    "changes or an event sets\n"
    "something, as all do then. `sleep` of single bodies has no effect: all may.\n"
    "\n"
    "## Maximal coordinates\n"
    "\n"
    "`--maximal` (in C: `world.maximal = 1`) takes the same model with every body free and every "
    "joint a\n"
    "constraint of this kind: 6 coordinates (7 numbers) for each body, called `body.x` ... "
    "`body.qz`\n"
    "(`body.body.x` where a joint has the body's name), then those of the joints, by their own "
    "names. The\n"
    "motion is the same to the tolerance of the solver, whatever the model has: loops, limits, "
    "motors,\n"
    "dry friction, armature, several joints in one body. It starts where the reduced model "
    "starts.\n"
    "\n"
    "What it is for: M and the rows couple neighbours only, and are not formed along chains, so "
    "long\n"
    "chains keep their digits (M of 300 links, in reduced coordinates, loses seven of them; the "
    "reduced O(n)\n"
    "sweeps, which a run uses where nothing else holds, do not), and loops and limits on very "
    "large\n"
    "mechanisms cost in proportion to their number. For a tree without loops reduced coordinates "
    "are a\n"
    "hundred times faster. Figures are in [benchmarks.md](benchmarks.md), by `bench/maximal`.\n"
    "\n"
    "Not built in there: sensors of subtrees, and of force and torque.\n";

static const char *const head = "\n| element | honoured | refused | without effect |\n"
                                "|---|---|---|---|\n";

static void the_page_is_what_the_tables_say(void **state)
{
    (void)state;
    page p = {.room = 200000};
    p.text = malloc(p.room);
    assert_non_null(p.text);
    put(&p, beginning);
    put(&p, mechanisms);
    put(&p, "\n");
    put(&p, rolling);
    put(&p, "\n## MJCF\n\n`<include file=\"...\"/>` is honoured everywhere. What stands in "
            "`<body>` may also stand in\n`<worldbody>` (but joints and inertial), `<frame>` and "
            "`<replicate>`.\n");
    put(&p, head);
    put_tree(&p, "mujoco", &mjcf_form);
    put(&p, "\n## URDF\n");
    put(&p, head);
    put_tree(&p, "robot", &urdf_form);

    if (getenv("ZW_BLESS") != NULL) {
        FILE *file = fopen(PAGE, "wb");
        assert_non_null(file);
        fputs(p.text, file);
        fclose(file);
    }
    char *known = malloc(p.room);
    FILE *file = fopen(PAGE, "rb");
    size_t got = file != NULL ? fread(known, 1, p.room - 1, file) : 0;
    known[got] = 0;
    if (file != NULL) {
        fclose(file);
    }
    if (strcmp(known, p.text) != 0) {
        print_error("docs/bodies.md is not what the tables say: run ZW_BLESS=1 test_bodies_doc\n");
        fail();
    }
    free(known);
    free(p.text);
}

/* Every honoured row has a place in its target, words where it wants words, at most 64 rows; every
 * refusal says why. */
static void check_rows(const form_element *e, int depth)
{
    int count = 0;
    for (const form_row *row = e->row; row != NULL && row->name != NULL; row++, count++) {
        assert_true(row->type != FORM_WORD || row->words != NULL);
        assert_true(row->fate != FORM_REFUSED || (row->why != NULL && strlen(row->why) > 5));
        assert_true(row->most <= 16 && row->least <= row->most);
        assert_true(form_word(e->quiet, row->name) < 0); /* not both */
    }
    assert_true(count <= 64);
    assert_true(e->fate != FORM_REFUSED || e->why != NULL);
    for (const form_element *c = e->child; depth < 4 && c != NULL && c->name != NULL; c++) {
        check_rows(c, depth + 1);
    }
}

static void tables_are_sound(void **state)
{
    (void)state;
    check_rows(&mjcf_form, 0);
    check_rows(&urdf_form, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_what_the_tables_say),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
