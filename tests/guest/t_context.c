// SPDX-License-Identifier: MIT
/*
 * CONTEXT_CREATE, CONTEXT_DESTROY, CONTEXT_GET_STATE, CONTEXT_SET_PRIORITY: arguments,
 * rights, lifetime; order by priority.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "fixture.h"
#include "system.h"

#define UNPRIVILEGED 65534
#define LONG_SLICE_US 1000000

/* Return valid arguments. */
static struct drm_pumice_context_create good(u32 vm)
{
	return (struct drm_pumice_context_create){
		.type = DRM_PUMICE_CONTEXT_COMPUTE, .priority = DRM_PUMICE_PRIORITY_NORMAL,
		.vm = vm,
	};
}

static int create(int fd, struct drm_pumice_context_create args)
{
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_CREATE, &args);
}

static void root_may_use_every_priority(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), priority, context;

	for (priority = 0; priority <= DRM_PUMICE_PRIORITY_HIGH; priority++)
		CHECK_OK(gpu_context_create(fd, vm, priority, &context));
}

static void context_type_must_be_known(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), i;
	static const u32 types[] = { 0, 5, 1u << 31, UINT32_MAX };

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct drm_pumice_context_create args = good(vm);

		args.type = types[i];
		CHECK_ERROR(create(fd, args), EINVAL);
	}
}

static void every_type_is_available(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), type;

	for (type = DRM_PUMICE_CONTEXT_COMPUTE; type <= DRM_PUMICE_CONTEXT_RAYS; type++)
		CHECK_OK(gpu_context_destroy(fd, need_context_of(fd, vm, type)));
}

static void priority_must_be_known(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), i;
	static const u32 priorities[] = { 3, 32, 33, UINT32_MAX };

	for (i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
		struct drm_pumice_context_create args = good(vm);

		args.priority = priorities[i];
		CHECK_ERROR(create(fd, args), EINVAL);
	}
}

static void context_flags_are_refused(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), bit;

	for (bit = 0; bit < 32; bit++) {
		struct drm_pumice_context_create args = good(vm);

		args.flags = 1u << bit;
		CHECK_ERROR(create(fd, args), EINVAL);
	}
}

static void context_padding_must_be_zero(void)
{
	int fd = need_gpu();
	struct drm_pumice_context_create args = good(need_vm(fd));
	struct drm_pumice_context_destroy destroy = { .id = need_context(fd, args.vm), .pad = 1 };

	args.pad = 1;
	CHECK_ERROR(create(fd, args), EINVAL);
	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_DESTROY, &destroy), EINVAL);
	need_state(fd, destroy.id);
}

static void context_needs_a_vm_of_its_file(void)
{
	int fd = need_gpu(), other = need_gpu();
	u32 vm = need_vm(fd);

	need_vm(other);
	CHECK_ERROR(create(fd, good(0)), ENOENT);
	CHECK_ERROR(create(fd, good(NO_HANDLE)), ENOENT);
	CHECK_ERROR(create(fd, good(need_vm(other))), ENOENT);
	CHECK_OK(gpu_vm_destroy(fd, vm));
	CHECK_ERROR(create(fd, good(vm)), ENOENT);
}

static void context_that_does_not_exist_is_refused(void)
{
	int fd = need_gpu();
	struct drm_pumice_context_get_state state;
	static const u32 ids[] = { 0, 12345, NO_HANDLE, UINT32_MAX };
	u32 i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		CHECK_ERROR(gpu_context_destroy(fd, ids[i]), ENOENT);
		CHECK_ERROR(gpu_context_state(fd, ids[i], &state), ENOENT);
	}
}

static void context_of_another_file_is_refused(void)
{
	int fd = need_gpu(), other = need_gpu();
	struct drm_pumice_context_get_state state;
	u32 vm = need_vm(other), context;

	need_context(other, vm);
	context = need_context(other, vm);
	need_context(fd, need_vm(fd));
	CHECK_ERROR(gpu_context_destroy(fd, context), ENOENT);
	CHECK_ERROR(gpu_context_state(fd, context, &state), ENOENT);
	need_state(other, context);
}

