/* Lanes: one source for one world and for many (design.md section 7).
 *
 * A leaf kernel is written once over zw_real in a file `name.lane.h`, and compiled by one translation
 * unit with zw_real = double and by another with eight worlds in a vector. Choices that depend on
 * data are selects. No operation mixes lanes, so a lane of eight has the bits of the world alone.
 *
 * ZW_CLONES compiles one function for several vector widths and picks at load time. All loops so
 * marked are elementwise and -ffp-contract=off forbids fused operations, so every width gives the
 * same bits. */
#ifndef ZW_MATH_LANE_H
#define ZW_MATH_LANE_H

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                     \
    !defined(__SANITIZE_ADDRESS__)
#define ZW_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ZW_CLONES
#endif

#endif
