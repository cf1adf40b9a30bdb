// SPDX-License-Identifier: MIT
/*
 * Mode strict: errors of a driver in the kernel CCB and in update objects, which the firmware
 * reports; and no finding of a driver without errors.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "pumice_regs.h"

static const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };

/* A context whose job never ends, in mode strict. */
struct driver {
	struct fixture *r;
	struct fx_vm vm;
	struct fx_context c;
};

static void set_up(struct driver *d)
{
	d->r = fx_with_context(&d->vm, &d->c);
	assert_int_equal(pumice_gpu_set_mode(d->r->gpu, "strict"), 0);
	/* The firmware reads the mode when it wakes up. */
	fx_kick(d->r);
	assert_true(fx_run(d->r));
}

static void tear_down(struct driver *d)
{
	fx_destroy(d->r);
}

static void has_no_finding(const struct driver *d)
{
	char text[PUMICE_FINDING_BYTES];

	if (pumice_gpu_finding(d->r->gpu, 0, text))
		fail_msg("%s", text);
}

/* The only finding has these words. */
static void has_finding(const struct driver *d, const char *words)
{
	char text[PUMICE_FINDING_BYTES];

	assert_true(pumice_gpu_finding(d->r->gpu, 0, text));
	if (!strstr(text, words))
		fail_msg("%s: %s", words, text);
	assert_false(pumice_gpu_finding(d->r->gpu, 1, text));
}

/* More commands than there are slots, in pieces of every size, jobs and updates. */
static void a_right_driver_has_no_finding(void **state)
{
	struct driver d;
	u32 n, i;

	(void)state;
	set_up(&d);
	for (n = 1; n < FX_KCCB; n++) {
		for (i = 0; i < n - 1; i++)
			fx_put(d.r, &ping);
		fx_compute(&d.c, FX_STREAM_VA, n);
		fx_update(&d.c, d.c.object_addr, n);
		fx_submit(d.r, &d.c);
		assert_int_equal(*d.c.object, n);
	}
	assert_true(fx_run(d.r));
	has_no_finding(&d);
	tear_down(&d);
}

/* The write index and the kick are visible before the slot: no barrier between them. */
static void a_slot_that_is_not_written_is_found(void **state)
{
	struct driver d;
	u32 slot, n;

	(void)state;
	set_up(&d);
	for (n = 0; n < FX_KCCB; n++)
		assert_int_equal(fx_call(d.r, &ping), FWIF_STATUS_OK);
	has_no_finding(&d);
	slot = d.r->kccb_ring->write;
	d.r->kccb_ring->write = (slot + 1) % FX_KCCB;
	fx_kick(d.r);
	assert_true(fx_run(d.r));
	has_finding(&d, "{\"finding\":\"ccb-not-written\",\"unit\":\"fw\"");
	fx_assert_alive(d.r);
	tear_down(&d);
}

/* Let the firmware wait at a command: that which kills the context of an endless job. */
static u32 put_slow_command(struct driver *d)
{
	const struct fwif_kccb_cmd kill = {
		.type = FWIF_KCCB_CONTEXT_KILL, .context = d->c.addr,
	};
	u32 slot;

	fx_vm_endless(&d->vm);
	fx_compute(&d->c, FX_STREAM_VA, 1);
	fx_put_kick(d->r, &d->c);
	fx_kick(d->r);
	fx_steps(d->r, 200);
	slot = fx_put(d->r, &kill);
	fx_kick(d->r);
	return slot;
}

/* A slot that the firmware has not read is written again. */
static void a_slot_that_is_written_twice_is_found(void **state)
{
	struct driver d;
	char words[128];
	u32 slot;

	(void)state;
	set_up(&d);
	put_slow_command(&d);
	slot = fx_put(d.r, &ping);
	while (d.r->kccb_ring->read != slot && d.r->kccb_status[(slot + FX_KCCB - 1) % FX_KCCB] !=
						       FWIF_STATUS_OK) {
		fx_steps(d.r, 1);
		d.r->kccb[slot].pages = 7;	/* as another command */
	}
	assert_true(fx_run(d.r));
	snprintf(words, sizeof(words), "{\"finding\":\"ccb-overrun\",\"unit\":\"fw\","
				       "\"virtual_gpu\":0,\"context\":0,"
				       "\"object\":\"0x%x\",\"slot\":%u,\"command\":%u,",
		 (u32)(d.r->boot->kccb + slot * sizeof(ping)), slot, FWIF_KCCB_PING);
	has_finding(&d, words);
	tear_down(&d);
}

/* More commands than there is room for: the write index passes the read index. */
static void a_write_index_that_passes_the_read_index_is_found(void **state)
{
	struct driver d;
	u32 slot, n;

	(void)state;
	set_up(&d);
	slot = put_slow_command(&d);
	for (n = 0; n < FX_KCCB - 2; n++)
		fx_put(d.r, &ping);
	fx_kick(d.r);
	fx_steps(d.r, 3);
	assert_int_equal(d.r->kccb_ring->read, slot);
	has_no_finding(&d);
	d.r->kccb_ring->write = (slot + 1) % FX_KCCB;
	fx_kick(d.r);
	assert_true(fx_run(d.r));
	has_finding(&d, "{\"finding\":\"ccb-overrun\",\"unit\":\"fw\"");
	tear_down(&d);
}