static void destroyed_context_is_unknown(void)
{
	int fd = need_gpu();
	u32 context = need_context(fd, need_vm(fd));
	struct drm_pumice_context_get_state state;

	CHECK_OK(gpu_context_destroy(fd, context));
	CHECK_ERROR(gpu_context_destroy(fd, context), ENOENT);
	CHECK_ERROR(gpu_context_state(fd, context, &state), ENOENT);
}

static void new_context_has_a_clean_state(void)
{
	int fd = need_gpu();
	struct drm_pumice_context_get_state state = need_state(fd, need_context(fd, need_vm(fd)));

	CHECK_EQUAL(state.state, 0);
	CHECK_EQUAL(state.jobs_done, 0);
	CHECK_EQUAL(state.jobs_faulted, 0);
	CHECK_EQUAL(state.fault, 0);
}

static void state_counts_jobs_and_reports_their_times(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state;
	struct drm_pumice_query_timestamp before, after;
	u32 size = sizeof(before);

	CHECK_OK(gpu_query(fx.fd, DRM_PUMICE_QUERY_TIMESTAMP, &before, &size));
	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	CHECK_OK(gpu_query(fx.fd, DRM_PUMICE_QUERY_TIMESTAMP, &after, &size));
	state = need_state(fx.fd, fx.context);
	CHECK_EQUAL(state.jobs_done, 2);
	CHECK_EQUAL(state.jobs_faulted, 0);
	CHECK_EQUAL(state.state, 0);
	CHECK(before.gpu_ticks < state.last_start);
	CHECK(state.last_start <= state.last_end);
	CHECK(state.last_end < after.gpu_ticks);
}

/* Run a check as an unprivileged user, on a file opened before. */
static void as_unprivileged(int fd, u32 vm, void (*check)(int fd, u32 vm))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		CHECK_OK(setgid(UNPRIVILEGED));
		CHECK_OK(setuid(UNPRIVILEGED));
		check(fd, vm);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void check_no_high(int fd, u32 vm)
{
	struct drm_pumice_query_gpu info = need_info(fd);
	u32 context;

	CHECK_EQUAL(info.priorities,
		    1u << DRM_PUMICE_PRIORITY_LOW | 1u << DRM_PUMICE_PRIORITY_NORMAL);
	CHECK_ERROR(gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_HIGH, &context), EACCES);
	CHECK_OK(gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_NORMAL, &context));
	CHECK_OK(gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_LOW, &context));
}

static void high_priority_needs_rights(void)
{
	int fd = need_gpu();

	as_unprivileged(fd, need_vm(fd), check_no_high);
}

/*
 * Set the firmware's time slice. A job that has waited for 64 slices runs before a higher
 * priority: on a busy machine, long slices prevent that from changing the order.
 */
static void use_slices_of(long us)
{
	CHECK_OK(set_module_parameter("slice_us", us));
	need_flr();
}

static const u32 low_to_high[3] = {
	DRM_PUMICE_PRIORITY_LOW, DRM_PUMICE_PRIORITY_NORMAL, DRM_PUMICE_PRIORITY_HIGH,
};

/* Queue a job in each of three contexts; they wait for that of the blocker to end. */
static void queue_jobs(struct fixture *blocker, struct fixture *fixtures)
{
	u32 i;

	fx_block(blocker);
	for (i = 0; i < 3; i++)
		fx_submit(&fixtures[i], fx_empty_stream(&fixtures[i]));
	need_in_flight(4);
}

/* End the blocker's job; the waiting jobs must start in the reverse order of submission. */
static void check_last_starts_first(const struct fixture *blocker, struct fixture *fixtures)
{
	u64 start[3];
	u32 i;

	CHECK_OK(gpu_context_destroy(blocker->fd, blocker->context));
	for (i = 0; i < 3; i++) {
		CHECK_EQUAL(fx_wait(&fixtures[i]), 1);
		start[i] = need_state(fixtures[i].fd, fixtures[i].context).last_start;
	}
	CHECK(start[2] < start[1]);
	CHECK(start[1] < start[0]);
}

