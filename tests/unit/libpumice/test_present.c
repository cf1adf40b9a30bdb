// SPDX-License-Identifier: MIT
/*
 * Presents of the library, in process: the copy and its flip, order of many, two contexts, jobs
 * that fail or are killed, the number of flips that are not returned yet, and refused arguments.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_present.h"

#define WIDTH	20u
#define HEIGHT	12u
#define STREAMS	4u	/* of a test */

/* A device with an image to copy from, and one to copy to. */
struct presenter {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_stream *streams[STREAMS];
	uint32_t stream_count;
	struct pumice_context *context;
	struct pumice_image *from, *to;
	uint8_t in[HEIGHT][WIDTH][4];
};

static void make_images(struct presenter *p)
{
	const struct pumice_image_part part = { 0 };
	struct pumice_image_desc desc;
	uint32_t n;

	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT);
	assert_int_equal(pumice_image_create(p->vm, &desc, &p->from), 0);
	desc.format = PUMICE_FORMAT_BGRA8_UNORM;
	assert_int_equal(pumice_image_create(p->vm, &desc, &p->to), 0);
	for (n = 0; n < sizeof(p->in); n++)
		((uint8_t *)p->in)[n] = (uint8_t)(n * 37 + n / 256);
	assert_int_equal(pumice_image_upload(p->from, part, p->in, 0), 0);
}

static void open_presenter(struct presenter *p, const char *name)
{
	p->stream_count = 0;
	assert_int_equal(pumice_device_open(name, &p->dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(p->dev, &p->vm), 0);
	assert_int_equal(pumice_context_create_type(p->vm, PUMICE_CONTEXT_TRANSFER,
						    PUMICE_PRIORITY_NORMAL, &p->context), 0);
	make_images(p);
}

static void close_presenter(struct presenter *p)
{
	pumice_image_destroy(p->from);
	pumice_image_destroy(p->to);
	pumice_context_destroy(p->context);
	while (p->stream_count)
		pumice_stream_destroy(p->streams[--p->stream_count]);
	pumice_vm_destroy(p->vm);
	pumice_device_close(p->dev);
}

static struct pumice_tdm_present whole(uint32_t frame)
{
	return (struct pumice_tdm_present){
		.src_width = WIDTH, .src_height = HEIGHT, .dst_width = WIDTH,
		.dst_height = HEIGHT, .frame = frame,
	};
}

static struct pumice_stream *new_stream(struct presenter *p)
{
	struct pumice_stream **stream = &p->streams[p->stream_count++];

	assert_true(p->stream_count <= STREAMS);
	assert_int_equal(pumice_stream_create(p->vm, 65536, stream), 0);
	return *stream;
}

/* A stream with presents of frames @first on. */
static uint64_t stream_of(struct presenter *p, uint32_t first, uint32_t count)
{
	struct pumice_stream *stream = new_stream(p);
	uint64_t va;
	uint32_t n;

	for (n = 0; n < count; n++) {
		const struct pumice_tdm_present present = whole(first + n);

		assert_int_equal(pumice_stream_present(stream, p->from, p->to, &present), 0);
	}
	assert_int_equal(pumice_stream_tdm_end(stream, &va), 0);
	return va;
}

static int submit(struct presenter *p, struct pumice_context *context, uint64_t stream,
		  uint32_t presents, uint64_t user_data)
{
	struct pumice_present_job job;

	(void)p;
	pumice_present_job_init(&job, context, stream);
	assert_int_equal(job.presents, 1);
	job.presents = presents;
	job.user_data = user_data;
	return pumice_submit_present(&job);
}

static struct pumice_flip next_flip(struct presenter *p)
{
	struct pumice_flip flip;

	assert_int_equal(pumice_wait_flip(p->dev, PUMICE_FOREVER, &flip, sizeof(flip)), 0);
	return flip;
}

static void assert_no_flip(struct presenter *p)
{
	struct pumice_flip flip;

	assert_int_equal(pumice_wait_flip(p->dev, 0, &flip, sizeof(flip)), -ETIME);
}

static void a_present_converts_and_its_flip_follows(void **state)
{
	const struct pumice_image_part part = { 0 };
	uint8_t out[HEIGHT][WIDTH][4];
	struct presenter p;
	struct pumice_flip flip;
	uint32_t x, y;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_no_flip(&p);
	assert_int_equal(submit(&p, p.context, stream_of(&p, 5, 1), 1, 0x123456789abcdef), 0);
	flip = next_flip(&p);
	/* No wait for the job: the flip implies that the copy is visible. */
	assert_int_equal(pumice_image_download(p.to, part, out, 0), 0);
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			const uint8_t *in = p.in[y][x];
			const uint8_t bgra[4] = { in[2], in[1], in[0], in[3] };

			assert_memory_equal(out[y][x], bgra, 4);
		}
	assert_int_equal(flip.frame, 5);
	assert_int_equal(flip.error, 0);
	assert_int_equal(flip.user_data, 0x123456789abcdef);
	assert_int_equal(flip.job, 1);
	assert_int_equal(flip.context, pumice_context_id(p.context));
	assert_int_equal(flip.va, pumice_image_va(p.to));
	assert_true(flip.time_ns && flip.gpu_ticks);
	assert_int_equal(flip.reserved, 0);
	assert_no_flip(&p);
	close_presenter(&p);
}

