/* Numbers by name: a model with a number set is, bit for bit, that of a file in which it was
 * edited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "zwang/bodies.h"

/* A leg that falls, bounces and is driven. Numbers in braces can be replaced: {name=value}. */
static const char text[] =
    "<mujoco><compiler angle='radian'/>"
    "<option gravity='0 0 -{gravity=9.81}' density='{density=1.2}' viscosity='0.1' "
    "timestep='0.002'/>"
    "<custom><numeric name='restitution:foot' data='{foot.restitution=0.3}'/></custom>"
    "<worldbody>"
    "<geom name='floor' type='plane' size='5 5 1' friction='{floor.friction=0.7} 0.005 0.0001'/>"
    "<body name='trunk' pos='0 0 0.75'><freejoint name='trunk'/>"
    "<inertial pos='0 0 0' mass='{trunk.mass=4}' diaginertia='0.05 0.06 0.07'/>"
    "<geom name='hull' type='box' size='0.15 0.1 0.05'/>"
    "<body name='thigh' pos='0 0 -0.05'>"
    "<joint name='hip' axis='0 1 0' damping='{hip.damping=0.2}' armature='{hip.armature=0.01}'"
    " stiffness='{hip.stiffness=3}' springref='{hip.springref=0.1}' "
    "frictionloss='{hip.frictionloss=0.05}'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -0.3' size='{geom2.radius=0.03}' "
    "mass='{thigh.mass=1.1}'/>"
    "<body name='shin' pos='0 0 -0.3'>"
    "<joint name='knee' axis='0 1 0' limited='true' range='{knee.lower=-0.4} {knee.upper=1.5}'/>"
    "<geom name='bone' type='capsule' fromto='0 0 0 0 0 -0.3' size='0.02' "
    "density='{bone.density=900}'/>"
    "<geom name='foot' type='sphere' pos='0.02 0.03 -0.3' size='{foot.radius=0.04}' "
    "mass='{foot.mass=0.2}'"
    " friction='0.9 {foot.friction.spin=0.01} 0.0002' condim='4'/>"
    "<geom name='toe' type='box' size='0.03 {toe.size.y=0.05} 0.01' mass='0.1'/>"
    "</body></body></body></worldbody>"
    "<actuator><position name='hold' joint='knee' kp='{hold.kp=20}' kv='{hold.kv=1}' ctrlrange='-1 "
    "1'/>"
    "<motor name='push' joint='hip' gear='{push.gear=2}'/>"
    "<velocity name='turn' joint='hip' kv='{turn.kv=0.4}'/></actuator>"
    "</mujoco>";

/* The text with its own numbers, but for one. Returns 1 if that is in it. */
static int write_text(char *to, size_t capacity, const char *name, const char *value)
{
    size_t used = 0;
    int found = 0;
    for (const char *c = text; *c && used + 200 < capacity; c++) {
        if (*c != '{') {
            to[used++] = *c;
            continue;
        }
        const char *equals = strchr(c, '='), *end = strchr(c, '}');
        int it = strlen(name) == (size_t)(equals - c - 1) && !strncmp(c + 1, name, strlen(name));
        found |= it;
        used += it ? (size_t)snprintf(to + used, capacity - used, "%s", value)
                   : (size_t)snprintf(to + used, capacity - used, "%.*s", (int)(end - equals - 1),
                                      equals + 1);
        c = end;
    }
    to[used] = 0;
    return found;
}