/* Waiting jobs run by priority, regardless of the order of submission. */
static void higher_priority_runs_first(void)
{
	int fd = need_gpu();
	struct fixture blocker = fx_on(fd), fixtures[3];
	u32 i;

	use_slices_of(LONG_SLICE_US);
	for (i = 0; i < 3; i++) {
		fixtures[i] = fx_on(fd);
		CHECK_OK(gpu_context_create(fd, fixtures[i].vm, low_to_high[i],
					    &fixtures[i].context));
	}
	queue_jobs(&blocker, fixtures);
	check_last_starts_first(&blocker, fixtures);
	use_slices_of(0);
}

/* Time at which the jobs of three contexts are changed to low, normal and high priority. */
enum change { BEFORE_JOBS, BEFORE_A_RESET, WHILE_QUEUED };

static void change_priorities(int fd, const struct fixture *fixtures)
{
	u32 i;

	for (i = 0; i < 3; i++)
		CHECK_OK(gpu_context_set_priority(fd, fixtures[i].context, low_to_high[i]));
}

static void check_change(enum change when)
{
	int fd = need_gpu();
	struct fixture blocker = fx_on(fd), fixtures[3];
	u32 i;

	use_slices_of(LONG_SLICE_US);
	for (i = 0; i < 3; i++) {
		fixtures[i] = fx_on(fd);
		/* As the firmware has it, except the first. */
		if (i)
			fx_check_works(&fixtures[i]);
	}
	if (when != WHILE_QUEUED)
		change_priorities(fd, fixtures);
	if (when == BEFORE_A_RESET)
		need_flr();
	queue_jobs(&blocker, fixtures);
	if (when == WHILE_QUEUED)
		change_priorities(fd, fixtures);
	check_last_starts_first(&blocker, fixtures);
	use_slices_of(0);
}

static void changed_priority_counts_for_later_jobs(void)
{
	check_change(BEFORE_JOBS);
}

static void changed_priority_applies_to_queued_jobs(void)
{
	check_change(WHILE_QUEUED);
}

static void changed_priority_stays_after_a_reset(void)
{
	check_change(BEFORE_A_RESET);
}

static void changed_priority_must_be_known(void)
{
	struct drm_pumice_context_set_priority good, args;
	struct fixture fx = fx_open();
	u32 other = need_context(fx.fd, fx.vm);

	good = args = (struct drm_pumice_context_set_priority){
		.id = fx.context, .priority = DRM_PUMICE_PRIORITY_LOW,
	};
	CHECK_OK(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args));
	args.priority = DRM_PUMICE_PRIORITY_HIGH + 1;
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args), EINVAL);
	args.priority = UINT32_MAX;
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args), EINVAL);
	args = good;
	args.flags = 1;
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args), EINVAL);
	args = good;
	args.pad = 1;
	CHECK_ERROR(gpu_ioctl(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args), EINVAL);
	CHECK_ERROR(gpu_context_set_priority(fx.fd, 0, 1), ENOENT);
	CHECK_ERROR(gpu_context_set_priority(fx.fd, NO_HANDLE, 1), ENOENT);
	CHECK_ERROR(gpu_context_set_priority(need_gpu(), fx.context, 1), ENOENT);
	CHECK_OK(gpu_context_destroy(fx.fd, other));
	CHECK_ERROR(gpu_context_set_priority(fx.fd, other, 1), ENOENT);
	fx_check_works(&fx);
}

static void check_no_raise(int fd, u32 vm)
{
	u32 context = need_context(fd, vm);

	CHECK_ERROR(gpu_context_set_priority(fd, context, DRM_PUMICE_PRIORITY_HIGH), EACCES);
	CHECK_OK(gpu_context_set_priority(fd, context, DRM_PUMICE_PRIORITY_LOW));
	CHECK_OK(gpu_context_set_priority(fd, context, DRM_PUMICE_PRIORITY_NORMAL));
}

static void raising_a_priority_needs_rights(void)
{
	int fd = need_gpu();

	as_unprivileged(fd, need_vm(fd), check_no_raise);
}

/* Thread that changes the priority of any context with an id that will be used. */
static void *change_for_ever(void *arg)
{
	struct fixture *fx = arg;
	u32 i;

	for (i = 0; i < 2000; i++) {
		int err = gpu_context_set_priority(fx->fd, fx->context, i % 3);

		CHECK(!err || err == -ENOENT);
	}
	return NULL;
}

