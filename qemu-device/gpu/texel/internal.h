/* SPDX-License-Identifier: MIT */
/* Table of vector levels. Included by this folder's sources only. */
#ifndef PUMICE_GPU_TEXEL_INTERNAL_H
#define PUMICE_GPU_TEXEL_INTERNAL_H

#include "texel.h"

extern const struct texel_ops texel_level_base;
#ifdef __x86_64__
extern const struct texel_ops texel_level_avx2;
extern const struct texel_ops texel_level_avx512;
#endif

#endif
