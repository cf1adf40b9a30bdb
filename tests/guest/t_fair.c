// SPDX-License-Identifier: MIT
/*
 * Limits of a user's share of common resources: the firmware's context ids and its
 * memory. The limits are those of pumice_quota.c: a file, a user, a reserve.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fwif.h"
#include "harness.h"
#include "render.h"
#include "system.h"

#define UNPRIVILEGED	65534
#define DELEGATED	100000	/* first id delegated to a namespace */
#define FILE_IDS	DRM_PUMICE_MAX_FILE_QUEUES
#define USER_IDS	(FWIF_MAX_CONTEXTS / 2)
#define RESERVED_IDS	(FWIF_MAX_CONTEXTS / 8)
#define FILE_BYTES	DRM_PUMICE_MAX_FILE_SHARED
#define USER_BYTES	(256 * MIB)
#define LIST_BYTES	(MIB / 2)
#define LISTS_OF_FILE	(FILE_BYTES / LIST_BYTES)
/* Size of a list whose structure and table of links need LIST_BYTES. */
#define LIST_PAGES	((u32)(LIST_BYTES - 64) / 4)

/** struct user - a process that keeps its resources until the case ends */
struct user {
	pid_t pid;
	unsigned int taken;
};

/* Wait until the previous case's objects were freed; let all users open the device. */
static void begin(void)
{
	char node[64];

	need_nothing_left();
	CHECK_OK(gpu_node(node));
	CHECK_OK(chmod(node, 0666));
}

static void become(uid_t uid)
{
	CHECK_OK(setgid(uid));
	CHECK_OK(setuid(uid));
}

/* Create contexts until an error, which is stored in *err. Return: their number. */
static unsigned int take_contexts(int fd, u32 type, int *err)
{
	unsigned int made = 0;
	u32 vm, context;

	*err = gpu_vm_create(fd, &vm);
	while (!*err) {
		*err = gpu_context_create_of(fd, vm, type, &context);
		made += !*err;
	}
	return made;
}

static struct drm_pumice_free_list_create list_args(u32 vm)
{
	return (struct drm_pumice_free_list_create){
		.vm = vm, .initial_pages = 1, .max_pages = LIST_PAGES, .grow_pages = 1,
	};
}

static int make_list(int fd, u32 vm)
{
	struct drm_pumice_free_list_create args = list_args(vm);

	return gpu_free_list_create(fd, &args);
}

/* Allocate memory by free lists until an error, like take_contexts(). */
static unsigned int take_memory(int fd, u32 unused, int *err)
{
	unsigned int made = 0;
	u32 vm;

	(void)unused;
	*err = gpu_vm_create(fd, &vm);
	while (!*err) {
		*err = make_list(fd, vm);
		made += !*err;
	}
	return made;
}

typedef unsigned int take_function(int fd, u32 type, int *err);

/* Use as many files as necessary. Only -ENOSPC may end it. */
static unsigned int take_all(take_function *take, u32 type)
{
	unsigned int all = 0, made;
	int err;

	do {
		made = take(need_gpu(), type, &err);
		all += made;
		CHECK_EQUAL(err, -ENOSPC);
	} while (made);
	return all;
}

/* Start a process of another user that allocates as much as it can and keeps it. */
static struct user start_user(uid_t uid, take_function *take)
{
	struct user user = { 0 };
	int fds[2];

