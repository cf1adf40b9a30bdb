// SPDX-License-Identifier: MIT
/*
 * Every call of the driver with its first, second, … allocation failing, until the call
 * needs no more: each time it either fails or has its complete effect, leaves no
 * object, and succeeds when it is repeated.
 *
 * The kernel's fail-nth makes the n-th allocation of this thread fail: slab, pages, and
 * copies from and to user memory, which count as one. Allocations by workers for a call
 * are not covered. Needs a kernel with fault injection: the debug kernel.
 *
 * A call is a row of struct call. tests/scripts/test_uapi_covered.py checks that each
 * ioctl has one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "render.h"
#include "system.h"

#define FAULTS		"/sys/kernel/debug/"
#define MOST		400u	/* limit of a call's allocations */
#define BO_BYTES	(64 * 1024ull)
#define BIND_VA		(FX_FREE + 5 * GIB)
#define COUNTERS	3u
#define POLL_US		2000

/* Objects that the calls use. */
struct call_fixture {
	char node[64];			/* path of the device */
	struct render r;
	u32 bo;
	u32 transfer;			/* transfer context */
	u32 perfmon;
	u32 ready, binary, timeline;	/* syncobjs; the first is signaled */
	u64 point;			/* last signaled point of the timeline */
	u32 id;				/* object that a call created, or is to destroy */
	u32 made;			/* object created by a successful call */
	int file;			/* like @made, for files */
	void *mapping;
	u64 small_va, large_va;		/* heaps of 16 KiB and of 2 MiB pages */
};

/* One call. Only run() has failing allocations. */
struct call {
	/* creates what each attempt needs, or NULL */
	void (*prepare)(struct call_fixture *f);
	/* returns 0 or a negative errno */
	int (*run)(struct call_fixture *f);
	/* undoes the effect, or NULL; @ret is the result of run() */
	void (*undo)(struct call_fixture *f, int ret);
	/* for a call that creates an object: destroys @id; returns 0 or a negative errno */
	int (*destroy)(struct call_fixture *f);
	/* error that a failing allocation may cause besides ENOMEM and EFAULT, or 0 */
	int also;
	/* destroys an object: must succeed although allocations fail */
	bool always_works;
};

static void configure(const char *file, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), FAULTS "%s", file);
	CHECK_OK(write_file(path, value));
}

/* Include allocations that may wait; by default only those that may not would fail. */
static void configure_faults(void)
{
	/* scripts/kernel_faults.py reads this. */
	CHECK_OK(write_file("/dev/kmsg", "<3>t_alloc_fail: allocations fail from here on"));
	configure("failslab/ignore-gfp-wait", "N");
	configure("fail_page_alloc/ignore-gfp-wait", "N");
	configure("fail_page_alloc/ignore-gfp-highmem", "N");
	configure("fail_page_alloc/min-order", "0");
	configure("failslab/verbose", "0");
	configure("fail_page_alloc/verbose", "0");
	configure("fail_usercopy/verbose", "0");
}

static int open_fail_nth(void)
{
	int file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	CHECK(file >= 0);
	return file;
}

static void set_fail_nth(int file, u32 n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	CHECK(pwrite(file, text, length, 0) == length);
}

/*
 * Stop failing. Returns whether an allocation failed. If none has failed yet, reading or
 * writing the number may fail: either leaves zero.
 */
static bool end_fail_nth(int file)
{
	char text[16] = "";
	bool failed = pread(file, text, sizeof(text) - 1, 0) > 0 && !strtoul(text, NULL, 10);

	if (!failed && pwrite(file, "0", 1, 0) != 1)
		CHECK(errno == EFAULT);
	return failed;
}

static struct call_fixture call_fixture_open(void)
{
	struct call_fixture f = { .file = -1 };
	const u32 counters[COUNTERS] = { 0, 1, 2 };
	struct fixture *fx = &f.r.fx;

	/* The kernel may still be freeing objects of the previous case. */
	need_nothing_left();
	CHECK_OK(gpu_node(f.node));
	f.r = render_open();
	fx_check_works(fx);
	f.bo = need_bo(fx->fd, BO_BYTES);
	f.transfer = need_context_of(fx->fd, fx->vm, DRM_PUMICE_CONTEXT_TRANSFER);
	f.ready = need_signaled_sync(fx->fd);
	f.binary = need_signaled_sync(fx->fd);
	f.timeline = need_sync(fx->fd);
	CHECK_OK(gpu_perfmon_create(fx->fd, counters, COUNTERS, &f.perfmon));
	return f;
}

