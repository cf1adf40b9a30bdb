/* SPDX-License-Identifier: MIT */
/*
 * Floating-point settings of the thread that executes waves: denormals are kept, and results
 * are rounded to nearest, whatever the settings of the host's thread.
 *
 * Source: Documentation/precision.rst. A step may be as short as one wave, and fesetenv() takes
 * longer than that on x86, because it also loads the settings of the x87, which nothing here
 * uses if floats are computed by SSE2.
 */
#ifndef PUMICE_GPU_USC_FLOAT_ENV_H
#define PUMICE_GPU_USC_FLOAT_ENV_H

#ifdef __SSE2_MATH__
#include <xmmintrin.h>

#define FLOAT_ENV_DEFAULT	0x1f80u	/* all exceptions masked */
#define FLOAT_ENV_FLAGS		0x3fu	/* exceptions that occurred */

struct float_env {
	unsigned int csr;
};

/* Apply the settings; the thread's own are stored for float_env_leave(). */
static inline void float_env_enter(struct float_env *host)
{
	host->csr = _mm_getcsr();
	if ((host->csr & ~FLOAT_ENV_FLAGS) != FLOAT_ENV_DEFAULT)
		_mm_setcsr(FLOAT_ENV_DEFAULT);
}

static inline void float_env_leave(const struct float_env *host)
{
	if (_mm_getcsr() != host->csr)
		_mm_setcsr(host->csr);
}
#else
#include <fenv.h>

struct float_env {
	fenv_t env;
};

static inline void float_env_enter(struct float_env *host)
{
	fegetenv(&host->env);
	fesetenv(FE_DFL_ENV);
}

static inline void float_env_leave(const struct float_env *host)
{
	fesetenv(&host->env);
}
#endif

#endif
