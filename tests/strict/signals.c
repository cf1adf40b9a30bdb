// SPDX-License-Identifier: MIT
/*
 * The zoo, an error of the firmware: a build with the defect EARLY updates the object of a job
 * before it cleans the caches, so those that wait for the job's fence may read memory without its
 * stores. As in zoo.c, the right firmware has no finding, and that of the wrong one has the right
 * kind, instruction and job. Prints a line, in TAP.
 *
 * PUMICE_FIRMWARE is the right firmware, PUMICE_FIRMWARE_EARLY the other one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"
#include "pumice/pumice.h"

#define DEVICE	"inproc:cores=1,uscs=1,ram=64,threads=0,mode=strict"
#define STORED	7u
#define TEXT_BYTES	512u

static void require(struct pumice_device *dev, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, dev ? pumice_device_error(dev) : "");
	exit(1);
}

/* Run a job that stores a word; get the first finding. Returns whether there is one. */
static bool run(char *finding, uint64_t *va, uint32_t *word)
{
	struct pumice_dispatch dispatch;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_buffer buffer;
	struct pumice_device *dev;
	char text[TEXT_BYTES];
	struct pumice_vm *vm;
	uint64_t start;
	bool found;

	require(NULL, pumice_device_open(DEVICE, &dev, NULL, 0), "device");
	require(dev, pumice_vm_create(dev, &vm), "vm");
	require(dev, pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), "context");
	require(dev, pumice_stream_create(vm, 65536, &stream), "stream");
	require(dev, pumice_buffer_create(vm, 4096, &buffer), "buffer");
	require(dev, pumice_bo_set_label(buffer.bo, "victim"), "label");
	snprintf(text, sizeof(text),
		 ".group 1, 1, 1\nmov sh0, %#x\nmov sh1, %#x\nmov r1, [one], 4\nmov r2, [one], %u\n"
		 "global_store32 sig0, [one], sh0 + r1, r2\nsig_wait r3[0], sig0\nend\n",
		 (unsigned int)buffer.va, (unsigned int)(buffer.va >> 32), STORED);
	require(dev, pumice_kernel_assemble(vm, "signals", text, &kernel), "kernel");
	pumice_dispatch_init(&dispatch, kernel);
	require(dev, pumice_stream_dispatch(stream, &dispatch), "dispatch");
	require(dev, pumice_stream_end(stream, &start), "stream");
	require(dev, pumice_context_run(context, start, PUMICE_FOREVER, NULL), "job");
	finding[0] = '\0';
	found = !strict_has_none(dev, finding);
	*va = buffer.va + 4;
	*word = ((uint32_t *)buffer.cpu)[1];
	pumice_kernel_destroy(kernel);
	pumice_buffer_destroy(&buffer);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return found;
}

static bool right_has_none(const void *error, char *finding)
{
	uint64_t va;
	uint32_t word;

	(void)error;
	return !run(finding, &va, &word) && word == STORED;
}

/* It cleans them afterwards, so the program sees the word by chance. */
static bool wrong_is_found(const void *error, char *finding)
{
	char place[FINDING_BYTES];
	uint64_t va;
	uint32_t word;

	if (setenv("PUMICE_FIRMWARE", error, 1) || !run(finding, &va, &word))
		return false;
	snprintf(place, sizeof(place),
		 "\"access\":\"write\",\"va\":\"0x%" PRIx64 "\",\"label\":\"victim\",", va);
	return word == STORED && strict_is(finding, "early-signal") &&
	       strict_has(finding, place) && strict_has(finding, "\"master\":\"cdm\",") &&
	       strict_has(finding, ",\"source\":\"") &&
	       strict_has(finding, "no clean of the caches between this write and the update");
}

int main(void)
{
	const char *early = getenv("PUMICE_FIRMWARE_EARLY");

	if (!early) {
		printf("Bail out! PUMICE_FIRMWARE_EARLY is not set\n");
		return 1;
	}
	printf("1..1\n");
	return !strict_check("update_object_before_the_clean_of_caches", early, right_has_none,
			     wrong_is_found);
}
