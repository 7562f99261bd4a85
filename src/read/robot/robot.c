#include "read/robot/robot.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/bodies.h"
#include "read/file/file.h"
#include "read/robot/mjcf.h"
#include "read/robot/urdf.h"
#include "read/zw/zw.h"

const robot_limits robot_usual_limits = {.files = 1, .copies = 1000000};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Ignores case; `end` is in lower case. */
static int ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end), same = 0;
    while (length >= wanted && same < wanted && lower(name[length - wanted + same]) == end[same]) {
        same++;
    }
    return same == wanted;
}

/* Also true for unsupported robot formats, which get a specific message. */
int robot_is(const char *name, const char *text)
{
    static const char *const end[] = {".xml", ".mjcf",  ".urdf", ".xacro", ".sdf",
                                      ".usd", ".world", ".usda", ".usdc",  ".usdz"};
    for (size_t i = 0; name != NULL && i < sizeof end / sizeof *end; i++) {
        if (ends_in(name, end[i])) {
            return 1;
        }
    }
    if (text != NULL) {
        text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        text += strspn(text, " \t\r\n");
        return *text == '<';
    }
    return 0;
}

/* The model takes ownership of the text. */
static int keep_file(xml_tree *xml, const char *name, char *text)
{
    model_file *file = text != NULL ? model_add_file(xml->model) : NULL;
    if (file == NULL) {
        base_free(text);
        xml_no_memory(xml);
        return -1;
    }
    file->text = text;
    file->name = model_text_copy(name, strlen(name));
    if (file->name == NULL) {
        xml_no_memory(xml);
        return -1;
    }
    return xml->model->file_count - 1;
}

int robot_file(xml_tree *xml, const char *path, int place)
{
    if (xml->model->file_count >= READ_MOST_FILES) {
        xml_fail(xml, place, "there are more than %d files", READ_MOST_FILES);
        return -1;
    }
    size_t length;
    read_file_state state;
    if (ends_in(path, ".usd") ||
        (strlen(path) > 5 && strncmp(path + strlen(path) - 5, ".usd", 4) == 0)) {
        xml_fail(
            xml, place,
            "'%.200s': USD files are not read; robots are read from MJCF (.xml) and URDF files",
            path);
        return -1;
    }
    char *text = read_file_bytes(xml->options, path, &length, &state);
    if (text == NULL) {
        if (state == READ_FILE_NO_MEMORY) {
            xml_no_memory(xml);
        } else if (state == READ_FILE_MISSING) {
            xml_fail(xml, place, "cannot open the file '%.200s'%s", path,
                     read_similar_file(xml->options, path).text);
        } else {
            xml_fail(xml, place,
                     state == READ_FILE_TOO_LARGE ? "'%.200s' has more than " READ_FILE_MOST_TEXT
                                                  : "'%.200s' cannot be read; is it a folder?",
                     path);
        }
        return -1;
    }
    while (length > 0 && text[length - 1] == 0) {
        length--; /* some tools write the terminating zero of a C string */
    }
    if (memchr(text, 0, length) != NULL) {
        base_free(text);
        xml_fail(xml, place, "'%.200s' has a zero byte; is it a text file?", path);
        return -1;
    }
    return keep_file(xml, path, text);
}

/* Checks all masses and moments. */
static int weigh(xml_tree *xml)
{
    zw_error error;
    int bodies = zw_model_count(xml->model, ZW_KIND_BODY);
    zw_inertia *list = base_alloc((size_t)bodies * sizeof *list);
    if (list == NULL) {
        return xml_no_memory(xml);
    }
    zw_status status = zw_model_inertia(xml->model, list, &error);
    base_free(list);
    if (status != ZW_OK) {
        xml->status = status;
        if (xml->error != NULL) {
            *xml->error = error;
        }
    }
    return status == ZW_OK;
}

static int read_root(xml_tree *xml, int root, const robot_limits *limits)
{
    const char *name = xml->element[root].name;
    if (strcmp(name, "mujoco") == 0 && limits->options != NULL &&
        (limits->options->base != ZW_BASE_DEFAULT || limits->options->package_count > 0)) {
        return xml_fail(xml, xml_place(xml, root),
                        "base and packages are for URDF; an MJCF file itself says what its base is "
                        "and where its meshes are");
    }
    if (strcmp(name, "mujoco") == 0) {
        return mjcf_read(xml, root, limits);
    }
    if (strcmp(name, "robot") == 0) {
        return urdf_read(xml, root, limits);
    }
    if (strcmp(name, "sdf") == 0) {
        return xml_fail(xml, xml_place(xml, root),
                        "SDF files are not read; robots are read from MJCF (.xml) and URDF files");
    }
    return xml_fail(xml, xml_place(xml, root),
                    "a robot file begins with <mujoco> or <robot>, not with <%.60s>", name);
}

/* Parses file number `file` of the model and fills it (-1: reading failed). */
static zw_status fill(xml_tree *xml, int file, const robot_limits *limits)
{
    int root = file >= 0 ? xml_read(xml, file) : -1;
    int ok = root >= 0 && read_root(xml, root, limits);
    if (ok && limits->options != NULL && limits->options->balance_inertia) {
        xml->model->bodies->world.balance = 1;
    }
    if (!ok || !weigh(xml)) {
        xml_no_memory(xml); /* unless there is a message already */
    }
    xml_free(xml);
    return xml->status;
}

static zw_model *finish(xml_tree *xml, int file, const robot_limits *limits)
{
    if (fill(xml, file, limits) != ZW_OK) {
        zw_model_free(xml->model);
        return NULL;
    }
    return xml->model;
}

zw_status robot_import(zw_model *model, const char *path, int place, const zw_read_options *options,
                       zw_error *error)
{
    xml_tree xml = {.model = model, .error = error, .options = options};
    robot_limits limits = robot_usual_limits;
    limits.options = options;
    if (model->bodies != NULL) {
        return model_fail(model, error, ZW_BAD_INPUT, place, "there are bodies already");
    }
    return fill(&xml, robot_file(&xml, path, place), &limits);
}

zw_model *robot_read(const char *path, const robot_limits *limits, zw_error *error)
{
    xml_tree xml = {.model = model_create(), .error = error};
    xml.options = limits != NULL ? limits->options : NULL;
    if (xml.model == NULL) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        return NULL;
    }
    return finish(&xml, robot_file(&xml, path, -1), limits != NULL ? limits : &robot_usual_limits);
}

zw_model *robot_text(const char *text, const char *name, const robot_limits *limits,
                     zw_error *error)
{
    xml_tree xml = {.model = model_create(), .error = error};
    xml.options = limits != NULL ? limits->options : NULL;
    if (xml.model == NULL) {
        base_fail(error, ZW_NO_MEMORY, "out of memory");
        return NULL;
    }
    int file = keep_file(&xml, name, model_text_copy(text, strlen(text)));
    return finish(&xml, file, limits != NULL ? limits : &robot_usual_limits);
}
