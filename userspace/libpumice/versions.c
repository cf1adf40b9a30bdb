// SPDX-License-Identifier: MIT
/*
 * Functions that changed after their first version. Programs linked with the shared library when
 * it had only the former function get that; all others get the present one. libpumice.map has
 * both. The static archive, built without PUMICE_SHARED, has only present functions, without
 * versions.
 */
#include "internal.h"

#ifdef PUMICE_SHARED
#define PRESENT(name) name##_present
/* Assembler rather than an attribute, which clang does not have. */
#define VERSION(function, name) __asm__(".symver " #function ", " name)

const char *pumice_device_error_former(struct pumice_device *dev);
const char *pumice_device_error_present(struct pumice_device *dev);
int pumice_stream_dispatch_former(struct pumice_stream *s, const struct pumice_dispatch *d);
int pumice_stream_dispatch_present(struct pumice_stream *s, const struct pumice_dispatch *d);

VERSION(pumice_device_error_former, "pumice_device_error@LIBPUMICE_0.1");
VERSION(pumice_device_error_present, "pumice_device_error@@LIBPUMICE_0.5");
VERSION(pumice_stream_dispatch_former, "pumice_stream_dispatch@LIBPUMICE_0.1");
VERSION(pumice_stream_dispatch_present, "pumice_stream_dispatch@@LIBPUMICE_0.5");

const char *pumice_device_error_former(struct pumice_device *dev)
{
	return device_error_former(dev);
}

int pumice_stream_dispatch_former(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	return stream_dispatch_former(s, d);
}
#else
#define PRESENT(name) name
#endif

const char *PRESENT(pumice_device_error)(struct pumice_device *dev)
{
	return device_error(dev);
}

int PRESENT(pumice_stream_dispatch)(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	return stream_dispatch(s, d);
}