/* Where it is after some steps, as a hash of its state. */
static uint64_t future_of(zw_model *model, zw_contact_law contact)
{
    zw_error error = {0};
    zw_system *system = model ? zw_system_compile(model, NULL, &error) : NULL;
    zw_work *work = system ? zw_work_create(system, &error) : NULL;
    zw_state *state = work ? zw_state_create(system, work, NULL, &error) : NULL;
    zw_run_options options = {.time = 0.4, .every = 1, .contact = contact};
    zw_run_summary summary;
    const double control[] = {0.3, 0.5, -0.2};
    if (!state ||
        zw_state_set(system, state, work, ZW_FIELD_PARAM, 0, 3, control, &error) != ZW_OK ||
        zw_run(system, state, work, &options, &summary, &error) != ZW_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    uint64_t hash = zw_state_hash(state);
    zw_state_free(state);
    zw_work_free(work);
    zw_system_free(system);
    return hash;
}

static zw_model *parse(const char *words)
{
    zw_error error = {0};
    zw_model *model = zw_model_parse(words, "leg.xml", NULL, &error);
    if (!model) {
        print_error("%s\n", error.text);
    }
    assert_non_null(model);
    return model;
}

static void test_edited(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        double value;
    } change[] = {
        {"gravity", "3.7", 3.7},         {"density", "1000", 1000},
        {"floor.friction", "1.3", 1.3},  {"foot.restitution", "0.6", 0.6},
        {"trunk.mass", "5.5", 5.5},      {"hip.damping", "0.7", 0.7},
        {"hip.armature", "0.03", 0.03},  {"hip.stiffness", "9", 9},
        {"hip.springref", "-0.3", -0.3}, {"hip.frictionloss", "0.2", 0.2},
        {"thigh.mass", "2.2", 2.2},      {"geom2.radius", "0.05", 0.05},
        {"knee.lower", "-0.1", -0.1},    {"knee.upper", "0.9", 0.9},
        {"bone.density", "2000", 2000},  {"foot.radius", "0.06", 0.06},
        {"foot.mass", "0.5", 0.5},       {"foot.friction.spin", "0.05", 0.05},
        {"hold.kp", "60", 60},           {"hold.kv", "3", 3},
        {"push.gear", "5", 5},           {"turn.kv", "2", 2},
        {"toe.size.y", "0.2", 0.2},
    };
    char words[6000];
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        zw_error error = {0};
        write_text(words, sizeof words, "", "");
        zw_model *plain = parse(words), *set = parse(words);
        if (zw_model_set(set, change[i].name, change[i].value, &error) != ZW_OK) {
            print_error("%s: %s\n", change[i].name, error.text);
            fail();
        }
        if (!write_text(words, sizeof words, change[i].name, change[i].text)) {
            print_error("%s is not in the text\n", change[i].name);
            fail();
        }
        zw_model *edited = parse(words);
        int seen = 0;
        for (int law = ZW_CONTACT_COULOMB; law <= ZW_CONTACT_SOFT; law += 2) {
            uint64_t one = future_of(set, (zw_contact_law)law);
            uint64_t other = future_of(edited, (zw_contact_law)law);
            if (one != other) {
                print_error("%s: set and edited differ\n", change[i].name);
            }
            assert_int_equal(one, other);
            seen |= future_of(plain, (zw_contact_law)law) != one;
        }
        if (!seen) {
            print_error("%s: nothing changed\n", change[i].name);
            fail();
        }
        zw_model_free(plain);
        zw_model_free(set);
        zw_model_free(edited);
    }
}

/* What cannot be meant is refused, with what could. */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } wrong[] = {
        {"knee.kp", "there is no 'knee.kp' to set; this has damping"},
        {"nobody.mass", "there is no 'nobody.mass' to set"},
        {"shin.mass", "sum of several shapes"},
        {"hip.lower", "it has no limits"},
        {"push.kp", "not a servo"},
        {"hold.gain", "not a gain times"},
        {"thigh", "there is no 'thigh'"},
        {"knee.damping", "damping"}, /* negative: below */
    };
    char words[6000];
    write_text(words, sizeof words, "", "");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        zw_error error = {0};
        zw_model *model = parse(words);
        assert_int_equal(zw_model_set(model, wrong[i].name, -1, &error), ZW_BAD_INPUT);
        if (!strstr(error.text, wrong[i].message)) {
            print_error("%s: %s\n", wrong[i].name, error.text);
            fail();
        }
        zw_model_free(model);
    }
}

/* A name that two kinds have. */
static void test_two_meanings(void **state)
{
    (void)state;
    const char *words = "<mujoco><worldbody><body name='a'><freejoint/><geom name='a' size='0.1' "
                        "mass='1'/></body></worldbody></mujoco>";
    zw_error error = {0};
    zw_model *model = parse(words);
    assert_int_equal(zw_model_set(model, "a.mass", 2, &error), ZW_BAD_INPUT);
    assert_non_null(strstr(error.text, "geom:a.mass"));
    assert_int_equal(zw_model_set(model, "geom:a.mass", 2, &error), ZW_OK);
    assert_int_equal(zw_model_set(model, "body:a.mass", 3, &error), ZW_OK);
    zw_model_free(model);
}

/* Settings of readers take the same names; of a robot that a .zw file imports, after its own. */
static void test_settings(void **state)
{
    (void)state;
    const char *path = ZW_SOURCE_DIR "/examples/bodies/cart_pole.xml";
    const char *words = "import \"" ZW_SOURCE_DIR "/examples/bodies/cart_pole.xml\" as cart\n";
    zw_setting plain = {"pole.mass", 0.7}, imported = {"cart.pole.mass", 0.7};
    zw_model *model[] = {
        zw_model_read(path, &(zw_read_options){.settings = &plain, .setting_count = 1}, NULL),
        zw_model_parse(words, "it.zw",
                       &(zw_read_options){.settings = &imported, .setting_count = 1}, NULL)};
    for (int i = 0; i < 2; i++) {
        zw_inertia list[8];
        assert_non_null(model[i]);
        assert_int_equal(zw_model_inertia(model[i], list, NULL), ZW_OK);
        assert_true(list[zw_model_find(model[i], ZW_KIND_BODY, "pole")].mass == 0.7);
        zw_model_free(model[i]);
    }
    zw_error error = {0};
    imported.name = "cart.pole.mas";
    assert_null(zw_model_parse(
        words, "it.zw", &(zw_read_options){.settings = &imported, .setting_count = 1}, &error));
    assert_non_null(strstr(error.text, "there is no 'pole.mas'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edited),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_two_meanings),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