	CHECK_OK(pipe(fds));
	user.pid = fork();
	CHECK(user.pid >= 0);
	if (!user.pid) {
		if (uid)
			become(uid);
		user.taken = take_all(take, DRM_PUMICE_CONTEXT_COMPUTE);
		if (write(fds[1], &user.taken, sizeof(user.taken)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	CHECK_EQUAL(read(fds[0], &user.taken, sizeof(user.taken)), (int)sizeof(user.taken));
	close(fds[0]);
	return user;
}

static void stop_user(struct user user)
{
	int status;

	CHECK_OK(kill(user.pid, SIGKILL));
	CHECK_EQUAL(waitpid(user.pid, &status, 0), user.pid);
}

/* Run as another user, in a process of its own; a failed check there fails the case. */
static void as_user(uid_t uid, void (*run)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		become(uid);
		run();
		exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Use contexts of every kind, memory, jobs. */
static void use_all(void)
{
	struct render r = render_open();

	fx_check_works(&r.fx);
	render_check_works(&r);
	CHECK_OK(make_list(r.fx.fd, r.fx.vm));
	need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
}

/* This user can create no more contexts, and a failed call leaves no object. */
static void find_no_context(void)
{
	u32 type, context, vm;
	int fd = need_gpu();

	vm = need_vm(fd);
	for (type = DRM_PUMICE_CONTEXT_COMPUTE; type <= DRM_PUMICE_CONTEXT_RAYS; type++)
		CHECK_ERROR(gpu_context_create_of(fd, vm, type, &context), ENOSPC);
}

static void find_no_memory(void)
{
	int fd = need_gpu();

	CHECK_ERROR(make_list(fd, need_vm(fd)), ENOSPC);
}

static void contexts_of_a_file_are_limited(void)
{
	static const struct {
		u32 type;
		unsigned int ids;
	} kinds[] = {
		{ DRM_PUMICE_CONTEXT_COMPUTE, 1 },
		{ DRM_PUMICE_CONTEXT_RENDER, 2 },
		{ DRM_PUMICE_CONTEXT_TRANSFER, 1 },
		{ DRM_PUMICE_CONTEXT_RAYS, 1 },
	};
	unsigned int i;
	u32 again;
	int err;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = need_gpu();

		CHECK_EQUAL(take_contexts(fd, kinds[i].type, &err), FILE_IDS / kinds[i].ids);
		CHECK_EQUAL(err, -ENOSPC);
		CHECK_OK(gpu_context_destroy(fd, 1));
		CHECK_OK(gpu_context_create_of(fd, 1, kinds[i].type, &again));
		CHECK_ERROR(gpu_context_create_of(fd, 1, kinds[i].type, &again), ENOSPC);
		close(fd);
	}
	need_nothing_left();
}

/* No half of a pair of queues may remain. */
static void render_context_that_half_fits_leaves_nothing(void)
{
	int fd = need_gpu(), err;
	u32 context;

	need_context(fd, need_vm(fd));
	CHECK_EQUAL(take_contexts(fd, DRM_PUMICE_CONTEXT_RENDER, &err), FILE_IDS / 2 - 1);
	CHECK_EQUAL(err, -ENOSPC);
	CHECK_OK(gpu_context_create_of(fd, 1, DRM_PUMICE_CONTEXT_COMPUTE, &context));
	CHECK_ERROR(gpu_context_create_of(fd, 1, DRM_PUMICE_CONTEXT_COMPUTE, &context), ENOSPC);
}

static void firmware_memory_of_a_file_is_limited(void)
{
	struct counts before;
	int fd, err;

	begin();
	fd = need_gpu();
	CHECK_EQUAL(take_memory(fd, 0, &err), LISTS_OF_FILE);
	CHECK_EQUAL(err, -ENOSPC);
	before = need_counts();
	CHECK_ERROR(make_list(fd, 1), ENOSPC);
	CHECK_EQUAL(need_counts().free_lists, before.free_lists);
	close(fd);
	need_nothing_left();
	CHECK_EQUAL(take_memory(need_gpu(), 0, &err), LISTS_OF_FILE);
}

static void files_of_a_user_share_a_limit(void)
{
	struct user first;

	begin();
	first = start_user(UNPRIVILEGED, take_contexts);
	CHECK_EQUAL(first.taken, USER_IDS);
	as_user(UNPRIVILEGED, find_no_context);
	as_user(UNPRIVILEGED - 1, use_all);
	stop_user(first);
	need_nothing_left();
	as_user(UNPRIVILEGED, use_all);
}

/* More than the limits of file and user in total, but one at a time. */
static void take_and_give_back(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), context, i;

	/* The user has a charge all the time. */
	need_context(fd, vm);
	for (i = 0; i < 2 * USER_IDS; i++) {
		CHECK_OK(gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_NORMAL, &context));
		CHECK_OK(gpu_context_destroy(fd, context));
	}
	for (i = 0; i < 2 * USER_BYTES / LIST_BYTES; i++) {
		struct drm_pumice_free_list_create args = list_args(vm);

		CHECK_OK(gpu_free_list_create(fd, &args));
		CHECK_OK(gpu_free_list_destroy(fd, args.id));
	}
}

static void released_objects_are_uncharged(void)
{
	begin();
	as_user(UNPRIVILEGED, take_and_give_back);
	need_nothing_left();
}

static void users_together_leave_contexts_to_the_privileged(void)
{
	struct user users[2];
	unsigned int i;

	begin();
	for (i = 0; i < 2; i++)
		users[i] = start_user(UNPRIVILEGED - i, take_contexts);
	CHECK_EQUAL(users[0].taken + users[1].taken, FWIF_MAX_CONTEXTS - RESERVED_IDS);
	as_user(UNPRIVILEGED - 2, find_no_context);
	as_user(0, use_all);
	for (i = 0; i < 2; i++)
		stop_user(users[i]);
	need_nothing_left();
	as_user(UNPRIVILEGED - 2, use_all);
}

static void user_leaves_memory_to_others(void)
{
	struct user first;

	begin();
	first = start_user(UNPRIVILEGED, take_memory);
	CHECK_EQUAL(first.taken, USER_BYTES / LIST_BYTES);
	as_user(UNPRIVILEGED, find_no_memory);
	as_user(UNPRIVILEGED - 1, use_all);
	as_user(0, use_all);
	stop_user(first);
	need_nothing_left();
	as_user(UNPRIVILEGED, use_all);
}

/* Privileged users can have all ids, and the error has a name. */
static void privileged_may_take_all_ids(void)
{
	struct user root;

	begin();
	root = start_user(0, take_contexts);
	CHECK_EQUAL(root.taken, FWIF_MAX_CONTEXTS);
	as_user(UNPRIVILEGED, find_no_context);
	as_user(0, find_no_context);
	stop_user(root);
	need_nothing_left();
	as_user(UNPRIVILEGED, use_all);
}

/* Change the user and keep one capability. */
static void become_with(uid_t uid, unsigned int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	CHECK_OK(prctl(PR_SET_KEEPCAPS, 1));
	become(uid);
	data[capability / 32].effective = 1u << capability % 32;
	data[capability / 32].permitted = 1u << capability % 32;
	CHECK_OK(syscall(SYS_capset, &head, data));
}

static void one_of_two_capabilities_is_enough(void)
{
	static const struct {
		unsigned int capability;
		bool enough;
	} table[] = {
		{ CAP_SYS_NICE, true }, { CAP_SYS_RESOURCE, true },
		{ CAP_SYS_ADMIN, false }, { CAP_DAC_OVERRIDE, false },
	};
	struct user first;
	unsigned int i;

	begin();
	first = start_user(UNPRIVILEGED, take_contexts);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			become_with(UNPRIVILEGED, table[i].capability);
			(table[i].enough ? use_all : find_no_context)();
			exit(0);
		}
		CHECK_EQUAL(waitpid(pid, &status, 0), pid);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	stop_user(first);
}

