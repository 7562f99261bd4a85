/* Compares our reader with MuJoCo's: both read the same file, and all common data is compared.
 *
 *     compare_mjcf FOLDER_OR_FILE...
 *
 * Without arguments: test/read/mjcf of this repository, where every file must be read by both and
 * agree; and the public models in $ZW_MODELS (or /work/shared/models) if they are there, where
 * files that this MuJoCo cannot load are skipped, and files that we refuse are listed.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mujoco/mujoco.h>

#include "older.h"
#include "tally.h"

enum { MOST_FILES = 400 };

/* ---- Numbers --------------------------------------------------------------------------------- */

static int weighs_mesh(const model_bodies *b, int body)
{
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        if (b->geom[i].body == body &&
            (b->geom[i].shape == ZW_SHAPE_MESH || is_fitted(&b->geom[i])) && b->geom[i].mass != 0 &&
            (b->world.from_geoms == 1 || !b->body[body].inertial)) {
            return 1;
        }
    }
    return b->world.total_mass > 0; /* scaled by the others */
}

static int geoms_of(const model_bodies *b, int body)
{
    int count = 0;
    for (int i = 0; i < b->count[ZW_KIND_GEOM]; i++) {
        count += b->geom[i].body == body;
    }
    return count;
}

static void compare_masses(const zw_model *model, const mjModel *m)
{
    const model_bodies *b = model->bodies;
    zw_inertia *list = calloc((size_t)m->nbody, sizeof *list);
    zw_error error;
    if (zw_model_inertia(model, list, &error) != ZW_OK) {
        differences++;
        printf("  %s: %s\n", current, error.text);
    }
    for (int i = 1; i < m->nbody; i++) {
        double ours[6], theirs[6];
        model_principal_matrix(list[i].quat, list[i].moment, ours);
        model_principal_matrix(m->body_iquat + 4 * i, m->body_inertia + 3 * i, theirs);
        double most = fmax(m->body_inertia[3 * i],
                           fmax(m->body_inertia[3 * i + 1], m->body_inertia[3 * i + 2]));
        /* MuJoCo's meshes are of floats; its principal axes are found to about 1e-6, with products
         * of inertia below 1e-12 left out. */
        const double *given = b->body[i].inertia;
        int turned = given[3] != 0 || given[4] != 0 || given[5] != 0 || geoms_of(b, i) > 1;
        int mesh = weighs_mesh(b, i);
        double tolerance = mesh ? 1e-6 : 1e-9;
        same_name("body", i, b->body[i].name, m, mjOBJ_BODY);
        same_int("parent of body", i, b->body[i].parent, m->body_parentid[i]);
        same_within("mass of body", i, &list[i].mass, m->body_mass + i, 1, tolerance,
                    fmax(1e-12, m->body_mass[i]));
        same_within("centre of body", i, list[i].com, m->body_ipos + 3 * i, 3, tolerance, 1);
        same_within("inertia of body", i, ours, theirs, 6, mesh || turned ? 1e-6 : 1e-9,
                    fmax(mesh ? 1e-6 : 1e-12, most));
    }
    free(list);
}

