// SPDX-License-Identifier: MIT
/* MMU contexts of VMs: each job accesses its own VM, without stale translations. */
#include "fixture.h"

#include "pumice_formats.h"

#define VMS	40u	/* more than the 31 MMU contexts */
#define FEW	3u
#define MANY	20u

/* Run the context's stream once and return the fault. */
static u32 run(struct fixture *r, struct fx_context *c, u32 seqno)
{
	fx_compute(c, FX_STREAM_VA, seqno);
	fx_update(c, c->object_addr, seqno);
	fx_submit(r, c);
	assert_int_equal(*c->object, seqno);
	assert_int_equal(fx_result(c, seqno)->seqno, seqno);
	return fx_result(c, seqno)->fault;
}

static void more_vms_than_mmu_contexts_each_access_their_own_memory(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c[VMS];
	struct fx_vm vm[VMS];
	u32 i, round;

	(void)state;
	for (i = 0; i < VMS; i++) {
		fx_vm(r, &vm[i]);
		if (i % 2)
			fx_vm_faulty(&vm[i]);
		fx_context(r, &vm[i], 1, &c[i]);
	}
	for (round = 1; round <= 3; round++)
		for (i = 0; i < VMS; i++)
			assert_int_equal(run(r, &c[i], round),
					 i % 2 ? PUMICE_FAULT_CDM_COMMAND : PUMICE_FAULT_NONE);
	fx_destroy(r);
}

/*
 * Each VM's stream is at an address that no other VM uses until one is assigned
 * the same MMU context: the TLB still has translations of the old VM then.
 */
static void vm_with_a_reassigned_mmu_context_has_no_stale_translations(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c[VMS];
	struct fx_vm vm[VMS];
	u32 i, page;

	(void)state;
	for (i = 0; i < VMS; i++) {
		page = 2 + i % (PUMICE_MMU_CONTEXTS - 1);
		fx_vm(r, &vm[i]);
		if (i % 2)
			fx_vm_faulty(&vm[i]);
		vm[i].pt[page] = vm[i].pt[0];
		fx_context(r, &vm[i], 1, &c[i]);
		fx_compute(&c[i], FX_STREAM_VA + page * 4096, 1);
		fx_submit(r, &c[i]);
		assert_int_equal(fx_result(&c[i], 1)->seqno, 1);
		assert_int_equal(fx_result(&c[i], 1)->fault,
				 i % 2 ? PUMICE_FAULT_CDM_COMMAND : PUMICE_FAULT_NONE);
	}
	fx_destroy(r);
}

/* Number of times an MMU context was assigned to the context's VM, in the log since *@from. */
static u32 count_binds(struct fixture *r, const struct fx_context *c, u32 *from)
{
	u32 binds = 0;

	for (; *from != r->log_ring->write; ++*from) {
		const struct fwif_log_entry *e = &r->log[*from % FX_LOG];

		binds += e->event == FWIF_LOG_MMU_BIND && e->args[1] == c->f->id;
	}
	return binds;
}

static void oldest_mmu_context_is_reassigned(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c[VMS];
	struct fx_vm vm[VMS];
	u32 i, log = 0, binds = 0;

	(void)state;
	for (i = 0; i < VMS; i++) {
		fx_vm(r, &vm[i]);
		fx_context(r, &vm[i], 1, &c[i]);
	}
	for (i = 1; i < VMS; i++) {
		run(r, &c[0], i);
		binds += count_binds(r, &c[0], &log);
		run(r, &c[i], 1);
		binds += count_binds(r, &c[0], &log);
	}
	assert_int_equal(binds, 1);
	/* The last 30 others still have theirs; the ninth was reassigned. */
	run(r, &c[VMS - 30], 2);
	assert_int_equal(count_binds(r, &c[VMS - 30], &log), 0);
	run(r, &c[VMS - 31], 2);
	assert_int_equal(count_binds(r, &c[VMS - 31], &log), 1);
	fx_destroy(r);
}

static void vms_of_one_virtual_gpu_do_not_evict_those_of_another(void **state)
{
	struct fixture *r = fx_booted_oses(2), *guest = fx_guest(r, 1);
	struct fx_context own[FEW], c[VMS];
	struct fx_vm own_vm[FEW], vm[VMS];
	u32 i, log = 0;

	(void)state;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	for (i = 0; i < FEW; i++) {
		fx_vm(r, &own_vm[i]);
		fx_context(r, &own_vm[i], 1, &own[i]);
		run(r, &own[i], 1);
		assert_int_equal(count_binds(r, &own[i], &log), 1);
	}
	for (i = 0; i < VMS; i++) {
		fx_vm(guest, &vm[i]);
		fx_context(guest, &vm[i], 1, &c[i]);
		run(guest, &c[i], 1);
	}
	for (i = 0; i < FEW; i++) {
		run(r, &own[i], 2);
		assert_int_equal(count_binds(r, &own[i], &log), 0);
	}
	fx_destroy(r);
}

