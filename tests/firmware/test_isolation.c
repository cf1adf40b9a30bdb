// SPDX-License-Identifier: MIT
/*
 * A hostile virtual GPU does not reach the memory of the next one, nor its interrupts: number 1
 * attacks, number 2 has the part of context 0 that follows.
 */
#include <string.h>

#include "fixture.h"
#include "perf.h"

#define EDGE	(2ull * PUMICE_OS_PART_SIZE)	/* between their parts */
#define PAGE	4096u
#define PRIORITIES	4000u	/* commands; a few of them are at the end of a slice */

struct neighbours {
	struct fixture *r, *guest, *victim;
	u8 *last;	/* page of number 1 before the edge */
	u32 *first;	/* of number 2 after it */
	u32 before[PAGE / 4];
};

static void *page_at(struct fixture *r, u64 addr)
{
	struct pumice_mmu_pt_entry pt;

	testmem_map(r->tm, 0, addr, PAGE, PUMICE_PAGE_SIZE_4K, 0);
	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(r->tm, 0, addr), &pt);
	return testmem_host(r->tm, pt.addr);
}

/* @minor: version of the interface of number 1's driver */
static void create(struct neighbours *n, u32 minor)
{
	n->r = fx_booted_oses(3);
	n->guest = fx_guest(n->r, 1);
	n->victim = fx_guest(n->r, 2);
	n->last = page_at(n->guest, EDGE - PAGE);
	n->first = page_at(n->victim, EDGE);
	n->guest->boot->version = FWIF_VERSION_MAJOR << 16 | minor;
	assert_int_equal(fx_connect(n->guest), FWIF_STATE_READY);
	assert_int_equal(fx_connect(n->victim), FWIF_STATE_READY);
}

static void note_victim(struct neighbours *n)
{
	memcpy(n->before, n->first, PAGE);
}

static void assert_victim_is_unchanged(struct neighbours *n)
{
	assert_memory_equal(n->before, n->first, PAGE);
	fx_destroy(n->r);
}

/* Return the fw address of a list of which all pages are allocated. */
static u32 put_list(struct fixture *r)
{
	struct pumice_free_list list = {
		.base = 0x300000, .pages = 10, .head = PUMICE_PM_NO_PAGE, .fresh = 10,
		.max_pages = 40,
	};
	u32 addr, i, *words, *links = fx_fw_alloc(r, 40 * 4, &addr);

	for (i = 0; i < 40; i++)
		links[i] = PUMICE_PM_NO_PAGE;
	list.links = addr;
	words = fx_fw_alloc(r, PUMICE_FREE_LIST_WORDS * 4, &addr);
	pumice_free_list_pack(words, &list);
	return addr;
}

static void a_released_scene_ends_in_its_virtual_gpu(void **state)
{
	struct pumice_scene scene = { .width = 64, .height = 64, .cores = 1,
				      .regions = 0x100000 };
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_SCENE_RELEASE };
	struct neighbours n;
	u32 i;

	(void)state;
	create(&n, FWIF_VERSION_MINOR);
	cmd.object = (u32)EDGE - 4 * PUMICE_SCENE_WORDS;
	scene.free_list0 = put_list(n.guest);
	pumice_scene_pack((u32 *)(n.last + PAGE - 4 * PUMICE_SCENE_WORDS), &scene);
	/* Valid as a chain of one page, and as chains without pages. */
	for (i = 0; i < 128; i += PUMICE_SCENE_CHAIN_WORDS) {
		struct pumice_scene_chain chain = {
			.head = i ? PUMICE_PM_NO_PAGE : 3, .tail = i ? PUMICE_PM_NO_PAGE : 3,
			.pages = !i,
		};

		pumice_scene_chain_pack(n.first + i, &chain);
	}
	note_victim(&n);
	assert_int_equal(fx_call(n.guest, &cmd), FWIF_STATUS_INVALID);
	assert_victim_is_unchanged(&n);
}

/*
 * Sizes depend on the version, which is read once. An access to memory of the victim would fail, as
 * it has none there, and the counters would be lost.
 */