static void compare_joints(const model_bodies *b, const mjModel *m, const int *order)
{
    for (int i = 0; i < m->njnt; i++) {
        const zw_joint_def *j = &b->joint[order[i]];
        int dof = m->jnt_dofadr[i], q = m->jnt_qposadr[i];
        same_name("joint", i, j->name, m, mjOBJ_JOINT);
        same_int("kind of joint", i, j->kind, m->jnt_type[i]);
        same_int("body of joint", i, j->body, m->jnt_bodyid[i]);
        same_int("limited joint", i, j->limited, m->jnt_limited[i]);
        same("range of joint", i, j->range, m->jnt_range + 2 * i, j->limited ? 2 : 0);
        same("stiffness of joint", i, &j->stiffness, m->jnt_stiffness + i, 1);
        same("damping of joint", i, &j->damping, m->dof_damping + dof, 1);
        same("armature of joint", i, &j->armature, m->dof_armature + dof, 1);
        same("frictionloss of joint", i, &j->frictionloss, m->dof_frictionloss + dof, 1);
        same("margin of joint", i, &j->margin, m->jnt_margin + i, 1);
        same("solref of joint", i, j->soft_limit.ref, m->jnt_solref + 2 * i, 2);
        same("solimp of joint", i, j->soft_limit.imp, m->jnt_solimp + 5 * i, 5);
        same("friction solref", i, j->soft_friction.ref, m->dof_solref + 2 * dof, 2);
        same("friction solimp", i, j->soft_friction.imp, m->dof_solimp + 5 * dof, 5);
        if (j->kind >= ZW_JOINT_SLIDE) {
            same("ref of joint", i, &j->ref, m->qpos0 + q, 1);
            same("springref of joint", i, &j->springref, m->qpos_spring + q, 1);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void compare_geoms(const model_bodies *b, const mjModel *m, const int *order)
{
    static const int type[] = {mjGEOM_PLANE,    mjGEOM_SPHERE, mjGEOM_CAPSULE, mjGEOM_ELLIPSOID,
                               mjGEOM_CYLINDER, mjGEOM_BOX,    mjGEOM_MESH};
    static const int sizes[] = {2, 1, 2, 3, 2, 3, 0};
    for (int i = 0; i < m->ngeom; i++) {
        const zw_geom_def *g = &b->geom[order[i]];
        same_name("geom", i, g->name, m, mjOBJ_GEOM);
        same_int("kind of geom", i, type[g->shape], m->geom_type[i]);
        same_int("contype", i, g->contype, m->geom_contype[i]);
        same_int("conaffinity", i, g->conaffinity, m->geom_conaffinity[i]);
        same_int("condim", i, g->condim, m->geom_condim[i]);
        same_int("priority", i, g->priority, m->geom_priority[i]);
        same_int("group", i, g->group, m->geom_group[i]);
        double ours[3] = {g->size[0], g->size[1], g->size[2]}, theirs[3];
        memcpy(theirs, m->geom_size + 3 * i, sizeof theirs);
        if (is_fitted(g) && sizes[g->shape] == 3) {
            qsort(ours, 3, sizeof *ours, by_value);
            qsort(theirs, 3, sizeof *theirs, by_value);
        }
        same_within("size of geom", i, ours, theirs, sizes[g->shape], is_fitted(g) ? 1e-6 : 1e-9,
                    1);
        same("friction", i, g->friction, m->geom_friction + 3 * i, 3);
        same("solref", i, g->soft.ref, m->geom_solref + 2 * i, 2);
        same("solimp", i, g->soft.imp, m->geom_solimp + 5 * i, 5);
        same("solmix", i, &g->solmix, m->geom_solmix + i, 1);
        same("margin", i, &g->margin, m->geom_margin + i, 1);
        same("gap", i, &g->gap, m->geom_gap + i, 1);
    }
}

static void compare_actuators(const model_bodies *b, const mjModel *m, const int *joint_order,
                              const int *site_order)
{
    for (int i = 0; i < m->nu; i++) {
        const zw_actuator_def *a = &b->actuator[i];
        static const int drive[] = {mjTRN_JOINT, mjTRN_JOINTINPARENT, mjTRN_TENDON, mjTRN_SITE,
                                    mjTRN_SLIDERCRANK};
        int target = m->actuator_trnid[2 * i];
        target = a->drive <= ZW_DRIVE_JOINT_IN_PARENT ? joint_order[target]
                 : a->drive != ZW_DRIVE_TENDON        ? site_order[target]
                                                      : target;
        same_name("actuator", i, a->name, m, mjOBJ_ACTUATOR);
        same_int("drive", i, drive[a->drive], m->actuator_trntype[i]);
        same_int("target", i, a->target, target);
        same_int("gain type", i, a->gain_law, m->actuator_gaintype[i]);
        same_int("bias type", i, a->bias_law, m->actuator_biastype[i]);
        same_int("dynamics", i, a->dynamics == ZW_DYNAMICS_MUSCLE ? mjDYN_MUSCLE : a->dynamics,
                 m->actuator_dyntype[i]);
        same_int("ctrllimited", i, a->ctrl_limited, m->actuator_ctrllimited[i]);
        same_int("forcelimited", i, a->force_limited, m->actuator_forcelimited[i]);
        same_int("actlimited", i, a->act_limited, m->actuator_actlimited[i]);
        same("ctrlrange", i, a->ctrl_range, m->actuator_ctrlrange + 2 * i, 2);
        same("forcerange", i, a->force_range, m->actuator_forcerange + 2 * i, 2);
        same("actrange", i, a->act_range, m->actuator_actrange + 2 * i, 2);
        same("gear", i, a->gear, m->actuator_gear + 6 * i, 6);
        same("gainprm", i, a->gain_prm, m->actuator_gainprm + 10 * i, 10);
        if (a->bias_law) {
            same("biasprm", i, a->bias_prm, m->actuator_biasprm + 10 * i, 10);
        }
        if (a->dynamics != ZW_DYNAMICS_NONE) {
            same("dynprm", i, a->dyn_prm, m->actuator_dynprm + 10 * i, 10);
        }
    }
}

static void compare_links(const model_bodies *b, const mjModel *m, const int *joint_order)
{
    static const int type[] = {mjEQ_CONNECT, mjEQ_WELD, -1, -1, mjEQ_JOINT, mjEQ_TENDON, -1};
    for (int i = 0; i < m->neq; i++) {
        const zw_equality_def *e = &b->equality[i];
        const double *data = m->eq_data + mjNEQDATA * i;
        int first = m->eq_obj1id[i], second = m->eq_obj2id[i];
        if (e->kind == ZW_EQUALITY_JOINT) {
            first = joint_order[first];
            second = second >= 0 ? joint_order[second] : -1;
        }
        same_name("equality", i, e->name, m, mjOBJ_EQUALITY);
        same_int("kind of equality", i, type[e->kind], m->eq_type[i]);
        same_int("first", i, e->first, first);
        same_int("second", i, e->second, second);
        same_int("active", i, e->active, m->eq_active[i]);
        same("solref of equality", i, e->soft.ref, m->eq_solref + 2 * i, 2);
        same("solimp of equality", i, e->soft.imp, m->eq_solimp + 5 * i, 5);
        if (e->kind == ZW_EQUALITY_CONNECT) {
            same("anchor", i, e->pos1, data, 3);
        } else if (e->kind == ZW_EQUALITY_WELD) {
            same("anchor", i, e->pos2, data, 3);
            same("torquescale", i, &e->torquescale, data + 10, 1);
            if (e->placed == 1) { /* data: anchor, then where it is seen from the first */
                same_quat("relative orientation", i, e->quat1, data + 6);
            }
        } else {
            same("polynomial", i, e->poly, data, 5);
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        const zw_tendon_def *t = &b->tendon[i];
        same_name("tendon", i, t->name, m, mjOBJ_TENDON);
        same_int("stops of tendon", i, t->count + t->stop_count, m->tendon_num[i]);
        for (int k = 0; k < t->stop_count; k++) {
            static const int kinds[] = {mjWRAP_SITE, 0, mjWRAP_PULLEY};
            int at = m->tendon_adr[i] + k, shape = t->stop[k].kind == ZW_STOP_GEOM;
            int sphere = shape && b->geom[t->stop[k].index].shape == ZW_SHAPE_SPHERE;
            same_int("kind of stop", i,
                     !shape   ? kinds[t->stop[k].kind]
                     : sphere ? mjWRAP_SPHERE
                              : mjWRAP_CYLINDER,
                     m->wrap_type[at]);
        }
        for (int k = 0; k < t->count; k++) {
            same_int("joint of tendon", i, t->joint[k],
                     joint_order[m->wrap_objid[m->tendon_adr[i] + k]]);
            same("coef of tendon", i, &t->coef[k], m->wrap_prm + m->tendon_adr[i] + k, 1);
        }
        same_int("limited tendon", i, t->limited, m->tendon_limited[i]);
        same("range of tendon", i, t->range, m->tendon_range + 2 * i, 2);
        same("stiffness of tendon", i, &t->stiffness, m->tendon_stiffness + i, 1);
        same("damping of tendon", i, &t->damping, m->tendon_damping + i, 1);
        same("frictionloss of tendon", i, &t->frictionloss, m->tendon_frictionloss + i, 1);
    }
}

static void compare_rest(const model_bodies *b, const mjModel *m)
{
    same("gravity", 0, b->world.gravity, m->opt.gravity, 3);
    same("timestep", 0, &b->world.timestep, &m->opt.timestep, 1);
    same("impratio", 0, &b->world.impratio, &m->opt.impratio, 1);
    same_int("cone", 0, b->world.elliptic, m->opt.cone);
    same_int("sensors", 0, b->count[ZW_KIND_SENSOR], m->nsensor);
    same_int("pairs", 0, b->count[ZW_KIND_PAIR], m->npair);
    if (b->world.from_geoms != 0) { /* of URDF, ours adds the neighbours of the base */
        same_int("excludes", 0, b->count[ZW_KIND_EXCLUDE], m->nexclude);
    }
    same_int("keys", 0, b->count[ZW_KIND_KEY], m->nkey);
    for (int i = 0; i < m->nsensor && i < b->count[ZW_KIND_SENSOR]; i++) {
        same_name("sensor", i, b->sensor[i].name, m, mjOBJ_SENSOR);
        same("cutoff", i, &b->sensor[i].cutoff, m->sensor_cutoff + i, 1);
    }
    for (int i = 0; i < m->nkey && i < b->count[ZW_KIND_KEY]; i++) {
        const zw_key_def *k = &b->key[i];
        same_name("key", i, k->name, m, mjOBJ_KEY);
        same("time of key", i, &k->time, m->key_time + i, 1);
        for (int c = 0; k->qpos != NULL && c < m->nq; c++) { /* MuJoCo has unit quaternions */
            same_within("qpos of key", i, &k->qpos[c], m->key_qpos + i * m->nq + c, 1, 1e-4, 1);
        }
        if (k->qvel != NULL) {
            same("qvel of key", i, k->qvel, m->key_qvel + i * m->nv, m->nv);
        }
        if (k->ctrl != NULL) {
            same("ctrl of key", i, k->ctrl, m->key_ctrl + i * m->nu, m->nu);
        }
    }
}

static void compare(const zw_model *model, const mjModel *m)
{
    const model_bodies *b = model->bodies;
    const struct {
        const char *what;
        zw_kind kind;
        int theirs;
    } counts[] = {{"bodies", ZW_KIND_BODY, m->nbody},      {"joints", ZW_KIND_JOINT, m->njnt},
                  {"geoms", ZW_KIND_GEOM, m->ngeom},       {"sites", ZW_KIND_SITE, m->nsite},
                  {"actuators", ZW_KIND_ACTUATOR, m->nu},  {"equalities", ZW_KIND_EQUALITY, m->neq},
                  {"tendons", ZW_KIND_TENDON, m->ntendon}, {"meshes", ZW_KIND_MESH, m->nmesh}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        same_int(counts[i].what, 0, b->count[counts[i].kind], counts[i].theirs);
    }
    model_sizes sizes = model_sizes_of(b);
    same_int("positions", 0, sizes.qpos, m->nq);
    same_int("speeds", 0, sizes.qvel, m->nv);
    if (differences > 0) {
        return;
    }
    int *joint = calloc((size_t)m->njnt + 1, sizeof *joint);
    int *geom = calloc((size_t)m->ngeom + 1, sizeof *geom);
    int *site = calloc((size_t)m->nsite + 1, sizeof *site);
    mjData *d = mj_makeData(m);
    model_joint_order(b, joint);
    by_body(b, ZW_KIND_GEOM, geom);
    by_body(b, ZW_KIND_SITE, site);
    compare_masses(model, m);
    compare_joints(b, m, joint);
    compare_geoms(b, m, geom);
    compare_poses(b, m, d, joint, geom, site);
    compare_actuators(b, m, joint, site);
    compare_links(b, m, joint);
    compare_rest(b, m);
    mj_deleteData(d);
    free(joint);
    free(geom);
    free(site);
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct tally {
    int agree, differ, refused, skipped, simpler;
} tally;

static int compare_file(const char *path, int ours, tally *t);

/* We read it and MuJoCo does not: both may read it without what is too new. */
static int compare_simpler(const char *path, tally *t)
{
    char folder[200], copy[600];
    int done = 0;
    if (older_simplify(path, folder, copy)) {
        tally inner = {0};
        printf("%-60s is too new; without new words, looks and damping ratios:\n", path);
        done = compare_file(copy, -1, &inner);
        t->simpler += inner.agree;
        t->differ += inner.differ;
        older_done(folder);
    }
    return done;
}

/* `ours`: 1 a file of this repository, which both must read; -1 one that was made simpler. Answers
 * whether it was compared. */
static int compare_file(const char *path, int ours, tally *t)
{
    char message[1000] = "";
    zw_error error;
    current = path;
    differences = numbers = 0;
    worst = 0;
    mjModel *m = mj_loadXML(path, NULL, message, sizeof message);
    zw_model *model = zw_model_read(path, NULL, &error);
    message[strcspn(message, "\n")] = 0;
    error.text[strcspn(error.text, "\n")] = 0;
    if (m == NULL || model == NULL) {
        if (model != NULL && ours == 0 && compare_simpler(path, t)) {
            current = path;
        } else if (model != NULL) {
            printf("%-60s skipped, but we read it; MuJoCo: %s\n", path, message);
        } else {
            printf("%-60s %s: we: %s:%d: %s\n", path, m == NULL ? "neither reads it" : "refused",
                   error.file, error.line, error.text);
        }
        t->skipped += m == NULL;
        t->refused += m != NULL;
        t->differ += ours > 0;
    } else {
        older_weigh(model);
        compare(model, m);
        printf("%-60s %s: %d numbers, largest difference %.1e\n", path,
               differences > 0 ? "DIFFERS" : "agrees", numbers, worst);
        t->agree += differences == 0;
        t->differ += differences > 0;
    }
    int compared = m != NULL && model != NULL;
    if (m != NULL) {
        mj_deleteModel(m);
    }
    zw_model_free(model);
    return compared;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void compare_folder(const char *path, int ours, int depth, tally *t)
{
    DIR *folder = opendir(path);
    char *name[MOST_FILES];
    int count = 0;
    if (folder == NULL) {
        compare_file(path, ours, t);
        return;
    }
    for (struct dirent *e; (e = readdir(folder)) != NULL && count < MOST_FILES;) {
        size_t length = strlen(e->d_name);
        int xml = length > 5 && (strcmp(e->d_name + length - 4, ".xml") == 0 ||
                                 strcmp(e->d_name + length - 5, ".urdf") == 0);
        if (e->d_name[0] != '.' && (xml || (depth > 0 && strchr(e->d_name, '.') == NULL))) {
            name[count++] = strdup(e->d_name);
        }
    }
    closedir(folder);
    qsort(name, (size_t)count, sizeof *name, by_name);
    for (int i = 0; i < count; i++) {
        char inner[1000];
        struct stat what;
        snprintf(inner, sizeof inner, "%s/%s", path, name[i]);
        if (stat(inner, &what) == 0 && S_ISDIR(what.st_mode)) {
            compare_folder(inner, ours, 0, t);
        } else {
            compare_file(inner, ours, t);
        }
        free(name[i]);
    }
}

static void silent(const char *message)
{
    (void)message;
}

int main(int count, char **argument)
{
    tally own = {0}, public = {0};
    mju_user_warning = silent;
    printf("MuJoCo %s\n", mj_versionString());
    for (int i = 1; i < count; i++) {
        compare_folder(argument[i], 0, 1, &public);
    }
    if (count == 1) {
        compare_folder(ZW_SOURCE_DIR "/test/read/mjcf", 1, 0, &own);
        printf("own files: %d agree, %d do not\n", own.agree, own.differ);
        const char *models = getenv("ZW_MODELS");
        models = models != NULL ? models : "/work/shared/models";
        DIR *folder = opendir(models);
        if (folder != NULL) {
            closedir(folder);
            compare_folder(models, 0, 1, &public);
        } else {
            printf("public models: skipped, there is no folder %s (see ZW_MODELS)\n", models);
        }
    }
    printf("public models: %d agree, %d differ, %d refused by us, %d not read by this MuJoCo (of "
           "which "
           "%d agree when made simpler)\n",
           public.agree, public.differ, public.refused, public.skipped, public.simpler);
    return own.differ > 0 || public.differ > 0;
}