/* Presents in flight all the time: a job is submitted for each flip that is returned. */
static void ten_thousand_presents_of_two_contexts_lose_no_flip(void **state)
{
	const uint32_t jobs = 5000, depth = 12;
	struct pumice_context *context[2];
	uint32_t submitted = 0, frame[2] = { 0, 0 };
	uint64_t stream[2], job[2] = { 0, 0 };
	struct presenter p;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=2,ram=64");
	context[0] = p.context;
	assert_int_equal(pumice_context_create_type(p.vm, PUMICE_CONTEXT_TRANSFER,
						    PUMICE_PRIORITY_NORMAL, &context[1]), 0);
	for (uint32_t c = 0; c < 2; c++)
		stream[c] = stream_of(&p, 10 * c, 2);
	while (frame[0] + frame[1] < 2 * jobs) {
		struct pumice_flip flip;
		uint32_t c;

		while (submitted < jobs && submitted - (frame[0] + frame[1]) / 2 < depth) {
			c = submitted % 2;
			assert_int_equal(submit(&p, context[c], stream[c], 2, c), 0);
			submitted++;
		}
		flip = next_flip(&p);
		c = (uint32_t)flip.user_data;
		assert_int_equal(flip.error, 0);
		/* In the order of the commands, and of the jobs of each context. */
		assert_int_equal(flip.frame, 10 * c + frame[c] % 2);
		assert_int_equal(flip.context, pumice_context_id(context[c]));
		assert_int_equal(flip.job, frame[c] / 2 + 1);
		assert_true(flip.job >= job[c]);
		job[c] = flip.job;
		frame[c]++;
	}
	assert_int_equal(frame[0], jobs);
	assert_int_equal(frame[1], jobs);
	assert_no_flip(&p);
	pumice_context_destroy(context[1]);
	close_presenter(&p);
}

static void presents_that_do_not_run_have_flips_with_errors(void **state)
{
	struct pumice_tdm_present bad = whole(3);
	struct pumice_stream *stream;
	struct presenter p;
	struct pumice_flip flip;
	uint64_t va;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	/* Fewer than announced. */
	assert_int_equal(submit(&p, p.context, stream_of(&p, 1, 1), 3, 7), 0);
	flip = next_flip(&p);
	assert_int_equal(flip.frame, 1);
	assert_int_equal(flip.error, 0);
	for (uint32_t n = 0; n < 2; n++) {
		flip = next_flip(&p);
		assert_int_equal(flip.error, -ENODATA);
		assert_int_equal(flip.user_data, 7);
		assert_int_equal(flip.job, 1);
		assert_int_equal(flip.frame, 0);
		assert_int_equal(flip.va, 0);
		assert_int_equal(flip.gpu_ticks, 0);
	}
	/* More: the first one is good, the second faults. */
	assert_int_equal(submit(&p, p.context, stream_of(&p, 20, 2), 1, 8), 0);
	flip = next_flip(&p);
	assert_int_equal(flip.error, 0);
	assert_int_equal(flip.frame, 20);
	/* A command that is refused. */
	bad.dst_width = WIDTH + 1;
	stream = new_stream(&p);
	assert_int_equal(pumice_stream_present(stream, p.from, p.to, &bad), 0);
	assert_int_equal(pumice_stream_tdm_end(stream, &va), 0);
	assert_int_equal(submit(&p, p.context, va, 1, 9), 0);
	flip = next_flip(&p);
	assert_int_equal(flip.error, -EIO);
	assert_int_equal(flip.user_data, 9);
	assert_int_equal(flip.job, 3);
	assert_no_flip(&p);
	close_presenter(&p);
}

