/* SPDX-License-Identifier: MIT */
/* Include after a level's functions. See levels.h. */
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
