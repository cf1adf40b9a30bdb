// SPDX-License-Identifier: MIT
/*
 * pumice-stress - keep the GPU busy while other events affect it.
 *
 *   pumice-stress [--seconds N] [--processes N]
 *
 * Each process submits compute jobs that store and copy, occasionally one that
 * faults, with a performance monitor, and checks the data. The copy's destination is mapped by
 * an asynchronous bind meanwhile and unmapped by another afterwards. Removal of the device is no
 * failure: it is opened again when it is back. Exits with 1 if a job that completed successfully
 * left wrong data; without --seconds it runs until it is killed.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <xf86drm.h>

#include "perf.h"
#include "fixture.h"

#define REOPEN_US	20000
#define NS_PER_SECOND	1000000000ull
#define MAX_PROCESSES	64
#define WORDS		32u	/* words that a job writes */

/** struct options - command line */
struct options {
	unsigned long seconds;		/* 0: until killed */
	unsigned long processes;
};

/** struct work - the streams of one process, until the device is removed */
struct work {
	struct fixture fx;
	u64 store;
	u64 copy;
	u64 fault;
	u32 value;	/* first stored word */
	u32 bound;	/* syncobj: signaled when the copy's memory is mapped */
	u32 perfmon;
};

/* Address of the fixture's data during one round. */
#define ROUND_VA	(FX_FREE + GIB)

/* Change the mapping for a round, after @wait if not 0, and signal @signal if not 0. */
static int bind_round(struct work *work, struct drm_pumice_bind_op op, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_vm_bind bind = {
		.vm = work->fx.vm, .flags = DRM_PUMICE_VM_BIND_ASYNC, .ops = ARRAY_OF(&op, 1),
	};
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	bind.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, count);
	return gpu_ioctl(work->fx.fd, DRM_IOCTL_PUMICE_VM_BIND, &bind);
}

/* Submit a job that waits for @wait and signals @signal, each if not 0. */
static int submit(struct work *work, u64 stream, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job job = {
		.context = work->fx.context, .stream = stream, .perfmon = work->perfmon,
	};
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	job.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, count);

	return gpu_submit(work->fx.fd, &job, 1, NULL);
}

/* Check the data of the copy, then that of the store. */
static bool data_is_right(const struct work *work)
{
	u32 i;

	for (i = 0; i < WORDS; i++) {
		if (work->fx.data.cpu[i] != work->value + i ||
		    work->fx.data.cpu[WORDS + i] != work->value + i + 1)
			return false;
	}
	return true;
}

/* Run one store and one copy; returns 0, 1 for wrong data, or a negative errno. */
static int run_round(struct work *work, u32 round)
{
	int err = 0;

	memset(work->fx.data.cpu, 0, 2 * WORDS * sizeof(u32));
	err = bind_round(work, bind_map(work->fx.data.handle, 0, ROUND_VA, FX_DATA_BYTES, 0), 0,
			 work->bound);
	if (!err && round % 16 == 0)
		err = submit(work, work->fault, 0, 0);
	if (!err)
		err = submit(work, work->store, 0, 0);
	if (!err)
		err = submit(work, work->copy, work->bound, work->fx.sync);
	if (!err)
		err = bind_round(work, bind_unmap(ROUND_VA, FX_DATA_BYTES), work->fx.sync, 0);
	if (!err)
		err = sync_wait(work->fx.fd, work->fx.sync, 0, WAIT_SECONDS * NS_PER_SECOND);
	if (err)
		return err;
	return data_is_right(work) ? 0 : 1;
}

/*
 * Wrong data is expected if the device was reset during the job: then its context
 * accepts no more jobs, or the device was removed.
 */
static bool device_is_in_order(const struct work *work)
{
	struct drm_pumice_context_get_state state;

	return !gpu_context_state(work->fx.fd, work->fx.context, &state) &&
	       !(state.state & (DRM_PUMICE_CONTEXT_GUILTY | DRM_PUMICE_CONTEXT_INNOCENT));
}

/* Create the resources that a round needs in addition to the fixture. */
static int make_extras(struct work *work)
{
	static const u32 counters[] = { PUMICE_PERF_CDM_GROUPS, PUMICE_PERF_USC_ISSUED };
	struct drm_pumice_perfmon_create create = { .counters = ARRAY_OF(counters, 2) };
	int err = gpu_ioctl(work->fx.fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &create);

	work->perfmon = create.id;
	if (!err && drmSyncobjCreate(work->fx.fd, 0, &work->bound))
		err = -errno;
	return err;
}

/* Use the device until it is removed or the deadline. Returns false for wrong data. */
static bool use_device(int fd, u64 deadline, u32 value, u64 *rounds)
{
	struct work work = { .value = value };
	bool good = true;
	u32 round;
	int err;

	err = fx_try(&work.fx, fd);
	if (!err)
		err = make_extras(&work);
	if (!err) {
		work.store = fx_store_stream(&work.fx, work.fx.data.va, value);
		work.copy = fx_copy_stream(&work.fx, ROUND_VA + WORDS * sizeof(u32),
					   work.fx.data.va, 1);
		work.fault = fx_store_stream(&work.fx, FX_FREE, 0);
	}
	for (round = 0; !err && now_ns() < deadline; round++) {
		err = run_round(&work, round);
		*rounds += !err;
	}
	if (err > 0 && device_is_in_order(&work)) {
		fprintf(stderr, "pumice-stress: wrong data: 0x%x 0x%x, should be 0x%x 0x%x\n",
			work.fx.data.cpu[0], work.fx.data.cpu[WORDS], value, value + 1);
		good = false;
	}
	fx_close(&work.fx);
	return good;
}

/* Main function of a process, which reopens the device after each removal. */
static int worker(const struct options *options, u32 number)
{
	u64 deadline = options->seconds ? now_ns() + options->seconds * NS_PER_SECOND : UINT64_MAX;
	u64 rounds = 0;
	u32 lives = 0;
	int fd;

	while (now_ns() < deadline) {
		fd = gpu_open();
		if (fd < 0) {
			usleep(REOPEN_US);
			continue;
		}
		if (!use_device(fd, deadline, number << 24 | (lives & 0xff) << 12, &rounds))
			return 1;
		lives++;
	}
	printf("process %u: %llu rounds in %u lives of the device\n", number,
	       (unsigned long long)rounds, lives);
	return 0;
}

static bool parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "processes", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "s:p:", longs, NULL)) != -1) {
		if (option == 's')
			options->seconds = strtoul(optarg, NULL, 10);
		else if (option == 'p')
			options->processes = strtoul(optarg, NULL, 10);
		else
			return false;
	}
	return optind == argc && options->processes && options->processes <= MAX_PROCESSES;
}

int main(int argc, char **argv)
{
	struct options options = { .processes = 3 };
	int status, failed = 0;
	u32 i;

	if (!parse(argc, argv, &options)) {
		fprintf(stderr, "usage: pumice-stress [--seconds N] [--processes 1..%u]\n",
			MAX_PROCESSES);
		return 2;
	}
	for (i = 0; i < options.processes; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("pumice-stress: fork");
			return 1;
		}
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			exit(worker(&options, i));
		}
	}
	for (i = 0; i < options.processes; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			failed = 1;
	}
	return failed;
}