static void a_present_that_was_not_announced_faults_by_name(void **state)
{
	struct pumice_context_state st;
	struct presenter p;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_int_equal(pumice_context_run(p.context, stream_of(&p, 1, 1), PUMICE_FOREVER, &st),
			 -EIO);
	assert_string_equal(pumice_fault_name(st.fault), "tdm-present");
	assert_no_flip(&p);
	close_presenter(&p);
}

/* A fill of much memory delays the present, which the kill then prevents. */
static void flips_of_a_killed_job_are_not_lost(void **state)
{
	struct pumice_buffer buffer;
	const struct pumice_tdm_present present = whole(1);
	struct pumice_tdm_fill fill = { .words = 4u << 20 };
	struct pumice_flip flip;
	struct presenter p;
	struct pumice_stream *stream;
	uint64_t va;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_int_equal(pumice_buffer_create(p.vm, 16u << 20, &buffer), 0);
	fill.dst = buffer.va;
	stream = new_stream(&p);
	assert_int_equal(pumice_stream_fill(stream, &fill), 0);
	assert_int_equal(pumice_stream_present(stream, p.from, p.to, &present), 0);
	assert_int_equal(pumice_stream_tdm_end(stream, &va), 0);
	assert_int_equal(submit(&p, p.context, va, 2, 40), 0);
	assert_int_equal(submit(&p, p.context, va, 2, 41), 0);
	assert_int_equal(pumice_context_kill(p.context), 0);
	for (uint32_t n = 0; n < 4; n++) {
		flip = next_flip(&p);
		assert_int_equal(flip.user_data, 40 + n / 2);
		assert_int_equal(flip.error, -ECANCELED);
	}
	assert_no_flip(&p);
	pumice_buffer_destroy(&buffer);
	close_presenter(&p);
}

