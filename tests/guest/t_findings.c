// SPDX-License-Identifier: MIT
/*
 * Findings of mode strict in debugfs: they are kept, and have the buffers, as the driver has
 * described them to the GPU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugfs.h"
#include "fixture.h"
#include "harness.h"
#include "power.h"
#include "pumice_regs.h"
#include "system.h"

#define TAIL	100u	/* bytes in the last page of a buffer */
#define CHANGERS	3u	/* threads */
#define CHANGES		12u	/* of the mode; the last one is to strict */

/* Drop all findings. */
static void drop_findings(void)
{
	char path[256];

	CHECK(debugfs_path("findings", path, sizeof(path)));
	CHECK_OK(write_file(path, "0"));
	CHECK(!*debugfs_text("findings"));
}

/* They remain when the GPU is reset, as when it goes to sleep, and when the mode changes. */
static void findings_are_kept_until_they_are_dropped(void)
{
	struct fixture fx = fx_open();
	char address[64];

	drop_findings();
	CHECK_OK(debugfs_set_mode("strict"));
	fx_check_works(&fx);
	CHECK(!*debugfs_text("findings"));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	snprintf(address, sizeof(address), "\"va\":\"0x%llx\"", (unsigned long long)FX_FREE);
	need_line("findings", "{\"finding\":\"unmapped\"", address);
	need_line("findings", "\"access\":\"write\"", "\"times\":1}");
	need_gpu_asleep();
	need_line("findings", "{\"finding\":\"unmapped\"", address);
	CHECK_OK(debugfs_set_mode("fast"));
	need_line("findings", "{\"finding\":\"unmapped\"", address);
	drop_findings();
}

/* Bind a new buffer with a name at FX_FREE; returns its handle. */
static u32 bind_named(const struct fixture *fx, u64 bytes, const char *label, u32 flags)
{
	const u32 handle = need_bo(fx->fd, bytes);

	gpu_set_label(fx->fd, handle, label);
	need_map(fx->fd, fx->vm, handle, 0, FX_FREE, (bytes + PAGE - 1) / PAGE * PAGE, flags);
	return handle;
}

/* The only finding has the text; it is dropped. */
static void need_finding(const char *kind, const char *part)
{
	char start[64];

	snprintf(start, sizeof(start), "{\"finding\":\"%s\"", kind);
	need_line("findings", start, part);
	CHECK(strchr(debugfs_text("findings"), '\n')[1] == '\0');
	drop_findings();
}

/* A finding of FX_FREE, which operation number of this process has unmapped. */
static void need_unmapped(const char *label, unsigned int number, bool freed)
{
	char part[128], process[64];

	snprintf(part, sizeof(part), "\"label\":\"%s\",\"unmapped_by\":%u,\"freed\":%s,", label,
		 number, freed ? "true" : "false");
	snprintf(process, sizeof(process), ",\"process\":%d,", getpid());
	CHECK(strstr(need_line("findings", "{\"finding\":\"unmapped\"", part), process));
	need_finding("unmapped", part);
}

/* Jobs of a process whose context has faulted do not run: each has a fixture of its own. */
static struct fixture open_strict(void)
{
	drop_findings();
	CHECK_OK(debugfs_set_mode("strict"));
	return fx_open();
}

/* The fixture has made operations 1 and 2. */
static void unmapped_buffer_is_named_with_its_removal(void)
{
	struct fixture fx = open_strict();

	bind_named(&fx, PAGE, "victim", 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), 1);
	need_unmap(fx.fd, fx.vm, FX_FREE, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_unmapped("victim", 4, false);
	CHECK_OK(debugfs_set_mode("fast"));
}

static void freed_buffer_is_one(void)
{
	struct fixture fx = open_strict();
	const u32 handle = bind_named(&fx, PAGE, "victim", 0);

	CHECK_OK(gpu_bo_close(fx.fd, handle));
	need_unmap(fx.fd, fx.vm, FX_FREE, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_unmapped("victim", 4, true);
	CHECK_OK(debugfs_set_mode("fast"));
}

static void removal_while_the_gpu_sleeps_is_described(void)
{
	struct fixture fx = open_strict();

	bind_named(&fx, PAGE, "sleeper", 0);
	need_gpu_asleep();
	need_unmap(fx.fd, fx.vm, FX_FREE, PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_unmapped("sleeper", 4, false);
	CHECK_OK(debugfs_set_mode("fast"));
}

static void asynchronous_removal_is_described(void)
{
	struct fixture fx = open_strict();
	const u32 done = need_sync(fx.fd);
	const struct drm_pumice_sync signal = then_signal(done, 0);
	const struct drm_pumice_bind_op op = bind_unmap(FX_FREE, PAGE);

	bind_named(&fx, PAGE, "later", 0);
	need_gpu_asleep();
	CHECK_OK(gpu_bind_async(fx.fd, fx.vm, &op, 1, &signal, 1));
	need_wait(fx.fd, done, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_unmapped("later", 4, false);
	CHECK_OK(debugfs_set_mode("fast"));
}

/* The last 7 of 32 words are after the end. */
static void access_past_the_end_is_found(void)
{
	struct fixture fx = open_strict();
	char part[96];

	bind_named(&fx, PAGE + TAIL, "short", 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), 1);
	CHECK(!*debugfs_text("findings"));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + PAGE, 1)), 1);
	snprintf(part, sizeof(part), "\"va\":\"0x%llx\",\"label\":\"short\",\"end\":\"0x%llx\"",
		 FX_FREE + PAGE + TAIL, FX_FREE + PAGE + TAIL);
	need_finding("past-end", part);
	CHECK_OK(debugfs_set_mode("fast"));
}