/* Others are served between any two: the heartbeat counts passes of the background loop. */
static void mmu_contexts_of_a_disconnected_virtual_gpu_are_released_one_by_one(void **state)
{
	struct fixture *r = fx_booted_oses(2), *guest = fx_guest(r, 1);
	struct fx_context c[MANY];
	struct fx_vm vm[MANY];
	u32 i, before;

	(void)state;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	for (i = 0; i < MANY; i++) {
		fx_vm(guest, &vm[i]);
		fx_context(guest, &vm[i], 1, &c[i]);
		run(guest, &c[i], 1);
	}
	before = r->boot->heartbeat;
	assert_int_equal(fx_disconnect(guest), FWIF_STATE_OFF);
	assert_in_range(r->boot->heartbeat - before, MANY, MANY + 10);
	for (i = 1; i < PUMICE_MMU_CONTEXTS; i++)
		assert_int_equal(fx_reg(r, PUMICE_MMU_CTX(i)), 0);
	fx_destroy(r);
}

static void contexts_of_one_vm_share_its_mmu_context(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &a);

	(void)state;
	fx_context(r, &vm, 1, &b);
	run(r, &a, 1);
	run(r, &b, 1);
	assert_int_equal(fx_result(&a, 1)->mmu_context, fx_result(&b, 1)->mmu_context);
	fx_destroy(r);
}

/* Map the stream's address to a page without a valid command. */
static void remap_to_code_page(struct fx_vm *vm)
{
	vm->pt[0] = vm->pt[1];
}

static void invalidate_makes_jobs_use_a_changed_mapping(void **state)
{
	static const struct {
		const char *what;
		u64 start, end;
	} cases[] = {
		{ "the page", FX_STREAM_VA, FX_STREAM_VA + 0xfff },
		{ "a range around it", FX_STREAM_VA - 0x4000, FX_STREAM_VA + 0x3fff },
		{ "a range that ends with it", FX_STREAM_VA - 0x4000, FX_STREAM_VA + 0xfff },
		{ "a range that begins with it", FX_STREAM_VA, FX_STREAM_VA + 0x7fff },
		{ "everything", 1, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *r = fx_booted();
		struct fwif_kccb_cmd cmd = {
			.type = FWIF_KCCB_MMU_INVALIDATE,
			.start = cases[i].start, .end = cases[i].end,
		};
		struct fx_context c;
		struct fx_vm vm;

		print_message("%s\n", cases[i].what);
		fx_vm(r, &vm);
		fx_context(r, &vm, 1, &c);
		assert_int_equal(run(r, &c, 1), PUMICE_FAULT_NONE);
		remap_to_code_page(&vm);
		/* TLB entries remain until they are invalidated. */
		assert_int_equal(run(r, &c, 2), PUMICE_FAULT_NONE);
		cmd.catalogue = vm.catalogue;
		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_OK);
		assert_int_equal(run(r, &c, 3), PUMICE_FAULT_CDM_COMMAND);
		fx_destroy(r);
	}
}

/* Only the requested range is invalidated: the pages around it remain in the TLB. */
static void invalidate_of_other_pages_changes_nothing(void **state)
{
	static const struct {
		u64 start, end;
	} cases[] = {
		{ FX_STREAM_VA + 0x1000, FX_STREAM_VA + 0x8fff },
		{ FX_STREAM_VA - 0x8000, FX_STREAM_VA - 1 },
	};
	struct fx_context c;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &c);
	u32 i;

	(void)state;
	assert_int_equal(run(r, &c, 1), PUMICE_FAULT_NONE);
	remap_to_code_page(&vm);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fwif_kccb_cmd cmd = {
			.type = FWIF_KCCB_MMU_INVALIDATE, .catalogue = vm.catalogue,
			.start = cases[i].start, .end = cases[i].end,
		};

		assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_OK);
		assert_int_equal(run(r, &c, 2 + i), PUMICE_FAULT_NONE);
	}
	fx_destroy(r);
}

static void released_vm_leaves_no_translations_for_the_next_at_its_address(void **state)
{
	struct fx_context a, b;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &a);

	(void)state;
	assert_int_equal(run(r, &a, 1), PUMICE_FAULT_NONE);
	assert_int_equal(fx_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &a), FWIF_STATUS_OK);
	assert_int_equal(fx_call_catalogue(r, FWIF_KCCB_VM_RELEASE, vm.catalogue),
			 FWIF_STATUS_OK);
	remap_to_code_page(&vm);
	fx_context(r, &vm, 1, &b);
	assert_int_equal(run(r, &b, 1), PUMICE_FAULT_CDM_COMMAND);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_vms_than_mmu_contexts_each_access_their_own_memory),
		cmocka_unit_test(vm_with_a_reassigned_mmu_context_has_no_stale_translations),
		cmocka_unit_test(oldest_mmu_context_is_reassigned),
		cmocka_unit_test(vms_of_one_virtual_gpu_do_not_evict_those_of_another),
		cmocka_unit_test(
			mmu_contexts_of_a_disconnected_virtual_gpu_are_released_one_by_one),
		cmocka_unit_test(contexts_of_one_vm_share_its_mmu_context),
		cmocka_unit_test(invalidate_makes_jobs_use_a_changed_mapping),
		cmocka_unit_test(invalidate_of_other_pages_changes_nothing),
		cmocka_unit_test(released_vm_leaves_no_translations_for_the_next_at_its_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