static void map_ids(pid_t pid, const char *map)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	CHECK_OK(write_file(path, map));
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	CHECK_OK(write_file(path, map));
}

/* Run in a user namespace of @uid with delegated ids, as one of them. */
static void as_delegated(uid_t uid, void (*run)(void))
{
	int ready[2], go[2], status;
	char byte = 0, map[32];
	pid_t pid;

	CHECK_OK(pipe(ready));
	CHECK_OK(pipe(go));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		become(uid);
		/* Make it dumpable again: otherwise /proc/self is owned by root. */
		CHECK_OK(prctl(PR_SET_DUMPABLE, 1));
		CHECK_OK(unshare(CLONE_NEWUSER));
		CHECK_EQUAL(write(ready[1], &byte, 1), 1);
		CHECK_EQUAL(read(go[0], &byte, 1), 1);
		become(5);
		run();
		exit(0);
	}
	CHECK_EQUAL(read(ready[0], &byte, 1), 1);
	snprintf(map, sizeof(map), "0 %u 10", DELEGATED);
	map_ids(pid, map);
	CHECK_EQUAL(write(go[1], &byte, 1), 1);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void ids_of_a_user_namespace_count_as_its_owner(void)
{
	struct user first;

	begin();
	if (access("/proc/self/ns/user", F_OK)) {
		test_note("a kernel without user namespaces: no ids to delegate");
		return;
	}
	/* A busy id and an idle user: the result depends on another's namespace. */
	as_delegated(UNPRIVILEGED, use_all);
	first = start_user(UNPRIVILEGED, take_contexts);
	as_delegated(UNPRIVILEGED, find_no_context);
	as_delegated(UNPRIVILEGED - 1, use_all);
	stop_user(first);
}