static void flips_outlive_their_context(void **state)
{
	struct pumice_context *context;
	struct presenter p;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_int_equal(pumice_context_create_type(p.vm, PUMICE_CONTEXT_TRANSFER,
						    PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(submit(&p, context, stream_of(&p, 1, 1), 2, 1), 0);
	pumice_context_destroy(context);
	assert_int_equal(next_flip(&p).user_data, 1);
	assert_int_equal(next_flip(&p).user_data, 1);
	assert_no_flip(&p);
	close_presenter(&p);
}

static void flips_that_are_not_returned_are_limited(void **state)
{
	struct presenter p;
	uint64_t stream;
	uint32_t n;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	stream = stream_of(&p, 0, PUMICE_MAX_PRESENTS);
	for (n = 0; n < PUMICE_MAX_FLIPS / PUMICE_MAX_PRESENTS; n++)
		assert_int_equal(submit(&p, p.context, stream, PUMICE_MAX_PRESENTS, n), 0);
	assert_int_equal(submit(&p, p.context, stream, 1, n), -ENOSPC);
	assert_non_null(strstr(pumice_device_error(p.dev), "call pumice_wait_flip() first"));
	next_flip(&p);
	assert_int_equal(submit(&p, p.context, stream, 2, n), -ENOSPC);
	assert_int_equal(submit(&p, p.context, stream, 1, n), 0);
	for (n = 1; n < PUMICE_MAX_FLIPS + 1; n++)
		next_flip(&p);
	assert_no_flip(&p);
	close_presenter(&p);
}

static void jobs_with_presents_signal_a_sync_and_are_counted(void **state)
{
	struct pumice_job_sync done = { .signal = true };
	struct pumice_present_job job;
	struct pumice_perfmon *monitor;
	struct pumice_wait wait;
	struct presenter p;
	uint32_t counter[2];
	uint64_t count[2];

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	/* Under pumice-strict it is strict, which counts, too. */
	if (!getenv("PUMICE_MODE"))
		assert_int_equal(pumice_device_set_mode(p.dev, "counted"), 0);
	assert_int_equal(pumice_perf_counter_find(p.dev, "TDM_BYTES", &counter[0]), 0);
	assert_int_equal(pumice_perf_counter_find(p.dev, "HIER_PTLA_READ_REQUESTS", &counter[1]),
			 0);
	assert_int_equal(pumice_perfmon_create(p.dev, counter, 2, &monitor), 0);
	assert_int_equal(pumice_sync_create(p.dev, 0, &done.sync), 0);
	pumice_present_job_init(&job, p.context, stream_of(&p, 3, 1));
	job.syncs = &done;
	job.sync_count = 1;
	job.perfmon = pumice_perfmon_id(monitor);
	assert_int_equal(pumice_submit_present(&job), 0);
	assert_int_equal(next_flip(&p).frame, 3);
	pumice_wait_init(&wait, done.sync, 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), 0);
	assert_int_equal(pumice_perfmon_read(monitor, 0, count), 0);
	assert_int_equal(count[0], sizeof(p.in));
	assert_true(count[1] > 0);
	pumice_sync_destroy(done.sync);
	pumice_perfmon_destroy(monitor);
	close_presenter(&p);
}

/* Callers may have been built with a structure of fewer members. */
static void a_flip_is_not_larger_than_the_caller_s(void **state)
{
	struct pumice_flip flip;
	struct presenter p;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_int_equal(submit(&p, p.context, stream_of(&p, 9, 1), 1, 77), 0);
	memset(&flip, 0xa5, sizeof(flip));
	assert_int_equal(pumice_wait_flip(p.dev, PUMICE_FOREVER, &flip,
					  offsetof(struct pumice_flip, job)), 0);
	assert_int_equal(flip.user_data, 77);
	assert_int_equal(flip.va, pumice_image_va(p.to));
	assert_int_equal(flip.job, 0xa5a5a5a5a5a5a5a5);
	assert_int_equal(flip.frame, 0xa5a5a5a5);
	close_presenter(&p);
}

static void jobs_with_bad_presents_are_refused(void **state)
{
	struct pumice_present_job job;
	struct pumice_context *compute;
	struct pumice_flip flip;
	struct presenter p;

	(void)state;
	open_presenter(&p, "inproc:cores=1,threads=0,ram=64");
	assert_int_equal(pumice_context_create(p.vm, PUMICE_PRIORITY_NORMAL, &compute), 0);
	pumice_present_job_init(&job, p.context, stream_of(&p, 1, 1));
	assert_int_equal(pumice_submit_present(NULL), -EINVAL);
#define REFUSED(field, value, error, text) \
	do { \
		struct pumice_present_job bad = job; \
		bad.field = value; \
		assert_int_equal(pumice_submit_present(&bad), error); \
		assert_non_null(strstr(pumice_device_error(p.dev), text)); \
	} while (0)
	REFUSED(presents, 0, -EINVAL, "1 to 16 presents, not 0");
	REFUSED(presents, PUMICE_MAX_PRESENTS + 1, -E2BIG, "1 to 16 presents, not 17");
	REFUSED(presents, UINT32_MAX, -E2BIG, "1 to 16 presents");
	REFUSED(reserved, 1, -EINVAL, "reserved");
	REFUSED(context, compute, -EINVAL, "accepted: 3 (transfer)");
	REFUSED(stream, 0, -EINVAL, "stream is 0");
	REFUSED(stream, 2, -EINVAL, "not aligned");
	job.context = NULL;
	assert_int_equal(pumice_submit_present(&job), -EINVAL);
	assert_int_equal(pumice_wait_flip(p.dev, 0, NULL, sizeof(flip)), -EINVAL);
	assert_int_equal(pumice_stream_present(p.streams[0], p.from, p.to, NULL), -EINVAL);
	assert_int_equal(pumice_stream_present(p.streams[0], NULL, p.to,
					       &(struct pumice_tdm_present){ 0 }), -EINVAL);
	/* None of them has reserved a flip. */
	assert_no_flip(&p);
	pumice_context_destroy(compute);
	close_presenter(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_present_converts_and_its_flip_follows),
		cmocka_unit_test(ten_thousand_presents_of_two_contexts_lose_no_flip),
		cmocka_unit_test(presents_that_do_not_run_have_flips_with_errors),
		cmocka_unit_test(a_present_that_was_not_announced_faults_by_name),
		cmocka_unit_test(flips_of_a_killed_job_are_not_lost),
		cmocka_unit_test(flips_outlive_their_context),
		cmocka_unit_test(flips_that_are_not_returned_are_limited),
		cmocka_unit_test(jobs_with_presents_signal_a_sync_and_are_counted),
		cmocka_unit_test(a_flip_is_not_larger_than_the_caller_s),
		cmocka_unit_test(jobs_with_bad_presents_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
