// SPDX-License-Identifier: MIT
/*
 * Findings of mode strict: as text, with the line of the source where the program has lines, and in
 * the file that PUMICE_FINDINGS names, for pumice-strict.
 *
 * The file has a line for each GPU that has been opened, with its mode: without one in mode strict,
 * a file without findings proves nothing.
 *
 * Findings are written to the file after each wait for jobs, so that those of a process that ends
 * without closing its device, or by a signal, are in it; before programs are destroyed, since these
 * have the lines; and when the device is closed.
 *
 * Limits: a finding is written once, with the number of detections up to then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "program.h"

#define FINDINGS_VARIABLE	"PUMICE_FINDINGS"
#define TEXT_BYTES		2048u
#define SOURCE_BYTES		1024u	/* of the member with a file and a line */

/* Get the number after a key of a finding's text; returns false if it has none. */
static bool get_number(const char *text, const char *key, int base, u64 *value)
{
	const char *at = strstr(text, key);

	if (at)
		*value = strtoull(at + strlen(key), NULL, base);
	return at;
}

/*
 * Write the name of a file as part of a JSON text, with an end; one without room is cut. Names in
 * programs have no control characters; bytes that are not ASCII are those of UTF-8 in both.
 */
static void escape(const char *from, char *to, size_t bytes)
{
	const char *const end = to + bytes;

	for (; *from && end - to > 2; from++) {
		if (*from == '"' || *from == '\\')
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
}

/* Describe the line of an instruction of a VM's program; returns whether it has the program. */
static bool describe_line(struct pumice_vm *vm, u64 code, u32 insn, char *text, size_t bytes)
{
	struct pumice_source_line line[PUMICE_SOURCE_DEPTH];
	u32 count = PUMICE_SOURCE_DEPTH;
	const struct pumice_kernel *k;
	char file[SOURCE_BYTES / 2];

	pthread_mutex_lock(&vm->lock);
	for (k = vm->kernels; k && k->code_va != code; k = k->next)
		;
	if (k && !pumice_program_get_lines(k->program, insn, line, &count)) {
		escape(line[0].file, file, sizeof(file));
		snprintf(text, bytes, ",\"source\":\"%s:%u\"", file, line[0].line);
	}
	pthread_mutex_unlock(&vm->lock);
	return k;
}

/*
 * Describe the source line of a finding. Programs of several VMs may have the same address: then
 * there is none.
 */
static void describe_source(struct pumice_device *dev, const char *finding, char *text,
			    size_t bytes)
{
	struct pumice_vm *vm;
	u64 code, insn;
	u32 found = 0;

	text[0] = '\0';
	if (!get_number(finding, "\"program\":\"", 16, &code) ||
	    !get_number(finding, "\"instruction\":", 10, &insn))
		return;
	pthread_mutex_lock(&dev->vms_lock);
	for (vm = dev->vms; vm; vm = vm->next)
		found += describe_line(vm, code, (u32)insn, text, bytes);
	pthread_mutex_unlock(&dev->vms_lock);
	if (found != 1)
		text[0] = '\0';
}

/* As pumice_finding_get(), but the thread's error text remains. */
static int get(struct pumice_device *dev, u32 number, char *text, size_t bytes)
{
	char finding[TEXT_BYTES], source[SOURCE_BYTES];
	int err;

	if (!dev->ops->finding)
		return -EOPNOTSUPP;
	err = dev->ops->finding(dev, number, finding, sizeof(finding));
	if (err)
		return err;
	describe_source(dev, finding, source, sizeof(source));
	finding[strlen(finding) - 1] = '\0';	/* the brace at its end */
	return (size_t)snprintf(text, bytes, "%s%s}", finding, source) < bytes ? 0 : -ENOSPC;
}

int pumice_finding_get(struct pumice_device *dev, uint32_t number, char *text, size_t bytes)
{
	int err = get(dev, number, text, bytes);

	if (err == -ENOENT)
		return fail(dev, ENOENT, "finding: there is no finding %u", number);
	if (err == -ENOSPC)
		return fail(dev, ENOSPC, "finding: its text needs more than %zu bytes", bytes);
	if (err)
		return fail(dev, -err, "finding: only for a GPU in this process; that of the kernel "
				       "driver reports findings to the host of the device");
	return 0;
}

void findings_open(struct pumice_device *dev)
{
	const char *name = getenv(FINDINGS_VARIABLE);
	FILE *file = name && *name ? fopen(name, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "{\"gpu\":\"%s\",\"mode\":\"%s\"}\n", dev->info.backend,
		dev->ops->mode ? dev->ops->mode(dev) : "unknown");
	fclose(file);
}

void findings_write(struct pumice_device *dev)
{
	const char *name = getenv(FINDINGS_VARIABLE);
	FILE *file = NULL;
	char text[TEXT_BYTES];
	u32 clears;

	if (!name || !*name || !dev->ops->findings_clears)
		return;
	pthread_mutex_lock(&dev->findings_lock);
	clears = dev->ops->findings_clears(dev);
	if (clears != dev->findings_clears)
		dev->findings_written = 0;
	dev->findings_clears = clears;
	while (!get(dev, dev->findings_written, text, sizeof(text))) {
		if (!file)
			file = fopen(name, "a");
		if (!file)
			break;
		/* Whole lines: other processes may write to the file, too. */
		fprintf(file, "%s\n", text);
		fflush(file);
		dev->findings_written++;
	}
	if (file)
		fclose(file);
	pthread_mutex_unlock(&dev->findings_lock);
}
