/* SPDX-License-Identifier: MIT */
/* Files of the driver in debugfs, for several programs. */
#ifndef PUMICE_TESTS_GUEST_DEBUGFS_H
#define PUMICE_TESTS_GUEST_DEBUGFS_H

#include "gpu.h"

/** debugfs_text - read a file of the driver. Return: its text, valid until the next call. */
const char *debugfs_text(const char *name);

/** text_line - return the last line of a text that has both parts, or NULL. */
const char *text_line(const char *all, const char *part, const char *other);

/** need_line - return the last line of a file that has both parts; the case fails without. */
const char *need_line(const char *name, const char *part, const char *other);

/** debugfs_set_mode - select the mode of the GPU. Return: 0 or a negative errno. */
int debugfs_set_mode(const char *name);

/** gpu_set_label - name a BO. */
void gpu_set_label(int fd, u32 handle, const char *label);

#endif
