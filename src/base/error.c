#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_append(zw_error *error, const char *format, va_list arguments)
{
    size_t used = strlen(error->text);
    vsnprintf(error->text + used, sizeof error->text - used, format, arguments);
}

zw_status base_fail(zw_error *error, zw_status status, const char *format, ...)
{
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        error_append(error, format, arguments);
        va_end(arguments);
    }
    return status;
}

zw_status base_fail_as(zw_error *error, zw_status status)
{
    return base_fail(error, status, "%s", zw_status_text(status));
}

zw_status base_no_memory(zw_error *error)
{
    return base_fail_as(error, ZW_NO_MEMORY);
}

zw_status base_clear(zw_error *error)
{
    if (error != NULL) {
        error->status = ZW_OK;
        error->line = error->column = 0;
        error->file[0] = error->text[0] = 0;
    }
    return ZW_OK;
}

void base_fail_more(zw_error *error, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error_append(error, format, arguments);
        va_end(arguments);
    }
}