/*
 * A call may succeed and then fail to return the new object's id. The lowest free id is
 * allocated, so it is the id of the previous call.
 */
static void destroy_made(const struct call *call, struct call_fixture *f, int ret)
{
	if (!ret)
		f->made = f->id;
	f->id = f->made;
	if (!ret)
		CHECK_OK(call->destroy(f));
	else if (ret == -EFAULT)
		call->destroy(f);
}

static void take_back(const struct call *call, struct call_fixture *f, int ret)
{
	/* The call had no effect: its arguments were not read. */
	if (ret && call->always_works)
		CHECK_OK(call->run(f));
	if (call->destroy)
		destroy_made(call, f, ret);
	if (call->undo)
		call->undo(f, ret);
}

static void attempt(const struct call *call, struct call_fixture *f)
{
	if (call->prepare)
		call->prepare(f);
	CHECK_OK(call->run(f));
	take_back(call, f, 0);
}

static bool is_allowed(const struct call *call, int ret)
{
	if (!ret || ret == -EFAULT)
		return true;
	return !call->always_works && (ret == -ENOMEM || (call->also && ret == -call->also));
}

/* Let the n-th allocation fail. Returns false if there is none. */
static bool attempt_failing(const struct call *call, struct call_fixture *f, int fail_nth, u32 n)
{
	bool failed;
	int ret;

	if (call->prepare)
		call->prepare(f);
	set_fail_nth(fail_nth, n);
	ret = call->run(f);
	failed = end_fail_nth(fail_nth);
	if (!is_allowed(call, ret))
		test_fail(__FILE__, __LINE__, "allocation %u fails: the call returns %d", n, ret);
	if (ret && !failed)
		test_fail(__FILE__, __LINE__, "nothing fails: the call returns %d", ret);
	take_back(call, f, ret);
	return failed;
}

/* Check that the VM is usable, and that jobs run. */
static void check_unharmed(struct call_fixture *f)
{
	u32 state;

	CHECK_OK(gpu_vm_state(f->r.fx.fd, f->r.fx.vm, &state));
	CHECK_EQUAL(state, DRM_PUMICE_VM_USABLE);
	fx_check_works(&f->r.fx);
	render_check_works(&f->r);
}

/* Jobs and destroyed objects are freed with a delay: wait until the fixture's remain. */
static struct counts settled_counts(void)
{
	struct counts counts = need_counts();

	while (counts.jobs) {
		usleep(POLL_US);
		counts = need_counts();
	}
	return counts;
}

/*
 * Return the counts after the call was made and undone once: those from before it, and
 * the fences of the first jobs of their contexts in the reservations.
 */
static struct counts counts_between(const struct call *call, struct call_fixture *f)
{
	struct counts before = settled_counts();

	attempt(call, f);
	before.fences = settled_counts().fences;
	need_left(before);
	return before;
}

static void sweep(const struct call *call)
{
	struct call_fixture f = call_fixture_open();
	int fail_nth = open_fail_nth();
	struct counts before;
	u32 n = 0;
	bool failed;

	configure_faults();
	before = counts_between(call, &f);
	do {
		CHECK(++n < MOST);
		failed = attempt_failing(call, &f, fail_nth, n);
		need_left(before);
		attempt(call, &f);
		need_left(before);
	} while (failed);
	test_note("%u allocations", n - 1);
	check_unharmed(&f);
	close(fail_nth);
	fx_close(&f.r.fx);
	need_nothing_left();
}

/* Defines the case NAME_with_failing_allocations for a call. */
#define SWEEP(name, ...) \
	static void name##_with_failing_allocations(void) \
	{ \
		sweep(&(struct call){ __VA_ARGS__ }); \
	}

/* Files. */

static int run_open(struct call_fixture *f)
{
	f->file = open(f->node, O_RDWR | O_CLOEXEC);
	return f->file < 0 ? -errno : 0;
}

static void close_file(struct call_fixture *f, int ret)
{
	if (!ret)
		close(f->file);
}

SWEEP(open, .run = run_open, .undo = close_file)

