// SPDX-License-Identifier: MIT
/*
 * pumice-trace: samples of the counts of the memory hierarchy, of jobs on a GPU in this process,
 * which executes nothing between two calls of the library.
 */
#include <string.h>
#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_counts.h"

#define SAMPLES		256u
#define SLC_READ	"slc read, bytes/s"
#define SLC_WRITTEN	"slc written, bytes/s"
#define SLC_HITS	"slc hits, %"

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_device_info info;
	struct trace_counts *counts;
};

static struct sample {
	uint64_t ns, value;
	char name[64];
} sample[SAMPLES];
static uint32_t samples;

/* In place of that of the trace. */
void perfetto_sample(struct perfetto *p, uint64_t ns, const char *name, uint64_t value)
{
	assert_null(p);
	assert_true(samples < SAMPLES);
	sample[samples].ns = ns;
	sample[samples].value = value;
	strcpy(sample[samples++].name, name);
}

/* Return the sample of a counter, or NULL. */
static const struct sample *find(const char *name)
{
	uint32_t i;

	for (i = 0; i < samples; i++)
		if (!strcmp(sample[i].name, name))
			return &sample[i];
	return NULL;
}

static void open_fixture(struct fixture *fx)
{
	char error[PUMICE_ERROR_BYTES] = "";

	if (pumice_device_open("inproc:cores=1,threads=0,ram=64,mode=counted", &fx->dev, error,
			       sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_device_info(fx->dev, &fx->info), 0);
	assert_int_equal(pumice_vm_create(fx->dev, &fx->vm), 0);
	assert_int_equal(pumice_context_create(fx->vm, PUMICE_PRIORITY_NORMAL, &fx->context), 0);
	assert_int_equal(pumice_stream_create(fx->vm, 1u << 16, &fx->stream), 0);
	assert_int_equal(pumice_kernel_assemble(fx->vm, "one", ".group 32\nend\n", &fx->kernel), 0);
	fx->counts = trace_counts_open(fx->dev, error, sizeof(error));
	if (!fx->counts)
		fail_msg("%s", error);
}

static void close_fixture(struct fixture *fx)
{
	pumice_kernel_destroy(fx->kernel);
	pumice_stream_destroy(fx->stream);
	pumice_context_destroy(fx->context);
	pumice_vm_destroy(fx->vm);
	pumice_device_close(fx->dev);
}

static void run_job(struct fixture *fx)
{
	struct pumice_dispatch dispatch;
	uint64_t va;

	pumice_dispatch_init(&dispatch, fx->kernel);
	pumice_stream_reset(fx->stream);
	assert_int_equal(pumice_stream_dispatch(fx->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(fx->stream, &va), 0);
	assert_int_equal(pumice_context_run(fx->context, va, PUMICE_FOREVER, NULL), 0);
}

static void take_sample(struct fixture *fx)
{
	samples = 0;
	trace_counts_sample(fx->counts, NULL, fx->info.clock_hz, 0, true);
}

/* Or the last values before a pause would be those of all of it. */
static void levels_have_no_bytes_after_their_last_requests(void **state)
{
	struct fixture fx;
	uint32_t round;

	(void)state;
	open_fixture(&fx);
	for (round = 0; round < 2; round++) {
		uint64_t ns;

		run_job(&fx);
		take_sample(&fx);
		assert_non_null(find(SLC_HITS));
		assert_true(find(SLC_READ)->value > 0);
		ns = find(SLC_READ)->ns;
		take_sample(&fx);
		assert_null(find(SLC_HITS));
		assert_non_null(find(SLC_READ));
		assert_non_null(find(SLC_WRITTEN));
		assert_int_equal(find(SLC_READ)->value, 0);
		assert_int_equal(find(SLC_WRITTEN)->value, 0);
		assert_true(find(SLC_READ)->ns > ns);
		take_sample(&fx);
		assert_int_equal(samples, 0);
	}
	assert_true(trace_counts_close(fx.counts));
	close_fixture(&fx);
}

static uint64_t slc_read_bytes(const struct fixture *fx)
{
	struct pumice_hierarchy_level level;
	uint32_t i;

	for (i = 0; !pumice_hierarchy_level_get(fx->dev, i, &level, sizeof(level)); i++)
		if (!strcmp(level.name, "slc"))
			return level.read_bytes;
	return 0;
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The time between two samples is measured with the duration of the calls as tolerance. */
static void bytes_are_those_of_a_second(void **state)
{
	const struct timespec pause = { .tv_nsec = 30000000 };
	uint64_t begin, first, last, end, bytes;
	struct fixture fx;

	(void)state;
	open_fixture(&fx);
	begin = monotonic_ns();
	take_sample(&fx);
	first = monotonic_ns();
	bytes = slc_read_bytes(&fx);
	run_job(&fx);
	bytes = slc_read_bytes(&fx) - bytes;
	assert_true(bytes > 0);
	nanosleep(&pause, NULL);
	last = monotonic_ns();
	take_sample(&fx);
	end = monotonic_ns();
	assert_in_range(find(SLC_READ)->value, bytes * 1000000000u / (end - begin),
			bytes * 1000000000u / (last - first));
	trace_counts_close(fx.counts);
	close_fixture(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_have_no_bytes_after_their_last_requests),
		cmocka_unit_test(bytes_are_those_of_a_second),
	};

	return cmocka_run_group_tests_name("trace counts", tests, NULL, NULL);
}