/* As for a container: its ids do not count as one user each. */
static void ids_of_a_namespace_that_root_made_count_as_one(void)
{
	struct user first;

	begin();
	if (access("/proc/self/ns/user", F_OK)) {
		test_note("a kernel without user namespaces: no containers");
		return;
	}
	first = start_user(DELEGATED, take_contexts);
	as_delegated(0, find_no_context);
	stop_user(first);
	as_delegated(0, use_all);
}

/* Count the driver's lines about refusals in the new part of the log. */
static unsigned int count_lines(int kmsg)
{
	unsigned int lines = 0;
	char line[1024], want[96];
	ssize_t got;

	snprintf(want, sizeof(want), "limit of context ids of a file reached: %u of %u used",
		 FILE_IDS, FILE_IDS);
	while ((got = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[got > 0 ? got : 0] = 0;
		lines += strstr(line, want) != NULL;
	}
	return lines;
}

static void refusals_are_logged_and_rate_limited(void)
{
	int kmsg = need_log(O_NONBLOCK);
	u64 deadline = now_ns() + 60 * 1000000000ull;
	unsigned int lines = 0, refused = 0;
	int fd = need_gpu(), err;
	u32 context;

	take_contexts(fd, DRM_PUMICE_CONTEXT_COMPUTE, &err);
	/* Previous cases may have used the rate limit up: it recovers in time. */
	while ((!lines || refused < 1000) && now_ns() < deadline) {
		CHECK_ERROR(gpu_context_create_of(fd, 1, DRM_PUMICE_CONTEXT_COMPUTE, &context),
			    ENOSPC);
		refused++;
		lines += count_lines(kmsg);
	}
	test_note("%u lines for %u refusals", lines, refused);
	CHECK(lines > 0);
	CHECK(lines < refused / 2);
}

static const struct test_case cases[] = {
	TEST_CASE(contexts_of_a_file_are_limited),
	TEST_CASE(render_context_that_half_fits_leaves_nothing),
	TEST_CASE(firmware_memory_of_a_file_is_limited),
	TEST_CASE(files_of_a_user_share_a_limit),
	TEST_CASE(released_objects_are_uncharged),
	TEST_CASE(users_together_leave_contexts_to_the_privileged),
	TEST_CASE(user_leaves_memory_to_others),
	TEST_CASE(privileged_may_take_all_ids),
	TEST_CASE(one_of_two_capabilities_is_enough),
	TEST_CASE(ids_of_a_user_namespace_count_as_its_owner),
	TEST_CASE(ids_of_a_namespace_that_root_made_count_as_one),
	TEST_CASE(refusals_are_logged_and_rate_limited),
};

TEST_MAIN(cases)