/* A page of the heap that begins in the middle of the buffer has the same end. */
static void end_of_a_part_is_found(void)
{
	struct fixture fx = open_strict();
	const u32 handle = need_bo(fx.fd, PAGE + TAIL);

	need_map(fx.fd, fx.vm, handle, PAGE, FX_FREE, PAGE, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), 1);
	need_finding("past-end", "\"end\":\"0x40000064\"");
	/* In its place, a buffer that fills the page. */
	bind_named(&fx, PAGE, "whole", 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), 1);
	CHECK(!*debugfs_text("findings"));
	CHECK_OK(debugfs_set_mode("fast"));
}

/* The GPU has dropped all descriptions, or never had one. */
static void buffers_are_described_when_the_mode_changes(void)
{
	struct fixture fx;
	u32 handle;

	drop_findings();
	fx = fx_open();
	handle = bind_named(&fx, PAGE, "early", DRM_PUMICE_BIND_READONLY);
	CHECK_OK(debugfs_set_mode("strict"));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_finding("read-only-store", "\"label\":\"early\"");
	CHECK_OK(debugfs_set_mode("counted"));
	gpu_set_label(fx.fd, handle, "later");
	CHECK_OK(debugfs_set_mode("strict"));
	fx.context = need_context(fx.fd, fx.vm);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_finding("read-only-store", "\"label\":\"later\"");
	gpu_set_label(fx.fd, handle, "a name of 63 characters, which is as long as one can be, all of");
	fx.context = need_context(fx.fd, fx.vm);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	need_finding("read-only-store", "\"label\":\"a name of 63 characters, which is as long as one "
					"can be, all of\"");
	CHECK_OK(debugfs_set_mode("fast"));
}

/*
 * Store to a page at FX_FREE that is read only, until the finding has the name: all buffers are
 * described at the same time as the first jobs run.
 */
static void need_name(struct fixture *fx, const char *label)
{
	char part[96];
	unsigned int i;

	snprintf(part, sizeof(part), "\"label\":\"%s\"", label);
	for (i = 0; i < 100; i++) {
		CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, FX_FREE, 1)), -EIO);
		if (strstr(debugfs_text("findings"), part))
			break;
		drop_findings();
		fx->context = need_context(fx->fd, fx->vm);
	}
	need_finding("read-only-store", part);
}

/*
 * The host changes the mode twice while the GPU is awake: it is that of before, and there are no
 * descriptions. Another VM has one before the driver reads the mode again.
 */
static void buffers_are_described_after_another_change_of_the_mode(void)
{
	struct fixture fx = open_strict(), other = fx_open();

	bind_named(&fx, PAGE, "early", DRM_PUMICE_BIND_READONLY);
	CHECK_OK(power_set("control", "on"));
	CHECK(power_is("active"));
	need_register_written(PUMICE_SYS_MODE, PUMICE_MODE_FAST);
	need_register_written(PUMICE_SYS_MODE, PUMICE_MODE_STRICT);
	bind_named(&other, PAGE, "other", 0);
	need_vm(fx.fd);
	need_name(&fx, "early");
	CHECK_OK(power_set("control", "auto"));
	CHECK_OK(debugfs_set_mode("fast"));
}

static void names_of_a_sleeping_gpu_are_described_when_it_wakes(void)
{
	struct fixture fx = open_strict();
	const u32 handle = bind_named(&fx, PAGE, "former", DRM_PUMICE_BIND_READONLY);

	need_gpu_asleep();
	gpu_set_label(fx.fd, handle, "latter");
	need_name(&fx, "latter");
	CHECK_OK(debugfs_set_mode("fast"));
}

