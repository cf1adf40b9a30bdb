/* SPDX-License-Identifier: MIT */
/*
 * From here to end.h functions are compiled for the level. See levels.h.
 * Limits: no include guard; once in a file.
 */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
			     apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif
