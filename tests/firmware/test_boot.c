// SPDX-License-Identifier: MIT
/* Boot handshake: published fields, and boot structures that are refused. */
#include <string.h>

#include "fixture.h"

static void boot_reports_ready_with_version_and_build_id_of_the_file(void **state)
{
	struct fixture *r = fx_create();

	(void)state;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	assert_int_equal(r->boot->error, FWIF_ERROR_NONE);
	assert_int_equal(r->boot->fw_version, FWIF_VERSION);
	assert_int_equal(r->boot->active_context, FWIF_NO_CONTEXT);
	assert_memory_equal(r->boot->build_id, r->image.build_id, FWIF_BUILD_ID_BYTES);
	assert_true(strlen(r->boot->build_id) > 0);
	assert_int_equal(r->irqs, 1);
	fx_assert_alive(r);
	fx_destroy(r);
}

static void boot_accepts_another_minor_version(void **state)
{
	struct fixture *r = fx_create();

	(void)state;
	r->boot->version = FWIF_VERSION + 5;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	fx_destroy(r);
}

/* Boot @r: it must be refused with @error, and serve no command afterwards. */
static void assert_refused(struct fixture *r, u32 error)
{
	assert_int_equal(fx_boot(r), FWIF_STATE_REFUSED);
	assert_int_equal(r->boot->error, error);
	assert_int_equal(r->irqs, 1);
	r->kccb[0].type = FWIF_KCCB_PING;
	r->kccb_ring->write = 1;
	fx_kick(r);
	assert_true(fx_run(r));
	assert_int_equal(r->kccb_status[0], FWIF_STATUS_PENDING);
	fx_destroy(r);
}

static void boot_refuses_a_wrong_magic(void **state)
{
	struct fixture *r = fx_create();

	(void)state;
	r->boot->magic ^= 1;
	assert_refused(r, FWIF_ERROR_MAGIC);
}

static void boot_refuses_another_major_version_and_reports_its_own(void **state)
{
	struct fixture *r = fx_create();

	(void)state;
	r->boot->version += 1 << 16;
	assert_int_equal(fx_boot(r), FWIF_STATE_REFUSED);
	assert_int_equal(r->boot->error, FWIF_ERROR_VERSION);
	assert_int_equal(r->boot->fw_version, FWIF_VERSION);
	fx_destroy(r);
}

static void boot_refuses_a_bad_ring(void **state)
{
	static const struct {
		const char *what;
		size_t field;	/* of struct fwif_boot */
		u32 value;
	} cases[] = {
		{ "kccb ring at 0", offsetof(struct fwif_boot, kccb_ring), 0 },
		{ "kccb ring unmapped", offsetof(struct fwif_boot, kccb_ring), FX_FW_HOLE },
		{ "kccb ring misaligned", offsetof(struct fwif_boot, kccb_ring), 0x200002 },
		{ "kccb ring past the window", offsetof(struct fwif_boot, kccb_ring), 0x80000000 },
		{ "kccb ring across the end", offsetof(struct fwif_boot, kccb_ring), 0x7ffffff8 },
		{ "kccb at 0", offsetof(struct fwif_boot, kccb), 0 },
		{ "kccb unmapped", offsetof(struct fwif_boot, kccb), FX_FW_HOLE },
		{ "kccb misaligned", offsetof(struct fwif_boot, kccb), 0x200004 },
		{ "kccb mapped in part", offsetof(struct fwif_boot, kccb), 0x5fffc0 },
		{ "status at 0", offsetof(struct fwif_boot, kccb_status), 0 },
		{ "status unmapped", offsetof(struct fwif_boot, kccb_status), FX_FW_HOLE },
		{ "fwccb ring at 0", offsetof(struct fwif_boot, fwccb_ring), 0 },
		{ "fwccb unmapped", offsetof(struct fwif_boot, fwccb), FX_FW_HOLE },
		{ "log ring at 0", offsetof(struct fwif_boot, log_ring), 0 },
		{ "log unmapped", offsetof(struct fwif_boot, log), FX_FW_HOLE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *r = fx_create();

		print_message("%s\n", cases[i].what);
		memcpy((u8 *)r->boot + cases[i].field, &cases[i].value, 4);
		assert_refused(r, FWIF_ERROR_RING);
	}
}

static void boot_refuses_a_ring_count_not_a_power_of_two_or_out_of_range(void **state)
{
	static const u32 bad[] = { 0, 1, 3, 24, 2 * FWIF_RING_MAX, 0x80000000, 0xffffffff };
	size_t i, which;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (which = 0; which < 3; which++) {
			struct fixture *r = fx_create();
			struct fwif_ring *rings[] = { r->kccb_ring, r->fwccb_ring, r->log_ring };

			rings[which]->count = bad[i];
			assert_refused(r, FWIF_ERROR_RING);
		}
	}
}

