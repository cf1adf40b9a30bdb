// SPDX-License-Identifier: MIT
/*
 * Jobs that are killed without a request of their user. The in-process time-out does not use times
 * that the firmware is writing: the shared memory of a job, which the test marks as the firmware
 * does. Of a render context that the firmware has killed, both queues end. Internal functions.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inproc/inproc.h"
#include "pumice/pumice_gfx.h"

#include <cmocka.h>

#define MS	1000000ull

static void times_that_the_firmware_writes_do_not_count(void **state)
{
	struct pumice_context_state context_state;
	struct pumice_dispatch dispatch;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *endless;
	struct fwif_context *shared;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u64 va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64,job-timeout-ms=50",
					    &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "endless", "loop: jump loop\n", &endless), 0);
	pumice_dispatch_init(&dispatch, endless);
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(stream, &va), 0);
	shared = &((struct inproc_context *)context)->shared->context;
	assert_int_equal(pumice_context_run(context, va, 1, NULL), -ETIME);
	while (!shared->slice_start)
		pumice_gpu_poll(inproc_device(dev)->gpu, 1000);
	shared->times_version |= 1;
	/* Several times the limit: the test's time does not decide about its result. */
	assert_int_equal(pumice_context_run(context, va, 250 * MS, NULL), -ETIME);
	assert_int_equal(pumice_context_get_state(context, &context_state), 0);
	assert_int_equal(context_state.flags, 0);
	shared->times_version++;
	assert_int_equal(pumice_context_run(context, va, PUMICE_FOREVER, NULL), -EIO);
	assert_int_equal(pumice_context_get_state(context, &context_state), 0);
	assert_true(context_state.flags & PUMICE_CONTEXT_GUILTY);
	pumice_kernel_destroy(endless);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

static const char pass_vertex[] = "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n";
static const char pass_fragment[] = "mov o0, [one], 1.0\nend\n";
static const char endless_text[] = "mov r0, [one], 0\nloop: jump loop\n";

/* A canvas, and what a triangle over it needs. */
struct drawing {
	struct pumice_canvas *canvas;
	struct pumice_kernel *vertex, *fragment;
	struct pumice_buffer corners;
};

static void open_drawing(struct drawing *w, struct pumice_vm *vm, const char *vertex,
			 const char *fragment)
{
	struct pumice_canvas_desc desc;

	pumice_canvas_desc_init(&desc, 32, 32);
	assert_int_equal(pumice_canvas_create(vm, &desc, &w->canvas), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "vertex", vertex, &w->vertex), 0);
	assert_int_equal(pumice_kernel_assemble(vm, "fragment", fragment, &w->fragment), 0);
	assert_int_equal(pumice_buffer_create(vm, 12 * sizeof(float), &w->corners), 0);
}

static void close_drawing(struct drawing *w)
{
	pumice_canvas_destroy(w->canvas);
	pumice_kernel_destroy(w->vertex);
	pumice_kernel_destroy(w->fragment);
	pumice_buffer_destroy(&w->corners);
}

/* Draw a triangle over the canvas; returns what pumice_canvas_end() does. */
static int draw(struct drawing *w, u64 timeout_ns)
{
	static const float corners[12] = { -1, -1, 0, 1, 3, -1, 0, 1, -1, 3, 0, 1 };
	static const float black[4];
	struct pumice_stream *stream = pumice_canvas_begin(w->canvas);
	struct pumice_input input = pumice_input_attribute(0, 4, w->corners.va, 16, 3);
	const struct pumice_stage_desc stages[2] = { { w->vertex, &input, 1 },
						     { w->fragment, NULL, 0 } };
	struct pumice_draw_state state;
	struct pumice_vdm_draw triangle;

	memcpy(w->corners.cpu, corners, sizeof(corners));
	pumice_draw_state_init(&state, 32, 32);
	pumice_vdm_draw_defaults(&triangle);
	triangle.count = 3;
	assert_int_equal(pumice_stream_stages(stream, &state, &stages[0], &stages[1]), 0);
	assert_int_equal(pumice_stream_draw(stream, &triangle), 0);
	return pumice_canvas_end(w->canvas, black, timeout_ns);
}

/* Draw until a job of a context has ended, at most 20 times; returns its error. */
static int error_after(struct drawing *other, struct pumice_context *context, u64 job)
{
	struct pumice_job_result result = { 0 };
	int err = -EBUSY;

	for (u32 n = 0; err == -EBUSY && n < 20; n++) {
		assert_int_equal(draw(other, PUMICE_FOREVER), 0);
		err = pumice_context_get_job_result(context, job, &result, sizeof(result));
	}
	assert_int_equal(err, 0);
	return result.error;
}

