/* The cost of a trial relative to the motion that it certifies: computing samples, writing and
 * reading them, and certifying them. */
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "zwang/path.h"

enum { ROUNDS = 5 };

static const long SAMPLES = 100000;

static void must(int good, const zw_error *error)
{
    if (!good) {
        fprintf(stderr, "bench/certify: %s\n", error->text);
        exit(2);
    }
}

/* ---- A motion and its files ------------------------------------------------------------------ */

typedef struct subject {
    const char *name, *file;
    double time;
    zw_model *model;
    zw_system *system;
} subject;

typedef struct costs {
    double compute, write, csv, h5, certify; /* seconds */
} costs;

static int count_only(void *user, zw_sample_kind kind, int event, const zw_system *system,
                      const zw_state *state, zw_work *work)
{
    (void)kind;
    (void)event;
    (void)system;
    (void)state;
    (void)work;
    ++*(long *)user;
    return 0;
}

/* Seconds for all samples: with a record as observer, or only counted if it is NULL. */
static double compute(const subject *s, zw_record *record)
{
    zw_error error = {0};
    long count = 0;
    zw_work *work = zw_work_create(s->system, &error);
    must(work != NULL, &error);
    zw_state *state = zw_state_create(s->system, work, NULL, &error);
    must(state != NULL, &error);
    const zw_run_options options = {.time = s->time,
                                    .every = s->time / (double)SAMPLES,
                                    .observer = record ? zw_record_observe : count_only,
                                    .user = record ? (void *)record : &count};
    double start = seconds_computed();
    must(zw_run(s->system, state, work, &options, NULL, &error) == ZW_OK, &error);
    double spent = seconds_computed() - start;
    zw_state_free(state);
    zw_work_free(work);
    return spent;
}

/* Seconds to read; the caller frees *path. */
static double read_path(const subject *s, const char *file, zw_path **path)
{
    zw_error error = {0};
    double start = seconds_computed();
    *path = zw_path_read(s->system, file, NULL, &error);
    must(*path != NULL, &error);
    return seconds_computed() - start;
}

static costs round_of(const subject *s, const char *csv, const char *h5, zw_trial_report *report)
{
    zw_error error = {0};
    zw_path *path;
    costs c = {.compute = compute(s, NULL)};
    zw_record *record = zw_record_create(s->system, &error);
    must(record != NULL, &error);
    compute(s, record);
    double start = seconds_computed();
    must(zw_record_write(record, NULL, csv, &error) == ZW_OK, &error);
    c.write = seconds_computed() - start;
    c.h5 = NAN;
    if (zw_record_write(record, NULL, h5, &error) == ZW_OK) {
        c.h5 = read_path(s, h5, &path);
        zw_path_free(path);
    }
    zw_record_free(record);
    c.csv = read_path(s, csv, &path);
    start = seconds_computed();
    zw_trial *trial = zw_path_certify(s->system, path, NULL, &error);
    must(trial != NULL, &error);
    c.certify = seconds_computed() - start;
    *report = *zw_trial_look(trial);
    zw_trial_free(trial);
    zw_path_free(path);
    return c;
}

static void print_subject(subject *s, const char *csv, const char *h5)
{
    static const char *const verdict[] = {"a motion", "not a motion", "off", "coarse"};
    double ratio[ROUNDS], whole[ROUNDS], compute_[ROUNDS], write_[ROUNDS], csv_[ROUNDS],
        h5_[ROUNDS], certify_[ROUNDS];
    zw_error error = {0};
    zw_trial_report report;
    s->model = zw_model_read(s->file, NULL, &error);
    must(s->model != NULL, &error);
    s->system = zw_system_compile(s->model, NULL, &error);
    must(s->system != NULL, &error);
    for (int k = 0; k < ROUNDS; k++) {
        costs c = round_of(s, csv, h5, &report);
        ratio[k] = c.compute / c.certify;
        whole[k] = (c.compute + c.write) / (c.certify + c.csv);
        compute_[k] = 1e3 * c.compute;
        write_[k] = 1e3 * c.write;
        csv_[k] = 1e3 * c.csv;
        h5_[k] = 1e3 * c.h5;
        certify_[k] = 1e3 * c.certify;
    }
    printf("| %s | **%.1f** | %.1f | %.0f | %.0f | %.0f | %.0f | %.0f | %s, %.0e |\n", s->name,
           median(ratio, ROUNDS), median(whole, ROUNDS), median(compute_, ROUNDS),
           median(certify_, ROUNDS), median(write_, ROUNDS), median(csv_, ROUNDS),
           median(h5_, ROUNDS), verdict[report.verdict], report.defect);
    fflush(stdout);
    zw_system_free(s->system);
    zw_model_free(s->model);
}

int main(void)
{
    subject subjects[] = {
        {.name = "double pendulum, angles",
         .file = ZW_SOURCE_DIR "/bench/double_pendulum.zw",
         .time = 100},
        {.name = "double pendulum, rods",
         .file = ZW_SOURCE_DIR "/examples/double_pendulum.zw",
         .time = 100},
        {.name = "Chaplygin sleigh",
         .file = ZW_SOURCE_DIR "/examples/chaplygin_sleigh.zw",
         .time = 100},
    };
    const char *base = getenv("TMPDIR");
    char folder[256], csv[300], h5[300];
    snprintf(folder, sizeof folder, "%.200s/zwang-bench-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 2;
    }
    snprintf(csv, sizeof csv, "%s/a.csv", folder);
    snprintf(h5, sizeof h5, "%s/a.h5", folder);
    printf("\n## Certifying beside computing, %ld samples\n\n", SAMPLES + 1);
    printf(
        "Processor time, median of %d rounds. With files: computing and writing CSV, over reading "
        "CSV and certifying.\n\n",
        ROUNDS);
    printf("| motion | times faster than computing | with files | computing ms | certifying ms | "
           "writing CSV ms | reading CSV ms | reading HDF5 ms | verdict, defect |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        print_subject(&subjects[i], csv, h5);
    }
    remove(csv);
    remove(h5);
    rmdir(folder);
    return 0;
}
