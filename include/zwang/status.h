/* What a call returns: success, or why it failed. */
#ifndef ZWANG_STATUS_H
#define ZWANG_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Every status and its text in one line. */
#define ZW_STATUS_TABLE(X)                                                                         \
    X(ZW_OK, "solved; the certificate is within tolerance")                                        \
    X(ZW_BAD_INPUT, "the input is not a well-formed problem")                                      \
    X(ZW_NO_MEMORY, "out of memory")                                                               \
    X(ZW_TOO_LARGE, "the problem does not fit the workspace it was given")                         \
    X(ZW_NOT_A_METRIC, "the metric is not positive semidefinite")                                  \
    X(ZW_UNDETERMINED, "some directions have neither mass nor constraint")                         \
    X(ZW_CONFLICT, "the constraints contradict each other")                                        \
    X(ZW_NO_SOLUTION, "Coulomb's law has no solution for these data")                              \
    X(ZW_JAMMED, "no method found a solution of Coulomb's law; there may be none")                 \
    X(ZW_INACCURATE, "the best answer found misses the tolerance; see its certificate")            \
    X(ZW_NOT_FINITE, "a formula has no finite value here")                                         \
    X(ZW_NO_STEP, "no step is small enough to continue from here")                                 \
    X(ZW_NO_FILE, "a file cannot be read or written")                                              \
    X(ZW_NOT_REACHED, "no motion was found that arrives there")                                    \
    X(ZW_INTERRUPTED, "stopped by the caller")

typedef enum zw_status {
#define ZW_STATUS_CODE(code, text) code,
    ZW_STATUS_TABLE(ZW_STATUS_CODE)
#undef ZW_STATUS_CODE
} zw_status;

/* A status with a message. `line` and `column` count from 1; 0 means "no place". */
typedef struct zw_error {
    zw_status status;
    char file[128];
    int line;
    int column;
    char text[1024];
} zw_error;

/* The text of a status; never NULL. */
const char *zw_status_text(zw_status status);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
