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
 * Of the kernel driver's GPU they are those of all processes that were detected since this one has
 * opened it.
 *
 * Limits: a finding is written once, with the number of detections up to then. Those that had no
 * room are counted for all virtual GPUs together, by device 0. A program of another process may
 * have the address of one of this process, whose line the finding has then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "program.h"

#define FINDINGS_VARIABLE	"PUMICE_FINDINGS"
#define TEXT_BYTES		2048u
#define SOURCE_BYTES		600u	/* of a member with a file and a line */
#define FILE_BYTES		512u	/* of the file in it */
#define LOST_FORMAT		"{\"lost\": %" PRIu64 "}"

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
static bool describe_line(struct pumice_vm *vm, const char *key, u64 code, u32 insn, char *text,
			  size_t bytes)
{
	struct pumice_source_line line[PUMICE_SOURCE_DEPTH];
	u32 count = PUMICE_SOURCE_DEPTH;
	const struct pumice_kernel *k;
	char file[FILE_BYTES];

	pthread_mutex_lock(&vm->lock);
	for (k = vm->kernels; k && k->code_va != code; k = k->next)
		;
	if (k && !pumice_program_get_lines(k->program, insn, line, &count)) {
		escape(line[0].file, file, sizeof(file));
		snprintf(text, bytes, ",\"%s\":\"%s:%u\"", key, file, line[0].line);
	}
	pthread_mutex_unlock(&vm->lock);
	return k;
}

/*
 * Describe the source line of an instruction as member key. Programs of several VMs may have the
 * same address: then there is none.
 */
static void describe_source(struct pumice_device *dev, const char *key, u64 code, u64 insn,
			    char *text, size_t bytes)
{
	struct pumice_vm *vm;
	u32 found = 0;

	text[0] = '\0';
	pthread_mutex_lock(&dev->vms_lock);
	for (vm = dev->vms; vm; vm = vm->next)
		found += describe_line(vm, key, code, (u32)insn, text, bytes);
	pthread_mutex_unlock(&dev->vms_lock);
	if (found != 1)
		text[0] = '\0';
}

/*
 * Describe the source lines of a finding and of its other side, which may have another program, or
 * the only one.
 */
static void describe_sources(struct pumice_device *dev, const char *finding, char *source,
			     char *other_source)
{
	const char *other = strstr(finding, "\"other\":{");
	const char *own = strstr(finding, "\"program\":\"");
	u64 code = 0, insn;

	source[0] = '\0';
	other_source[0] = '\0';
	if (own && (!other || own < other) && get_number(own, "\"program\":\"", 16, &code) &&
	    get_number(own, "\"instruction\":", 10, &insn))
		describe_source(dev, "source", code, insn, source, SOURCE_BYTES);
	if (!other || !get_number(other, "\"instruction\":", 10, &insn))
		return;
	get_number(other, "\"program\":\"", 16, &code);
	if (code)
		describe_source(dev, "other_source", code, insn, other_source, SOURCE_BYTES);
}

/* As pumice_finding_get(), without those that had no room; the thread's error text remains. */
static int get(struct pumice_device *dev, u32 number, char *text, size_t bytes)
{
	char finding[TEXT_BYTES], source[SOURCE_BYTES], other_source[SOURCE_BYTES];
	int err;

	if (!dev->ops->finding)
		return -EOPNOTSUPP;
	err = dev->ops->finding(dev, number, finding, sizeof(finding));
	if (err)
		return err;
	if (!*finding || finding[strlen(finding) - 1] != '}')
		return -EPROTO;	/* of a newer driver */
	describe_sources(dev, finding, source, other_source);
	finding[strlen(finding) - 1] = '\0';
	return (size_t)snprintf(text, bytes, "%s%s%s}", finding, other_source, source) < bytes ?
		       0 : -ENOSPC;
}

/* Describe the findings that had no room, which follow the last one; -ENOENT if there are none. */
static int get_lost(struct pumice_device *dev, u32 number, char *text, size_t bytes)
{
	const u64 lost = dev->ops->findings_lost(dev);
	char last[TEXT_BYTES];

	if (!lost || !number || dev->ops->finding(dev, number - 1, last, sizeof(last)))
		return -ENOENT;
	return (size_t)snprintf(text, bytes, LOST_FORMAT, lost) < bytes ? 0 : -ENOSPC;
}

int pumice_finding_get(struct pumice_device *dev, uint32_t number, char *text, size_t bytes)
{
	int err = get(dev, number, text, bytes);

	if (err == -ENOENT)
		err = get_lost(dev, number, text, bytes);
	if (err == -ENOENT)
		return fail(dev, ENOENT, "finding: there is no finding %u", number);
	if (err == -ENOSPC)
		return fail(dev, ENOSPC, "finding: its text needs more than %zu bytes", bytes);
	if (err == -EOPNOTSUPP)
		return fail(dev, EOPNOTSUPP, "finding: not for a GPU of another process");
	if (err)
		return fail(dev, -err, "finding: the driver's file findings in debugfs: %s",
			    strerror(-err));
	return 0;
}

void findings_skip(struct pumice_device *dev)
{
	const char *name = getenv(FINDINGS_VARIABLE);
	char text[TEXT_BYTES];

	if (!name || !*name || !dev->ops->finding)
		return;
	pthread_mutex_lock(&dev->findings_lock);
	dev->findings_clears = dev->ops->findings_clears(dev);
	for (dev->findings_written = 0;
	     !dev->ops->finding(dev, dev->findings_written, text, sizeof(text));)
		dev->findings_written++;
	dev->findings_lost = dev->ops->findings_lost(dev);
	pthread_mutex_unlock(&dev->findings_lock);
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

/*
 * Add a line to the file, which is opened if *file is NULL. Whole lines: other processes may write
 * to it, too.
 */
static bool write_line(const char *name, FILE **file, const char *text)
{
	if (!*file)
		*file = fopen(name, "a");
	if (!*file)
		return false;
	fprintf(*file, "%s\n", text);
	fflush(*file);
	return true;
}

/* Write the number of findings that had no room since this was written last. */
static void write_lost(struct pumice_device *dev, const char *name, FILE **file)
{
	const u64 lost = dev->ops->findings_lost(dev);
	char text[TEXT_BYTES];

	if (lost <= dev->findings_lost)
		return;
	snprintf(text, sizeof(text), LOST_FORMAT, lost - dev->findings_lost);
	if (write_line(name, file, text))
		dev->findings_lost = lost;
}

void findings_write(struct pumice_device *dev)
{
	const char *name = getenv(FINDINGS_VARIABLE);
	FILE *file = NULL;
	char text[TEXT_BYTES];
	u32 clears;
	int err;

	if (!name || !*name || !dev->ops->findings_clears)
		return;
	pthread_mutex_lock(&dev->findings_lock);
	clears = dev->ops->findings_clears(dev);
	if (clears != dev->findings_clears) {
		dev->findings_written = 0;
		dev->findings_lost = 0;
	}
	dev->findings_clears = clears;
	while (!(err = get(dev, dev->findings_written, text, sizeof(text))) &&
	       write_line(name, &file, text))
		dev->findings_written++;
	/* The back end reads its findings anew when one of them did not exist. */
	if (err != -ENOENT)
		dev->ops->finding(dev, UINT32_MAX, text, sizeof(text));
	write_lost(dev, name, &file);
	if (file)
		fclose(file);
	pthread_mutex_unlock(&dev->findings_lock);
}