/* More than the GPU keeps: the last ones have no name, and no end either. */
static void removals_of_many_mappings_are_described(void)
{
	struct fixture fx = open_strict();
	const u32 handle = need_bo(fx.fd, TAIL);
	u64 page;

	gpu_set_label(fx.fd, handle, "many");
	for (page = 0; page < 1100; page++)
		need_map(fx.fd, fx.vm, handle, 0, FX_FREE + page * PAGE, PAGE, 0);
	need_unmap(fx.fd, fx.vm, FX_FREE, 1100 * PAGE);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + 1000 * PAGE, 1)), -EIO);
	need_finding("unmapped", "\"label\":\"many\",\"unmapped_by\":1103,");
	fx.context = need_context(fx.fd, fx.vm);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + 1099 * PAGE, 1)), -EIO);
	need_finding("unmapped", "\"va\":\"0x4044b000\",\"unmapped_by\":1103,");
	need_map(fx.fd, fx.vm, need_bo(fx.fd, PAGE), 0, FX_FREE + 1099 * PAGE, PAGE, 0);
	fx.context = need_context(fx.fd, fx.vm);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + 1099 * PAGE, 1)), 1);
	CHECK(!*debugfs_text("findings"));
	CHECK_OK(debugfs_set_mode("fast"));
}

/* The page tables of an address space often have the memory of the one before. */
static void new_vms_have_no_descriptions(void)
{
	struct fixture fx = open_strict();
	unsigned int i;

	bind_named(&fx, TAIL, "former", 0);
	need_unmap(fx.fd, fx.vm, FX_FREE, PAGE);
	fx_close(&fx);
	for (i = 0; i < 8; i++) {
		const char *line;

		fx = fx_open();
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
		line = need_line("findings", "{\"finding\":\"unmapped\"", "");
		CHECK(!strstr(line, "former") && !strstr(line, "unmapped_by"));
		drop_findings();
		fx_close(&fx);
	}
	CHECK_OK(debugfs_set_mode("fast"));
}

/* A thread that changes one VM, which others do, too, until it is stopped. */
struct changer {
	const struct fixture *fx;
	pthread_t thread;
	u64 va;
	unsigned int rounds;
};

static _Atomic bool stopped;

/* Buffers are named, bound over each other, unmapped and freed, also while they are bound. */
static void *change_vm(void *argument)
{
	struct changer *c = argument;
	const int fd = c->fx->fd;
	u32 handle, vm;

	for (c->rounds = 0; !atomic_load(&stopped) || !c->rounds; c->rounds++) {
		handle = need_bo(fd, 2 * PAGE + TAIL);
		gpu_set_label(fd, handle, "contended");
		need_map(fd, c->fx->vm, handle, 0, c->va, 3 * PAGE, 0);
		need_map(fd, c->fx->vm, handle, PAGE, c->va + PAGE, 2 * PAGE, 0);
		vm = need_vm(fd);
		need_map(fd, vm, handle, 0, FX_FREE, PAGE, 0);
		if (c->rounds % 2)
			need_unmap(fd, c->fx->vm, c->va, 2 * PAGE);
		CHECK_OK(gpu_bo_close(fd, handle));
		CHECK_OK(gpu_vm_destroy(fd, vm));
	}
	return NULL;
}

/* All calls that describe buffers, against each other and changes of the mode. */
static void descriptions_race_with_changes_of_the_mode(void)
{
	struct fixture fx = open_strict();
	struct changer changer[CHANGERS] = { 0 };
	unsigned int i;

	atomic_store(&stopped, false);
	for (i = 0; i < CHANGERS; i++) {
		/* Two of them have the same addresses. */
		changer[i] = (struct changer){ .fx = &fx, .va = FX_FREE + i / 2 * MIB };
		CHECK_OK(-pthread_create(&changer[i].thread, NULL, change_vm, &changer[i]));
	}
	for (i = 0; i < CHANGES; i++) {
		CHECK_OK(debugfs_set_mode(i % 2 ? "strict" : "fast"));
		fx_check_works(&fx);
	}
	atomic_store(&stopped, true);
	for (i = 0; i < CHANGERS; i++)
		CHECK_OK(-pthread_join(changer[i].thread, NULL));
	/* The VM is described as it is now. */
	need_unmap(fx.fd, fx.vm, FX_FREE, 2 * MIB);
	drop_findings();
	bind_named(&fx, PAGE + TAIL, "last", 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + PAGE, 1)), 1);
	need_finding("past-end", "\"label\":\"last\"");
	CHECK_OK(debugfs_set_mode("fast"));
}

static const struct test_case cases[] = {
	TEST_CASE(findings_are_kept_until_they_are_dropped),
	TEST_CASE(unmapped_buffer_is_named_with_its_removal),
	TEST_CASE(freed_buffer_is_one),
	TEST_CASE(removal_while_the_gpu_sleeps_is_described),
	TEST_CASE(asynchronous_removal_is_described),
	TEST_CASE(access_past_the_end_is_found),
	TEST_CASE(end_of_a_part_is_found),
	TEST_CASE(buffers_are_described_when_the_mode_changes),
	TEST_CASE(buffers_are_described_after_another_change_of_the_mode),
	TEST_CASE(names_of_a_sleeping_gpu_are_described_when_it_wakes),
	TEST_CASE(removals_of_many_mappings_are_described),
	TEST_CASE(new_vms_have_no_descriptions),
	TEST_CASE(descriptions_race_with_changes_of_the_mode),
};

TEST_MAIN(cases)
