// SPDX-License-Identifier: MIT
/* Files of the driver in debugfs. */
#include <stdio.h>
#include <string.h>

#include "debugfs.h"
#include "harness.h"
#include "system.h"

#define TEXT_BYTES	(1u << 20)
#define LINE_BYTES	1024u	/* more than those of a finding */

static char text[TEXT_BYTES];

const char *debugfs_text(const char *name)
{
	char path[256];
	size_t used;
	FILE *file;

	CHECK(debugfs_path(name, path, sizeof(path)));
	file = fopen(path, "re");
	CHECK(file);
	used = fread(text, 1, sizeof(text) - 1, file);
	text[used] = '\0';
	fclose(file);
	return text;
}

const char *text_line(const char *all, const char *part, const char *other)
{
	static char line[LINE_BYTES];
	const char *start, *end, *found = NULL;

	for (start = all; *start; start = *end ? end + 1 : end) {
		end = start + strcspn(start, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - start), start);
		if (strstr(line, part) && strstr(line, other))
			found = start;
	}
	if (!found)
		return NULL;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(found, "\n"), found);
	return line;
}

const char *need_line(const char *name, const char *part, const char *other)
{
	const char *line = text_line(debugfs_text(name), part, other);

	if (!line)
		test_fail(__FILE__, __LINE__, "no line of %s has \"%s\" and \"%s\"", name,
			  part, other);
	return line;
}

int debugfs_set_mode(const char *name)
{
	char path[256];

	CHECK(debugfs_path("mode", path, sizeof(path)));
	return write_file(path, name);
}

void gpu_set_label(int fd, u32 handle, const char *label)
{
	struct drm_pumice_bo_set_label args = {
		.handle = handle, .label = (uintptr_t)label,
	};

	CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &args));
}