/* Read a whole file. */
static int read_all(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char buffer[4096];
	ssize_t bytes;

	if (file < 0)
		return -errno;
	do {
		bytes = read(file, buffer, sizeof(buffer));
		err = bytes < 0 ? -errno : 0;
	} while (bytes > 0);
	close(file);
	return err;
}

static int run_fdinfo(struct call_fixture *f)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", f->r.fx.fd);
	return read_all(path);
}

SWEEP(fdinfo, .run = run_fdinfo)

/* DEV_QUERY, PERF_COUNTER_GET. */

static int run_query(struct call_fixture *f)
{
	struct drm_pumice_query_stats stats;
	u32 size = sizeof(stats);

	return gpu_query(f->r.fx.fd, DRM_PUMICE_QUERY_STATS, &stats, &size);
}

SWEEP(dev_query, .run = run_query)

static int run_counter(struct call_fixture *f)
{
	struct drm_pumice_perf_counter_get args = { .counter = 0 };

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &args);
}

SWEEP(perf_counter_get, .run = run_counter)

/* Buffers. */

static int run_bo(struct call_fixture *f)
{
	return gpu_bo_create(f->r.fx.fd, BO_BYTES, 0, &f->id);
}

static int run_exclusive_bo(struct call_fixture *f)
{
	return gpu_bo_create(f->r.fx.fd, BO_BYTES, f->r.fx.vm, &f->id);
}

/* Of a size for which the driver uses memory of huge pages, or that of others without any. */
static int run_large_bo(struct call_fixture *f)
{
	return gpu_bo_create(f->r.fx.fd, 2 * MIB, 0, &f->id);
}

static int close_bo(struct call_fixture *f)
{
	return gpu_bo_close(f->r.fx.fd, f->id);
}

/* shmem returns ENOSPC if it has no inode. */
SWEEP(bo_create, .run = run_bo, .destroy = close_bo, .also = ENOSPC)
SWEEP(exclusive_bo_create, .run = run_exclusive_bo, .destroy = close_bo, .also = ENOSPC)
SWEEP(large_bo_create, .run = run_large_bo, .destroy = close_bo, .also = ENOSPC)

/* Requires the primary node. */
static void prepare_dumb(struct call_fixture *f)
{
	f->file = drmOpenWithType("pumice", NULL, DRM_NODE_PRIMARY);
	CHECK(f->file >= 0);
}

static int run_dumb(struct call_fixture *f)
{
	struct drm_mode_create_dumb args = { .width = 128, .height = 128, .bpp = 32 };

	return gpu_ioctl(f->file, DRM_IOCTL_MODE_CREATE_DUMB, &args);
}

static void close_dumb(struct call_fixture *f, int ret)
{
	(void)ret;
	close(f->file);
}

SWEEP(mode_create_dumb, .prepare = prepare_dumb, .run = run_dumb, .undo = close_dumb,
      .also = ENOSPC)

static void prepare_bo(struct call_fixture *f)
{
	f->id = need_bo(f->r.fx.fd, BO_BYTES);
}

static void close_prepared_bo(struct call_fixture *f, int ret)
{
	(void)ret;
	CHECK_OK(close_bo(f));
}

static int run_offset(struct call_fixture *f)
{
	u64 offset;

	return gpu_bo_offset(f->r.fx.fd, f->id, &offset);
}

SWEEP(bo_mmap_offset, .prepare = prepare_bo, .run = run_offset, .undo = close_prepared_bo)

static int run_mmap(struct call_fixture *f)
{
	u64 offset;
	int err = gpu_bo_offset(f->r.fx.fd, f->id, &offset);

	f->mapping = MAP_FAILED;
	if (err)
		return err;
	f->mapping = mmap(NULL, BO_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->r.fx.fd,
			  offset);
	return f->mapping == MAP_FAILED ? -errno : 0;
}

static void unmap_bo(struct call_fixture *f, int ret)
{
	(void)ret;
	if (f->mapping != MAP_FAILED)
		munmap(f->mapping, BO_BYTES);
	CHECK_OK(close_bo(f));
}

SWEEP(mmap, .prepare = prepare_bo, .run = run_mmap, .undo = unmap_bo)

SWEEP(bo_close, .prepare = prepare_bo, .run = close_bo, .always_works = true)

