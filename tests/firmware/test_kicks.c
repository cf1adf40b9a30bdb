// SPDX-License-Identifier: MIT
/*
 * Kicks of virtual GPUs other than 0: the event of one is disabled from its interrupt until the
 * background loop looks for its work, so that it cannot take the time of others.
 */
#include "scene.h"

#include "regs/regs.h"

#define MAX_WRITES	64u
#define PINGS		50u

static u32 enabled[MAX_WRITES], writes;	/* of IC_ENABLE.HOST */

/* The linker replaces the device's own function by these. */
enum reg_after __real_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size)
{
	if (bus == PUMICE_REG_BUS_FW && offset == PUMICE_IC_ENABLE && writes < MAX_WRITES)
		enabled[writes++] = PUMICE_FIELD_GET(PUMICE_IC_ENABLE__HOST, value);
	return __real_regs_write(gpu, bus, os, offset, value, size);
}

static void a_kick_disables_its_event_until_work_was_looked_for(void **state)
{
	struct fixture *r = fx_booted_oses(3), *guest = fx_guest(r, 1);

	(void)state;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	writes = 0;
	fx_kick(guest);
	fx_run(r);
	assert_int_equal(writes, 2);
	assert_int_equal(enabled[0], 5);
	assert_int_equal(enabled[1], 7);
	/* Number 0 is trusted, and nothing is lost if its interrupt is. */
	writes = 0;
	fx_assert_alive(r);
	assert_int_equal(writes, 0);
	/* Not connected: its next kick or write of OS_CTRL is noticed. */
	assert_int_equal(fx_disconnect(guest), FWIF_STATE_OFF);
	fx_kick(guest);
	fx_run(r);
	assert_int_equal(enabled[writes - 1], 7);
	guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	fx_destroy(r);
}

/* At any time of the pass: each step ends somewhere in it. */
static void no_kick_is_lost(void **state)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct fixture *r = fx_booted_oses(2), *guest = fx_guest(r, 1);
	u32 i, entry;

	(void)state;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	for (i = 0; i < PINGS; i++) {
		fx_kick(guest);
		fx_steps(r, 1 + i % 7);
		entry = fx_put(guest, &ping);
		fx_kick(guest);
		fx_run(r);
		assert_int_equal(guest->kccb_status[entry], FWIF_STATUS_OK);
	}
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kick_disables_its_event_until_work_was_looked_for),
		cmocka_unit_test(no_kick_is_lost),
	};

	return cmocka_run_group_tests_name("kicks", tests, NULL, NULL);
}
