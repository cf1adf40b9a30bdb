/* SPDX-License-Identifier: MIT */
/* Cache of the host: only speed depends on it. */
#ifndef PUMICE_GPU_HOST_LINE_H
#define PUMICE_GPU_HOST_LINE_H

#define HOST_LINE 64u	/* bytes of a line */

/*
 * Bytes between fields that several threads write and others that they read: processors fetch
 * lines in pairs.
 */
#define HOST_APART (2 * HOST_LINE)

#endif
