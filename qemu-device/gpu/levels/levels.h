/* SPDX-License-Identifier: MIT */
/*
 * Vector levels of hosts, for loops that are compiled once per level and selected at run
 * time.
 *
 * A block's file for a level includes the common headers, then avx2.h or avx512.h of this
 * folder, its loops, and end.h; neither for the base level. So the rest of the GPU runs on
 * any x86-64.
 */
#ifndef PUMICE_GPU_LEVELS_H
#define PUMICE_GPU_LEVELS_H

#include <stdbool.h>

enum gpu_level { GPU_LEVEL_BASE, GPU_LEVEL_AVX2, GPU_LEVEL_AVX512, GPU_LEVELS };

/* Return whether this host supports a level. */
static inline bool gpu_level_usable(enum gpu_level level)
{
	switch (level) {
	case GPU_LEVEL_BASE:
		return true;
#ifdef __x86_64__
	case GPU_LEVEL_AVX2:
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	case GPU_LEVEL_AVX512:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
	default:
		return false;
	}
}

#endif