static int run_label(struct call_fixture *f)
{
	struct drm_pumice_bo_set_label args = { .handle = f->id, .label = (uintptr_t)"label" };

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &args);
}

SWEEP(bo_set_label, .prepare = prepare_bo, .run = run_label, .undo = close_prepared_bo)

static int run_madvise(struct call_fixture *f)
{
	struct drm_pumice_bo_madvise args = {
		.handle = f->id, .advice = DRM_PUMICE_BO_DONTNEED,
	};

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_BO_MADVISE, &args);
}

SWEEP(bo_madvise, .prepare = prepare_bo, .run = run_madvise, .undo = close_prepared_bo)

static int run_export(struct call_fixture *f)
{
	return drmPrimeHandleToFD(f->r.fx.fd, f->id, DRM_CLOEXEC | DRM_RDWR, &f->file) ?
	       -errno : 0;
}

/* A descriptor that was not returned is the lowest free one, as in the previous call. */
static void close_exported_bo(struct call_fixture *f, int ret)
{
	if (!ret)
		f->made = (u32)f->file;
	if (!ret || ret == -EFAULT)
		close((int)f->made);
	CHECK_OK(close_bo(f));
}

SWEEP(prime_export, .prepare = prepare_bo, .run = run_export, .undo = close_exported_bo)

/* Export a buffer and close this file's handle of it. */
static void prepare_import(struct call_fixture *f)
{
	prepare_bo(f);
	CHECK_OK(run_export(f));
	CHECK_OK(close_bo(f));
}

static int run_import(struct call_fixture *f)
{
	return drmPrimeFDToHandle(f->r.fx.fd, f->file, &f->id) ? -errno : 0;
}

static void close_imported_file(struct call_fixture *f, int ret)
{
	(void)ret;
	close(f->file);
}

SWEEP(prime_import, .prepare = prepare_import, .run = run_import, .destroy = close_bo,
      .undo = close_imported_file)

/* Address spaces. */

static int run_vm(struct call_fixture *f)
{
	return gpu_vm_create(f->r.fx.fd, &f->id);
}

static int destroy_vm(struct call_fixture *f)
{
	return gpu_vm_destroy(f->r.fx.fd, f->id);
}

SWEEP(vm_create, .run = run_vm, .destroy = destroy_vm)

/* Create a VM with a mapping. */
static void prepare_vm(struct call_fixture *f)
{
	f->id = need_vm(f->r.fx.fd);
	need_map(f->r.fx.fd, f->id, f->bo, 0, BIND_VA, BO_BYTES, 0);
}

SWEEP(vm_destroy, .prepare = prepare_vm, .run = destroy_vm, .always_works = true)

static int run_vm_state(struct call_fixture *f)
{
	u32 state;

	return gpu_vm_state(f->r.fx.fd, f->r.fx.vm, &state);
}

SWEEP(vm_get_state, .run = run_vm_state)

static int run_vm_faults(struct call_fixture *f)
{
	struct drm_pumice_vm_fault faults[DRM_PUMICE_VM_FAULTS];
	struct drm_pumice_vm_get_faults args = {
		.vm = f->r.fx.vm, .faults = ARRAY_OF(faults, DRM_PUMICE_VM_FAULTS),
	};

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_VM_GET_FAULTS, &args);
}

SWEEP(vm_get_faults, .run = run_vm_faults)

#define BIND_OPS	5u

/* Replaces mappings, splits one, and needs a directory of its own for each end. */
static u32 bind_ops(const struct call_fixture *f, struct drm_pumice_bind_op *ops)
{
	ops[0] = bind_map(f->id, 0, BIND_VA, 4 * PAGE, 0);
	ops[1] = bind_map(f->id, PAGE, BIND_VA + PAGE, PAGE, DRM_PUMICE_BIND_READONLY);
	ops[2] = bind_unmap(BIND_VA + 2 * PAGE, PAGE);
	ops[3] = bind_map(f->id, 0, BIND_VA + 4 * GIB, 3 * PAGE, 0);
	ops[4] = bind_map(0, 0, BIND_VA + 6 * GIB, 5 * PAGE, DRM_PUMICE_BIND_NULL);
	return BIND_OPS;
}

static int run_bind(struct call_fixture *f)
{
	struct drm_pumice_bind_op ops[BIND_OPS];

	return gpu_bind(f->r.fx.fd, f->r.fx.vm, ops, bind_ops(f, ops), NULL);
}