static void counters_end_in_their_virtual_gpu(void **state)
{
	struct neighbours n;
	struct fx_context c;
	const u64 *counter;
	struct fx_vm vm;

	(void)state;
	create(&n, 7);
	*testmem_pt_entry(n.victim->tm, 0, EDGE) = 0;
	note_victim(&n);
	fx_vm(n.guest, &vm);
	fx_vm_groups(&vm, 60000, 400, false);
	fx_context(n.guest, &vm, 1, &c);
	fx_compute_perf(&c, FX_STREAM_VA, 1, (u32)EDGE - FWIF_PERF_BYTES_1_7);
	counter = (const u64 *)(const void *)(n.last + PAGE - FWIF_PERF_BYTES_1_7);
	fx_put_kick(n.guest, &c);
	fx_kick(n.guest);
	fx_steps(n.r, 300);
	assert_int_equal(n.guest->boot->jobs_started, 1);
	assert_int_equal(n.guest->boot->jobs_done, 0);
	n.guest->boot->version = FWIF_VERSION;
	fx_finish(n.r);
	assert_int_equal(fx_result(&c, 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_result(&c, 1)->groups, 60000);
	assert_int_equal(counter[PUMICE_PERF_CDM_GROUPS], 60000);
	assert_victim_is_unchanged(&n);
}

/*
 * Slices of both alternate. CONTEXT_PRIORITY reviews the slice, so its end can fall into the
 * command itself, for a few of PRIORITIES commands.
 */
static void a_command_raises_the_interrupt_of_its_sender(void **state)
{
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_CONTEXT_PRIORITY };
	struct fx_context c[2], idle;
	struct fixture *of[2];
	struct fx_vm vm[2];
	u32 n, i, entry;

	(void)state;
	of[0] = fx_booted_oses(2);
	of[1] = fx_guest(of[0], 1);
	of[0]->boot->slice_us = FWIF_SLICE_MIN_US;
	assert_int_equal(fx_connect(of[1]), FWIF_STATE_READY);
	for (i = 0; i < 2; i++) {
		fx_vm(of[i], &vm[i]);
		fx_vm_groups(&vm[i], 60000000, 40, false);
		fx_context(of[i], &vm[i], 1, &c[i]);
		fx_compute(&c[i], FX_STREAM_VA, 1);
		fx_put_kick(of[i], &c[i]);
		fx_kick(of[i]);
	}
	fx_context(of[1], &vm[1], 1, &idle);
	assert_int_equal(fx_call_context(of[1], FWIF_KCCB_KICK, &idle), FWIF_STATUS_OK);
	cmd.context = idle.addr;
	for (n = 0; n < PRIORITIES; n++) {
		const u32 commands = of[0]->boot->commands;

		pumice_gpu_mmio_write(of[0]->gpu, 1, PUMICE_OS_IRQ_CLEAR,
				      PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
		cmd.priority = n % 2;
		of[0]->clock += n * 7919 % 2000;
		entry = fx_put(of[1], &cmd);
		fx_kick(of[1]);
		while (of[1]->kccb_status[entry] == FWIF_STATUS_PENDING)
			fx_steps(of[0], 1);
		fx_steps(of[0], 20 + n * 31 % 40);
		assert_int_equal(of[0]->boot->commands, commands);
		assert_true(fx_reg(of[1], PUMICE_OS_IRQ_STATUS) &
			    PUMICE_OS_IRQ_STATUS__FW__MASK);
	}
	fx_destroy(of[0]);
}

static bool is_connected(struct fixture *guest)
{
	return fx_reg(guest, PUMICE_OS_CTRL) & PUMICE_OS_CTRL__CONNECTED__MASK;
}

/* As a guest that was reset, and does not have the memory of its former connection. */
static void a_guest_waits_for_the_end_of_its_former_connection(void **state)
{
	struct fixture *r = fx_booted_oses(2), *guest = fx_guest(r, 1);
	struct fx_context c;
	struct fx_vm vm;

	(void)state;
	assert_false(is_connected(guest));
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	fx_vm(guest, &vm);
	fx_vm_endless(&vm);
	fx_context(guest, &vm, 1, &c);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_put_kick(guest, &c);
	fx_kick(guest);
	fx_run(r);
	assert_true(is_connected(guest));
	pumice_gpu_mmio_write(r->gpu, 1, PUMICE_OS_CTRL, 0, 4);
	while (is_connected(guest)) {
		/* The job's result and OFF were not written yet, or just now. */
		assert_true(fx_reg(guest, PUMICE_OS_CTRL) == PUMICE_OS_CTRL__CONNECTED__MASK);
		fx_steps(r, 1);
	}
	assert_int_equal(fx_result(&c, 1)->fault, PUMICE_FAULT_KILLED);
	assert_int_equal(guest->boot->state, FWIF_STATE_OFF);
	/* Of a connection that ended without a report, too: its memory is lost. */
	guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	pumice_gpu_mmio_write(r->gpu, 1, PUMICE_OS_CATALOGUE, 0, 8);
	fx_kick(guest);
	fx_run(r);
	assert_true(is_connected(guest));
	pumice_gpu_mmio_write(r->gpu, 1, PUMICE_OS_CTRL, 0, 4);
	fx_run(r);
	assert_false(is_connected(guest));
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_released_scene_ends_in_its_virtual_gpu),
		cmocka_unit_test(counters_end_in_their_virtual_gpu),
		cmocka_unit_test(a_command_raises_the_interrupt_of_its_sender),
		cmocka_unit_test(a_guest_waits_for_the_end_of_its_former_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
