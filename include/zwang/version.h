/* The version of these headers; zw_version() returns that of the library. Until 1.0 a new minor
 * version may change the interface, and the shared library's name changes with it. */
#ifndef ZWANG_VERSION_H
#define ZWANG_VERSION_H

#define ZW_VERSION_MAJOR 0
#define ZW_VERSION_MINOR 3
#define ZW_VERSION_PATCH 0
#define ZW_VERSION "0.3.0"

#endif