static void unbind(struct call_fixture *f, int ret)
{
	(void)ret;
	need_unmap(f->r.fx.fd, f->r.fx.vm, BIND_VA, 8 * GIB);
	CHECK_OK(close_bo(f));
}

SWEEP(vm_bind, .prepare = prepare_bo, .run = run_bind, .undo = unbind)

/* In heaps of large pages, which NULL mappings have in any state of the memory. */
static void find_heaps(struct call_fixture *f)
{
	f->small_va = need_heap(f->r.fx.fd, 14);
	f->large_va = need_heap(f->r.fx.fd, 21);
}

static int run_bind_heaps(struct call_fixture *f)
{
	const struct drm_pumice_bind_op ops[] = {
		bind_map(0, 0, f->small_va, 4 * MIB, DRM_PUMICE_BIND_NULL),
		bind_unmap(f->small_va + 4 * PAGE, 4 * PAGE),
		bind_map(0, 0, f->large_va + GIB - 2 * MIB, 4 * MIB, DRM_PUMICE_BIND_NULL),
	};

	return gpu_bind(f->r.fx.fd, f->r.fx.vm, ops, 3, NULL);
}

static void unbind_heaps(struct call_fixture *f, int ret)
{
	(void)ret;
	need_unmap(f->r.fx.fd, f->r.fx.vm, f->small_va, f->large_va + 2 * GIB - f->small_va);
}

SWEEP(vm_bind_heaps, .prepare = find_heaps, .run = run_bind_heaps, .undo = unbind_heaps)

static int run_bind_async(struct call_fixture *f)
{
	struct drm_pumice_bind_op ops[BIND_OPS];
	const struct drm_pumice_sync syncs[] = {
		wait_for(f->ready, 0), then_signal(f->binary, 0),
		then_signal(f->timeline, ++f->point),
	};

	return gpu_bind_async(f->r.fx.fd, f->r.fx.vm, ops, bind_ops(f, ops), syncs, 3);
}

/* A timeline keeps the fences of earlier points until it is walked: release them. */
static void reset_syncs(struct call_fixture *f)
{
	const u32 syncs[] = { f->binary, f->timeline };

	CHECK_OK(drmSyncobjReset(f->r.fx.fd, syncs, 2) ? -errno : 0);
}

/* Unbind after operations that may have been queued despite the error. */
static void unbind_async(struct call_fixture *f, int ret)
{
	const struct drm_pumice_sync signal = then_signal(f->timeline, ++f->point);
	const struct fixture *fx = &f->r.fx;

	CHECK_OK(gpu_bind_async(fx->fd, fx->vm, NULL, 0, &signal, 1));
	need_wait(fx->fd, f->timeline, f->point);
	reset_syncs(f);
	unbind(f, ret);
}

SWEEP(vm_bind_async, .prepare = prepare_bo, .run = run_bind_async, .undo = unbind_async)

/* Contexts. */

static int create_context(struct call_fixture *f, u32 type)
{
	return gpu_context_create_of(f->r.fx.fd, f->r.fx.vm, type, &f->id);
}

static int run_compute_context(struct call_fixture *f)
{
	return create_context(f, DRM_PUMICE_CONTEXT_COMPUTE);
}

static int run_render_context(struct call_fixture *f)
{
	return create_context(f, DRM_PUMICE_CONTEXT_RENDER);
}

static int run_transfer_context(struct call_fixture *f)
{
	return create_context(f, DRM_PUMICE_CONTEXT_TRANSFER);
}

static int destroy_context(struct call_fixture *f)
{
	return gpu_context_destroy(f->r.fx.fd, f->id);
}

SWEEP(compute_context_create, .run = run_compute_context, .destroy = destroy_context)
SWEEP(render_context_create, .run = run_render_context, .destroy = destroy_context)
SWEEP(transfer_context_create, .run = run_transfer_context, .destroy = destroy_context)

static void prepare_context(struct call_fixture *f)
{
	CHECK_OK(run_render_context(f));
}

SWEEP(context_destroy, .prepare = prepare_context, .run = destroy_context,
      .always_works = true)

static int run_context_state(struct call_fixture *f)
{
	struct drm_pumice_context_get_state state;

	return gpu_context_state(f->r.fx.fd, f->r.fx.context, &state);
}