/* It starts when the geometry job ends, and finds no scene. */
static void a_fragment_job_of_a_killed_geometry_job_is_cancelled(void **state)
{
	struct pumice_context_state context_state;
	struct pumice_device *first, *second;
	struct drawing hanging, other;
	struct pumice_context *context;
	struct pumice_vm *vm[2];

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64,virtual-gpus=2,"
					    "hold-us=20000,job-timeout-ms=0", &first, NULL, 0), 0);
	assert_int_equal(pumice_device_open_virtual(first, 1, &second), 0);
	assert_int_equal(pumice_vm_create(first, &vm[0]), 0);
	assert_int_equal(pumice_vm_create(second, &vm[1]), 0);
	open_drawing(&other, vm[0], pass_vertex, pass_fragment);
	open_drawing(&hanging, vm[1], endless_text, pass_fragment);
	context = pumice_canvas_context(hanging.canvas);
	assert_int_equal(draw(&hanging, 1), -ETIME);
	assert_int_equal(error_after(&other, context, 1), -ETIMEDOUT);
	assert_int_equal(error_after(&other, context, 2), -ECANCELED);
	assert_int_equal(pumice_context_get_state(context, &context_state), 0);
	assert_true(context_state.flags & PUMICE_CONTEXT_GUILTY);
	close_drawing(&hanging);
	close_drawing(&other);
	pumice_vm_destroy(vm[1]);
	pumice_vm_destroy(vm[0]);
	pumice_device_close(second);
	pumice_device_close(first);
}

/* The firmware kills one queue by itself; the test sets its state. Without a time-out of jobs. */
static void the_other_queue_of_a_killed_context_is_killed(void **state)
{
	struct drawing hanging, other;
	struct inproc_context *context;
	struct pumice_device *dev;
	struct pumice_vm *vm;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64,job-timeout-ms=0",
					    &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	open_drawing(&other, vm, pass_vertex, pass_fragment);
	open_drawing(&hanging, vm, pass_vertex, endless_text);
	context = (struct inproc_context *)pumice_canvas_context(hanging.canvas);
	assert_int_equal(draw(&hanging, 1), -ETIME);
	while (!context->second->shared->context.slice_start)
		pumice_gpu_poll(inproc_device(dev)->gpu, 1000);
	__atomic_store_n(&context->shared->context.state, FWIF_CONTEXT_KILLED, __ATOMIC_RELEASE);
	/* Waits of this thread for others; a time-out of its own would change nothing. */
	assert_int_equal(error_after(&other, &context->base, 2), -ECANCELED);
	close_drawing(&hanging);
	close_drawing(&other);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/*
 * Open a device with a render context that has no jobs, and of which the firmware has killed one
 * queue; the test sets its state. Return: the context, after the library has noted that.
 */
static struct inproc_context *open_held(struct pumice_device **dev, struct pumice_vm **vm,
					struct drawing *w)
{
	struct pumice_context_state state;
	struct inproc_context *context;

	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64,job-timeout-ms=0",
					    dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(*dev, vm), 0);
	open_drawing(w, *vm, pass_vertex, pass_fragment);
	context = (struct inproc_context *)pumice_canvas_context(w->canvas);
	__atomic_store_n(&context->shared->context.state, FWIF_CONTEXT_KILLED, __ATOMIC_RELEASE);
	assert_int_equal(pumice_context_get_state(&context->base, &state), 0);
	assert_true(state.flags & PUMICE_CONTEXT_GUILTY);
	assert_true(context->other_lives);
	return context;
}

static void close_held(struct pumice_device *dev, struct pumice_vm *vm, struct drawing *w)
{
	close_drawing(w);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/*
 * Its destruction kills it first, and frees its second queue before it leaves the list of contexts:
 * a wait of another thread must not send to that queue.
 */
static void a_context_that_is_killed_has_no_other_queue_to_kill(void **state)
{
	struct inproc_context *context;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct drawing held;

	(void)state;
	context = open_held(&dev, &vm, &held);
	assert_int_equal(pumice_context_kill(&context->base), 0);
	assert_false(context->other_lives);
	close_held(dev, vm, &held);
}

/* The second entry from here is held, as by a call of another thread: there is room for one. */
static void a_wait_looks_again_for_room_to_kill(void **state)
{
	struct inproc_context *context;
	struct inproc_device *device;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct drawing held;
	bool *second;

	(void)state;
	context = open_held(&dev, &vm, &held);
	device = inproc_device(dev);
	while (pumice_gpu_poll(device->gpu, MS) != UINT64_MAX)
		;
	pthread_mutex_lock(&device->lock);
	event_process(device);
	second = &device->kccb_held[(device->kccb_write + 1) % KCCB_COUNT];
	*second = true;
	watch_jobs(device);
	assert_true(context->other_lives && fw_has_room(device));
	/* No event follows. */
	assert_int_equal(event_wait(device, event_count(device), now_ns() + 10000 * MS), 0);
	*second = false;
	watch_jobs(device);
	assert_false(context->other_lives || device->no_room_to_kill);
	pthread_mutex_unlock(&device->lock);
	close_held(dev, vm, &held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_that_the_firmware_writes_do_not_count),
		cmocka_unit_test(a_fragment_job_of_a_killed_geometry_job_is_cancelled),
		cmocka_unit_test(the_other_queue_of_a_killed_context_is_killed),
		cmocka_unit_test(a_context_that_is_killed_has_no_other_queue_to_kill),
		cmocka_unit_test(a_wait_looks_again_for_room_to_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