static void priority_may_change_while_the_context_is_destroyed(void)
{
	struct fixture fx = fx_open();
	u32 usual = fx.context, i;
	pthread_t thread;

	CHECK_OK(gpu_context_create(fx.fd, fx.vm, DRM_PUMICE_PRIORITY_NORMAL, &fx.context));
	CHECK(!pthread_create(&thread, NULL, change_for_ever, &fx));
	for (i = 0; i < 50; i++) {
		fx_submit(&fx, fx_empty_stream(&fx));
		CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
		CHECK_OK(gpu_context_create(fx.fd, fx.vm, DRM_PUMICE_PRIORITY_NORMAL,
					    &fx.context));
	}
	CHECK(!pthread_join(thread, NULL));
	fx.context = usual;
	fx_check_works(&fx);
}

static void contexts_are_capped_and_come_back(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), made, context, last = 0;
	int err = 0;

	for (made = 0; made < 100000 && !err; made++) {
		err = gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_NORMAL, &context);
		if (!err)
			last = context;
	}
	CHECK_EQUAL(err, -ENOSPC);
	CHECK(made > 64);
	CHECK_OK(gpu_context_destroy(fd, last));
	need_context(fd, vm);
}

/* Submit a job to a context kept busy by an endless job; its fence is in *sync. */
static void queue_after(struct fixture *fx, u64 stream, u32 *sync)
{
	struct drm_pumice_sync syncs[1];
	struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 1),
	};

	*sync = need_sync(fx->fd);
	syncs[0] = then_signal(*sync, 0);
	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

static void destroying_a_context_cancels_its_jobs(void)
{
	struct fixture fx = fx_open();
	u32 queued[3], i;

	fx_block(&fx);
	for (i = 0; i < 3; i++)
		queue_after(&fx, fx_empty_stream(&fx), &queued[i]);
	CHECK(sync_is_pending(fx.fd, fx.sync, 0));
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	for (i = 0; i < 3; i++) {
		need_wait(fx.fd, queued[i], 0);
		CHECK_EQUAL(sync_status(fx.fd, queued[i], 0), -ECANCELED);
	}
}

static void destroying_a_context_does_not_affect_others(void)
{
	int fd = need_gpu();
	struct fixture doomed = fx_on(fd), other = fx_on(fd);

	fx_block(&doomed);
	fx_submit(&other, fx_store_stream(&other, other.data.va, 5));
	CHECK_OK(gpu_context_destroy(fd, doomed.context));
	CHECK_EQUAL(fx_wait(&other), 1);
	fx_check_words(other.data.cpu, 5);
	fx_check_works(&other);
}

static void submitting_to_a_destroyed_context_is_refused(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_job job = { .context = fx.context, .stream = fx_empty_stream(&fx) };

	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_ERROR(gpu_submit(fx.fd, &job, 1, NULL), ENOENT);
}

static const struct test_case cases[] = {
	TEST_CASE(root_may_use_every_priority),
	TEST_CASE(context_type_must_be_known),
	TEST_CASE(every_type_is_available),
	TEST_CASE(priority_must_be_known),
	TEST_CASE(context_flags_are_refused),
	TEST_CASE(context_padding_must_be_zero),
	TEST_CASE(context_needs_a_vm_of_its_file),
	TEST_CASE(context_that_does_not_exist_is_refused),
	TEST_CASE(context_of_another_file_is_refused),
	TEST_CASE(destroyed_context_is_unknown),
	TEST_CASE(new_context_has_a_clean_state),
	TEST_CASE(state_counts_jobs_and_reports_their_times),
	TEST_CASE(high_priority_needs_rights),
	TEST_CASE(higher_priority_runs_first),
	TEST_CASE(changed_priority_counts_for_later_jobs),
	TEST_CASE(changed_priority_applies_to_queued_jobs),
	TEST_CASE(changed_priority_stays_after_a_reset),
	TEST_CASE(changed_priority_must_be_known),
	TEST_CASE(raising_a_priority_needs_rights),
	TEST_CASE(priority_may_change_while_the_context_is_destroyed),
	TEST_CASE(contexts_are_capped_and_come_back),
	TEST_CASE(destroying_a_context_cancels_its_jobs),
	TEST_CASE(destroying_a_context_does_not_affect_others),
	TEST_CASE(submitting_to_a_destroyed_context_is_refused),
};

TEST_MAIN(cases)