SWEEP(context_get_state, .run = run_context_state)

static int run_priority(struct call_fixture *f)
{
	struct drm_pumice_context_set_priority args = {
		.id = f->r.fx.context, .priority = DRM_PUMICE_PRIORITY_NORMAL,
	};

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args);
}

SWEEP(context_set_priority, .run = run_priority)

static int run_resets(struct call_fixture *f)
{
	struct drm_pumice_file_get_resets args = { 0 };

	return gpu_ioctl(f->r.fx.fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &args);
}

SWEEP(file_get_resets, .run = run_resets)

static int run_result(struct call_fixture *f)
{
	struct drm_pumice_job_get_result result;

	return gpu_job_result(f->r.fx.fd, f->r.fx.context, 1, &result);
}

SWEEP(job_get_result, .run = run_result)

/* Jobs. */

/* Two jobs of one call: the second waits for the first. */
static int run_submit(struct call_fixture *f)
{
	const struct drm_pumice_sync first[] = {
		wait_for(f->ready, 0), then_signal(f->binary, 0),
	};
	const struct drm_pumice_sync second[] = {
		wait_for(f->binary, 0), then_signal(f->timeline, ++f->point),
	};
	struct fixture *fx = &f->r.fx;
	struct drm_pumice_job jobs[2] = {
		{ .context = fx->context, .stream = f->id, .syncs = ARRAY_OF(first, 2),
		  .perfmon = f->perfmon },
		{ .context = fx->context, .stream = f->id, .syncs = ARRAY_OF(second, 2) },
	};

	return gpu_submit(fx->fd, jobs, 2, NULL);
}

/* Create the stream once. */
static void prepare_stream(struct call_fixture *f)
{
	if (!f->id)
		f->id = (u32)fx_empty_stream(&f->r.fx);
}

static void wait_jobs(struct call_fixture *f, int ret)
{
	if (!ret) {
		need_wait(f->r.fx.fd, f->timeline, f->point);
		CHECK_EQUAL(sync_status(f->r.fx.fd, f->timeline, f->point), 1);
	}
	reset_syncs(f);
}

SWEEP(submit, .prepare = prepare_stream, .run = run_submit, .undo = wait_jobs)

static int run_submit_pair(struct call_fixture *f)
{
	const struct drm_pumice_sync wait = wait_for(f->ready, 0);
	const struct drm_pumice_sync signals[] = {
		then_signal(f->binary, 0), then_signal(f->timeline, ++f->point),
	};
	struct drm_pumice_job jobs[2];

	render_pair(&f->r, 0, jobs);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&wait, 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(signals, 2);
	return gpu_submit(f->r.fx.fd, jobs, 2, NULL);
}

SWEEP(submit_pair, .run = run_submit_pair, .undo = wait_jobs)

static int run_submit_transfer(struct call_fixture *f)
{
	const struct drm_pumice_sync signal = then_signal(f->timeline, ++f->point);
	const struct drm_pumice_job job = {
		.context = f->transfer, .stream = f->id, .syncs = ARRAY_OF(&signal, 1),
	};

	return gpu_submit(f->r.fx.fd, &job, 1, NULL);
}

static void prepare_fill(struct call_fixture *f)
{
	if (!f->id)
		f->id = (u32)transfer_fill_stream(&f->r.fx, f->r.fx.data.va, 1, 4);
}

SWEEP(submit_transfer, .prepare = prepare_fill, .run = run_submit_transfer, .undo = wait_jobs)

/* Performance monitors. */

static int run_perfmon(struct call_fixture *f)
{
	const u32 counters[COUNTERS] = { 2, 1, 0 };

	return gpu_perfmon_create(f->r.fx.fd, counters, COUNTERS, &f->id);
}

static int destroy_perfmon(struct call_fixture *f)
{
	return gpu_perfmon_destroy(f->r.fx.fd, f->id);
}

SWEEP(perfmon_create, .run = run_perfmon, .destroy = destroy_perfmon)

static int run_perfmon_values(struct call_fixture *f)
{
	u64 values[COUNTERS];

	return gpu_perfmon_values(f->r.fx.fd, f->perfmon, 0, values);
}

SWEEP(perfmon_get_values, .run = run_perfmon_values)