static void boot_without_a_boot_structure_locks_up(void **state)
{
	static const u32 bad[] = { 0, 4, FX_FW_HOLE, 0x80000000, 0x7fffffc0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fixture *r = fx_create();

		r->boot_addr = bad[i];
		fx_boot(r);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE,
						  fx_reg(r, PUMICE_FW_STATUS)),
				 PUMICE_FW_STATE_LOCKUP);
		assert_true(fx_reg(r, PUMICE_OS_IRQ_STATUS) &
			    PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
		fx_destroy(r);
	}
}

static void unmapped_boot_structure_locks_the_firmware_up(void **state)
{
	struct fixture *r = fx_booted();

	(void)state;
	testmem_unmap(r->tm, 0, r->boot_addr & ~4095u, 4096);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL, 4);
	fx_kick(r);
	assert_true(fx_run(r));
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, fx_reg(r, PUMICE_FW_STATUS)),
			 PUMICE_FW_STATE_LOCKUP);
	fx_destroy(r);
}

static void unmapped_ring_stops_the_firmware_with_its_error_address(void **state)
{
	struct fixture *r = fx_create();
	struct fwif_ring *ring;

	(void)state;
	/* The ring is alone in its page. */
	r->fw_next = (r->fw_next + 4095) & ~4095u;
	ring = fx_fw_alloc(r, 4096, &r->boot->kccb_ring);
	ring->count = FX_KCCB;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	testmem_unmap(r->tm, 0, r->boot->kccb_ring, 4096);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL, 4);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
	fx_kick(r);
	assert_true(fx_run(r));
	assert_int_equal(r->boot->state, FWIF_STATE_FATAL);
	assert_int_equal(r->boot->error, FWIF_ERROR_TRAP);
	assert_int_equal(r->boot->error_info, 5);	/* load access fault */
	assert_in_range(r->boot->error_pc, 1, r->image.payload_bytes);
	assert_int_equal(r->irqs, 2);
	fx_destroy(r);
}

static void boot_after_a_stop_starts_again(void **state)
{
	struct fixture *r = fx_booted();

	(void)state;
	fx_assert_alive(r);
	assert_int_equal(r->kccb_ring->read, 1);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_FW_CTRL, 0, 4);
	fx_run(r);
	r->boot->state = FWIF_STATE_OFF;
	r->kccb_ring->write = 0;
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	assert_int_equal(r->kccb_ring->read, 0);
	fx_assert_alive(r);
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boot_reports_ready_with_version_and_build_id_of_the_file),
		cmocka_unit_test(boot_accepts_another_minor_version),
		cmocka_unit_test(boot_refuses_a_wrong_magic),
		cmocka_unit_test(boot_refuses_another_major_version_and_reports_its_own),
		cmocka_unit_test(boot_refuses_a_bad_ring),
		cmocka_unit_test(boot_refuses_a_ring_count_not_a_power_of_two_or_out_of_range),
		cmocka_unit_test(boot_without_a_boot_structure_locks_up),
		cmocka_unit_test(unmapped_boot_structure_locks_the_firmware_up),
		cmocka_unit_test(unmapped_ring_stops_the_firmware_with_its_error_address),
		cmocka_unit_test(boot_after_a_stop_starts_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
