/* Under Emscripten `long double` has 128 bits and is computed by software. Nothing here prints one,
 * so CMakeLists.txt calls vsnprintf __small_vsnprintf, the one that knows doubles only, and
 * snprintf, which its C library does not have so, is here: 10 KB less. */
#include <stdarg.h>
#include <stdio.h>

#ifdef __EMSCRIPTEN__
int snprintf(char *restrict text, size_t size, const char *restrict format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}
#endif