static void prepare_perfmon(struct call_fixture *f)
{
	CHECK_OK(run_perfmon(f));
}

SWEEP(perfmon_destroy, .prepare = prepare_perfmon, .run = destroy_perfmon,
      .always_works = true)

/* Free lists and data sets. */

static int run_free_list(struct call_fixture *f)
{
	struct drm_pumice_free_list_create args = render_list_args(f->r.fx.vm);
	int err = gpu_free_list_create(f->r.fx.fd, &args);

	f->id = args.id;
	return err;
}

static int destroy_free_list(struct call_fixture *f)
{
	return gpu_free_list_destroy(f->r.fx.fd, f->id);
}

SWEEP(free_list_create, .run = run_free_list, .destroy = destroy_free_list)

static void prepare_free_list(struct call_fixture *f)
{
	CHECK_OK(run_free_list(f));
}

SWEEP(free_list_destroy, .prepare = prepare_free_list, .run = destroy_free_list,
      .always_works = true)

static int run_hwrt(struct call_fixture *f)
{
	struct drm_pumice_hwrt_create args = render_hwrt_args(f->r.fx.vm, f->r.list);
	int err = gpu_hwrt_create(f->r.fx.fd, &args);

	f->id = args.id;
	return err;
}

static int destroy_hwrt(struct call_fixture *f)
{
	return gpu_hwrt_destroy(f->r.fx.fd, f->id);
}

SWEEP(hwrt_create, .run = run_hwrt, .destroy = destroy_hwrt)

static void prepare_hwrt(struct call_fixture *f)
{
	CHECK_OK(run_hwrt(f));
}

SWEEP(hwrt_destroy, .prepare = prepare_hwrt, .run = destroy_hwrt, .always_works = true)

/* Test of the method: an allocation that is to fail does. */
static void failing_allocation_fails(void)
{
	struct call_fixture f = call_fixture_open();
	int fail_nth = open_fail_nth();

	configure_faults();
	set_fail_nth(fail_nth, 2);
	CHECK_ERROR(run_bo(&f), ENOMEM);
	CHECK(end_fail_nth(fail_nth));
	CHECK_OK(run_bo(&f));
}

#define SWEEP_CASE(name) TEST_CASE_SECONDS(name##_with_failing_allocations, 300)

static const struct test_case cases[] = {
	TEST_CASE(failing_allocation_fails),
	SWEEP_CASE(open),
	SWEEP_CASE(fdinfo),
	SWEEP_CASE(dev_query),
	SWEEP_CASE(perf_counter_get),
	SWEEP_CASE(bo_create),
	SWEEP_CASE(exclusive_bo_create),
	SWEEP_CASE(large_bo_create),
	SWEEP_CASE(mode_create_dumb),
	SWEEP_CASE(bo_mmap_offset),
	SWEEP_CASE(mmap),
	SWEEP_CASE(bo_close),
	SWEEP_CASE(bo_set_label),
	SWEEP_CASE(bo_madvise),
	SWEEP_CASE(prime_export),
	SWEEP_CASE(prime_import),
	SWEEP_CASE(vm_create),
	SWEEP_CASE(vm_destroy),
	SWEEP_CASE(vm_get_state),
	SWEEP_CASE(vm_get_faults),
	SWEEP_CASE(vm_bind),
	SWEEP_CASE(vm_bind_heaps),
	SWEEP_CASE(vm_bind_async),
	SWEEP_CASE(compute_context_create),
	SWEEP_CASE(render_context_create),
	SWEEP_CASE(transfer_context_create),
	SWEEP_CASE(context_destroy),
	SWEEP_CASE(context_get_state),
	SWEEP_CASE(context_set_priority),
	SWEEP_CASE(file_get_resets),
	SWEEP_CASE(job_get_result),
	SWEEP_CASE(submit),
	SWEEP_CASE(submit_pair),
	SWEEP_CASE(submit_transfer),
	SWEEP_CASE(perfmon_create),
	SWEEP_CASE(perfmon_get_values),
	SWEEP_CASE(perfmon_destroy),
	SWEEP_CASE(free_list_create),
	SWEEP_CASE(free_list_destroy),
	SWEEP_CASE(hwrt_create),
	SWEEP_CASE(hwrt_destroy),
};

TEST_MAIN(cases)