/* The object of a job that has ended is used for another one, with a value that it has. */
static void an_update_object_that_does_not_advance_is_found(void **state)
{
	struct driver d;
	char words[128];

	(void)state;
	set_up(&d);
	fx_update(&d.c, d.c.object_addr, 5);
	fx_submit(d.r, &d.c);
	has_no_finding(&d);
	fx_update(&d.c, d.c.object_addr, 4);
	fx_submit(d.r, &d.c);
	snprintf(words, sizeof(words), "{\"finding\":\"update-reused\",\"unit\":\"fw\","
				       "\"virtual_gpu\":0,\"context\":0,"
				       "\"object\":\"0x%x\",\"value\":4,\"reached\":5,",
		 d.c.object_addr);
	has_finding(&d, words);
	fx_update(&d.c, d.c.object_addr, 4);
	fx_submit(d.r, &d.c);
	has_finding(&d, "\"times\":2}");
	tear_down(&d);
}

/* Values wrap. */
static void an_update_to_a_later_value_has_no_finding(void **state)
{
	struct driver d;

	(void)state;
	set_up(&d);
	*d.c.object = 0xfffffffe;
	fx_update(&d.c, d.c.object_addr, 0xffffffff);
	fx_update(&d.c, d.c.object_addr, 3);
	fx_submit(d.r, &d.c);
	assert_int_equal(*d.c.object, 3);
	has_no_finding(&d);
	tear_down(&d);
}

/* Slots that were passed in another mode, and the host's changes of its own ones. */
static void slots_of_another_mode_have_no_finding(void **state)
{
	struct driver d;
	u32 slot;

	(void)state;
	set_up(&d);
	fx_assert_alive(d.r);
	assert_int_equal(pumice_gpu_set_mode(d.r->gpu, "fast"), 0);
	slot = d.r->kccb_ring->write;
	assert_int_equal(fx_call(d.r, &ping), FWIF_STATUS_OK);
	assert_int_equal(d.r->kccb[slot].type, FWIF_KCCB_PING);
	fx_update(&d.c, d.c.object_addr, 5);
	fx_update(&d.c, d.c.object_addr, 5);
	fx_submit(d.r, &d.c);
	d.r->kccb[d.r->kccb_ring->write].type = FWIF_KCCB_PING;
	assert_int_equal(pumice_gpu_set_mode(d.r->gpu, "strict"), 0);
	fx_kick(d.r);
	assert_true(fx_run(d.r));
	fx_assert_alive(d.r);
	has_no_finding(&d);
	tear_down(&d);
}

/* Two virtual GPUs in mode strict, of which number 1 is connected. */
static struct fixture *two_virtual_gpus(struct fixture **r)
{
	struct fixture *guest;

	*r = fx_booted_oses(2);
	guest = fx_guest(*r, 1);
	assert_int_equal(pumice_gpu_set_mode((*r)->gpu, "strict"), 0);
	fx_kick(*r);
	assert_true(fx_run(*r));
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	return guest;
}

/* The ring of the new connection begins with its first slot again. */
static void a_virtual_gpu_that_connects_again_has_a_new_ccb(void **state)
{
	struct driver d = { 0 };
	struct fixture *guest = two_virtual_gpus(&d.r);
	u32 n;

	(void)state;
	for (n = 0; n < 5; n++)
		assert_int_equal(fx_call(guest, &ping), FWIF_STATUS_OK);
	assert_int_equal(fx_disconnect(guest), FWIF_STATE_OFF);
	guest->kccb_ring->write = 0;
	assert_int_equal(fx_connect(guest), FWIF_STATE_READY);
	for (n = 0; n < FX_KCCB; n++)
		assert_int_equal(fx_call(guest, &ping), FWIF_STATUS_OK);
	has_no_finding(&d);
	tear_down(&d);
}

static void a_finding_has_the_virtual_gpu_of_its_ccb(void **state)
{
	struct driver d = { 0 };
	struct fixture *guest = two_virtual_gpus(&d.r);
	u32 n;

	(void)state;
	for (n = 0; n < FX_KCCB; n++)
		assert_int_equal(fx_call(guest, &ping), FWIF_STATUS_OK);
	guest->kccb_ring->write = (guest->kccb_ring->write + 1) % FX_KCCB;
	fx_kick(guest);
	assert_true(fx_run(d.r));
	has_finding(&d, "\"virtual_gpu\":1");
	tear_down(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_driver_has_no_finding),
		cmocka_unit_test(a_slot_that_is_not_written_is_found),
		cmocka_unit_test(a_slot_that_is_written_twice_is_found),
		cmocka_unit_test(a_write_index_that_passes_the_read_index_is_found),
		cmocka_unit_test(an_update_object_that_does_not_advance_is_found),
		cmocka_unit_test(an_update_to_a_later_value_has_no_finding),
		cmocka_unit_test(slots_of_another_mode_have_no_finding),
		cmocka_unit_test(a_virtual_gpu_that_connects_again_has_a_new_ccb),
		cmocka_unit_test(a_finding_has_the_virtual_gpu_of_its_ccb),
	};

	return cmocka_run_group_tests_name("firmware strict", tests, NULL, NULL);
}
