// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the rings. Part of pumice_ccb.c.
 *
 * The test acts as the firmware: it writes the firmware's index and replies.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include <kunit/test.h>

#include "pumice_fw_mem.h"
#include "pumice_irq.h"
#include "tests/pumice_test_fw.h"

/* One entry remains unused, so that a full ring differs from an empty one. */
#define ROOM	(PUMICE_KCCB_COUNT - 1)

/* Create a device whose registers and shared memory are plain memory. */
static struct pumice_device *ccb_fixture(struct kunit *test)
{
	struct pumice_device *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pumice_kccb_init(pdev);
	pumice_test_boot(test, pdev);
	return pdev;
}

static bool is_rung(struct pumice_device *pdev)
{
	return pumice_read(pdev, PUMICE_OS_SCHEDULE) == PUMICE_OS_SCHEDULE__KICK__MASK;
}

static u32 free_entries(struct pumice_device *pdev)
{
	u32 entries;

	spin_lock(&pdev->kccb.lock);
	entries = ccb_free_entries_locked(pdev);
	spin_unlock(&pdev->kccb.lock);
	return entries;
}

/* Send one command; returns the index of its entry. */
static u32 send(struct kunit *test, struct pumice_device *pdev)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	u32 entry = pdev->kccb.write;

	KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
	KUNIT_ASSERT_EQ(test, pumice_kccb_push_reserved(pdev, &cmd), 0);
	return entry;
}

/* Read an entry and reply to it, as the firmware. */
static void reply_to_entry(struct pumice_device *pdev, u32 entry)
{
	pdev->fw.shared->kccb_status[entry] = FWIF_STATUS_OK;
}

static void read_all(struct pumice_device *pdev)
{
	pdev->fw.shared->kccb_ring.read = pdev->kccb.write;
}

static void empty_ring_has_room_for_all_but_one(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);

	KUNIT_EXPECT_EQ(test, free_entries(pdev), ROOM);
}

static void full_ring_takes_no_reservation(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	u32 i;

	for (i = 0; i < ROOM; i++)
		send(test, pdev);
	KUNIT_EXPECT_EQ(test, free_entries(pdev), 0);
	KUNIT_EXPECT_EQ(test, ccb_try_reserve(pdev), -EAGAIN);
}

static void reservations_count_as_taken(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	u32 i;

	for (i = 0; i < ROOM; i++)
		KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
	KUNIT_EXPECT_EQ(test, ccb_try_reserve(pdev), -EAGAIN);
	pumice_kccb_cancel(pdev);
	KUNIT_EXPECT_EQ(test, ccb_try_reserve(pdev), 0);
	KUNIT_EXPECT_EQ(test, pdev->kccb.reserved, ROOM);
}

static void ring_wraps_around(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	u32 i;

	for (i = 0; i < 3 * PUMICE_KCCB_COUNT; i++) {
		u32 entry = send(test, pdev);

		KUNIT_ASSERT_EQ(test, entry, i % PUMICE_KCCB_COUNT);
		read_all(pdev);
		reply_to_entry(pdev, entry);
		pumice_kccb_collect(pdev);
		KUNIT_ASSERT_EQ(test, free_entries(pdev), ROOM);
	}
}

/* An entry is free when all entries before it have replies, too. */
static void replies_out_of_order_free_in_order(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	u32 entries[3], i;

	for (i = 0; i < ARRAY_SIZE(entries); i++)
		entries[i] = send(test, pdev);
	read_all(pdev);
	reply_to_entry(pdev, entries[2]);
	reply_to_entry(pdev, entries[1]);
	pumice_kccb_collect(pdev);
	KUNIT_EXPECT_EQ(test, free_entries(pdev), ROOM - 3);
	reply_to_entry(pdev, entries[0]);
	pumice_kccb_collect(pdev);
	KUNIT_EXPECT_EQ(test, free_entries(pdev), ROOM);
}

/* An entry with a reply that the index shows as unread is not overwritten. */
static void firmware_index_is_never_overtaken(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	u32 i;

	for (i = 0; i < 10; i++)
		reply_to_entry(pdev, send(test, pdev));
	pumice_kccb_collect(pdev);
	KUNIT_EXPECT_EQ(test, free_entries(pdev), ROOM - 10);
	pdev->fw.shared->kccb_ring.read = 4;
	KUNIT_EXPECT_EQ(test, free_entries(pdev), ROOM - 6);
}

static void firmware_index_out_of_range_gives_no_room(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);

	pdev->fw.shared->kccb_ring.read = PUMICE_KCCB_COUNT;
	KUNIT_EXPECT_EQ(test, free_entries(pdev), 0);
	pdev->fw.shared->kccb_ring.read = U32_MAX;
	KUNIT_EXPECT_EQ(test, free_entries(pdev), 0);
	KUNIT_EXPECT_EQ(test, ccb_try_reserve(pdev), -EAGAIN);
}

static void closed_ring_cancels(struct kunit *test)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	struct pumice_device *pdev = ccb_fixture(test);

	KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
	pumice_kccb_close(pdev);
	KUNIT_EXPECT_EQ(test, ccb_try_reserve(pdev), -ECANCELED);
	KUNIT_EXPECT_EQ(test, pumice_kccb_push_reserved(pdev, &cmd), -ECANCELED);
	KUNIT_EXPECT_EQ(test, pdev->kccb.reserved, 0);
	KUNIT_EXPECT_EQ(test, pdev->kccb.write, 0);
	KUNIT_EXPECT_FALSE(test, is_rung(pdev));
}

/* A caller with a lock rings later. */
static void appended_command_is_visible_but_not_rung(struct kunit *test)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	struct pumice_device *pdev = ccb_fixture(test);

	KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
	KUNIT_ASSERT_EQ(test, pumice_kccb_append_reserved(pdev, &cmd), 0);
	KUNIT_EXPECT_EQ(test, pdev->fw.shared->kccb_ring.write, 1);
	KUNIT_EXPECT_FALSE(test, is_rung(pdev));
	pumice_kccb_ring(pdev);
	KUNIT_EXPECT_TRUE(test, is_rung(pdev));
}

static void pushed_command_is_rung(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);

	send(test, pdev);
	KUNIT_EXPECT_TRUE(test, is_rung(pdev));
}

static void closing_aborts_waiters(struct kunit *test)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	struct pumice_kccb_wait wait = { .status = FWIF_STATUS_PENDING };
	struct pumice_device *pdev = ccb_fixture(test);

	KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
	KUNIT_ASSERT_EQ(test, ccb_push(pdev, &cmd, &wait), 0);
	KUNIT_EXPECT_FALSE(test, ccb_reply_seen(pdev, &wait));
	pumice_kccb_close(pdev);
	KUNIT_EXPECT_TRUE(test, ccb_reply_seen(pdev, &wait));
	KUNIT_EXPECT_TRUE(test, wait.aborted);
}

static void reply_wakes_only_its_waiter(struct kunit *test)
{
	const struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	struct pumice_kccb_wait waits[2] = {
		{ .status = FWIF_STATUS_PENDING }, { .status = FWIF_STATUS_PENDING },
	};
	struct pumice_device *pdev = ccb_fixture(test);
	u32 i;

	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, ccb_try_reserve(pdev), 0);
		KUNIT_ASSERT_EQ(test, ccb_push(pdev, &cmd, &waits[i]), 0);
	}
	pdev->fw.shared->kccb_status[1] = FWIF_STATUS_BUSY;
	KUNIT_EXPECT_FALSE(test, ccb_reply_seen(pdev, &waits[0]));
	KUNIT_EXPECT_TRUE(test, ccb_reply_seen(pdev, &waits[1]));
	KUNIT_EXPECT_EQ(test, waits[1].status, FWIF_STATUS_BUSY);
	ccb_remove_waiter(pdev, &waits[0]);
	pdev->fw.shared->kccb_status[0] = FWIF_STATUS_OK;
	pumice_kccb_collect(pdev);
	KUNIT_EXPECT_EQ(test, waits[0].status, FWIF_STATUS_PENDING);
}

#define MESSAGES	5u	/* on both sides of the ring's end */

/* Each message requests pages for a list of its own, to which there is no other reference. */
static void messages_are_read_across_the_end_of_the_ring(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	struct pumice_fw_shared *s = pdev->fw.shared;
	struct pumice_freelist *lists = kunit_kcalloc(test, MESSAGES, sizeof(*lists), GFP_KERNEL);
	struct pumice_fw_obj *objs = kunit_kcalloc(test, MESSAGES, sizeof(*objs), GFP_KERNEL);
	u32 i, at;

	KUNIT_ASSERT_NOT_NULL(test, lists);
	KUNIT_ASSERT_NOT_NULL(test, objs);
	spin_lock_init(&pdev->scenes_lock);
	INIT_LIST_HEAD(&pdev->free_lists);
	for (i = 0; i < MESSAGES; i++) {
		at = (PUMICE_FWCCB_COUNT - 2 + i) % PUMICE_FWCCB_COUNT;
		objs[i].addr = 4096 + 64 * i;
		lists[i].obj = &objs[i];
		list_add_tail(&lists[i].node, &pdev->free_lists);
		s->fwccb[at].type = FWIF_FWCCB_FREE_LIST_GROW;
		s->fwccb[at].code = objs[i].addr;
	}
	s->fwccb_ring.read = PUMICE_FWCCB_COUNT - 2;
	s->fwccb_ring.write = MESSAGES - 2;
	pumice_fwccb_drain(pdev);
	KUNIT_EXPECT_EQ(test, s->fwccb_ring.read, MESSAGES - 2);
	for (i = 0; i < MESSAGES; i++)
		KUNIT_EXPECT_TRUE_MSG(test, lists[i].wanted, "message %u", i);
	pumice_fwccb_drain(pdev);
	KUNIT_EXPECT_EQ(test, s->fwccb_ring.read, MESSAGES - 2);
}

/* A thread in pumice_kccb_call(). */
struct ccb_caller {
	struct pumice_device *pdev;
	struct completion done;
	int ret;
};

static int call_ping(void *data)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct ccb_caller *caller = data;

	caller->ret = pumice_kccb_call(caller->pdev, &ping);
	/* The module may be unloaded right after. */
	kthread_complete_and_exit(&caller->done, 0);
}

#define CALL_MS		2000u	/* time-out of each of the two waits, ms */
#define LATE_MS		(CALL_MS * 3 / 4)	/* duration of each of them, ms */
#define CALL_TRIES	10

/*
 * The ring has space after LATE_MS, the reply follows LATE_MS later. Returns the result of the
 * call; or -EAGAIN if this thread itself was late, so that the call may have timed out.
 */
static int call_on_full_ring(struct kunit *test)
{
	struct ccb_caller caller = { .pdev = ccb_fixture(test) };
	struct pumice_device *pdev = caller.pdev;
	unsigned long start, room, replied;
	struct task_struct *thread;
	u32 i, entry;

	for (i = 0; i < ROOM; i++)
		reply_to_entry(pdev, send(test, pdev));
	entry = pdev->kccb.write;
	init_completion(&caller.done);
	start = jiffies;
	thread = kthread_run(call_ping, &caller, "pumice-ccb-test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	msleep(LATE_MS);
	/* Entries with a reply, but not read, have blocked the call until now. */
	pdev->fw.shared->kccb_ring.read = entry;
	room = jiffies;
	wake_up_all(&pdev->kccb.event);
	msleep(LATE_MS);
	reply_to_entry(pdev, entry);
	replied = jiffies;
	wake_up_all(&pdev->kccb.event);
	wait_for_completion(&caller.done);
	if (room - start >= msecs_to_jiffies(CALL_MS) ||
	    replied - room >= msecs_to_jiffies(CALL_MS))
		return -EAGAIN;
	return caller.ret;
}

static void wait_for_room_does_not_wait_for_the_reply(struct kunit *test)
{
	const unsigned int usual = pumice_fw_timeout_ms;
	int ret = -EAGAIN;
	u32 i;

	pumice_fw_timeout_ms = CALL_MS;
	for (i = 0; i < CALL_TRIES && ret == -EAGAIN; i++)
		ret = call_on_full_ring(test);
	pumice_fw_timeout_ms = usual;
	KUNIT_EXPECT_EQ(test, ret, 0);
}

/* Create a device with an interrupt that is pending and enabled, but not delivered. */
static struct pumice_device *lost_interrupt_fixture(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);

	pdev->irq = -1;
	pumice_write(pdev, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_STATUS__FW__MASK);
	pumice_write(pdev, PUMICE_OS_IRQ_STATUS, PUMICE_OS_IRQ_STATUS__FW__MASK);
	return pdev;
}

static u32 cleared(struct pumice_device *pdev)
{
	return pumice_read(pdev, PUMICE_OS_IRQ_CLEAR);
}

/* A waiter processes messages for all others, once its wait has timed out. */
static void interrupt_of_a_late_reply_is_polled(struct kunit *test)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	struct pumice_device *pdev = lost_interrupt_fixture(test);
	const unsigned int usual = pumice_fw_timeout_ms;

	ccb_check_if_late(pdev, 2);
	KUNIT_EXPECT_EQ(test, cleared(pdev), 0);
	ccb_check_if_late(pdev, 1);
	KUNIT_EXPECT_EQ(test, cleared(pdev), PUMICE_OS_IRQ_STATUS__FW__MASK);
	pumice_write(pdev, PUMICE_OS_IRQ_CLEAR, 0);
	pumice_fw_timeout_ms = 100;
	KUNIT_EXPECT_EQ(test, pumice_kccb_call(pdev, &ping), -ETIMEDOUT);
	pumice_fw_timeout_ms = usual;
	KUNIT_EXPECT_EQ(test, cleared(pdev), PUMICE_OS_IRQ_STATUS__FW__MASK);
}

static void interrupt_is_polled_while_there_is_no_room(struct kunit *test)
{
	struct pumice_device *pdev = lost_interrupt_fixture(test);
	const unsigned int usual = pumice_fw_timeout_ms;
	u32 i;

	for (i = 0; i < ROOM; i++)
		send(test, pdev);
	pumice_fw_timeout_ms = 100;
	KUNIT_EXPECT_EQ(test, pumice_kccb_reserve(pdev), -ETIMEDOUT);
	pumice_fw_timeout_ms = usual;
	KUNIT_EXPECT_EQ(test, cleared(pdev), PUMICE_OS_IRQ_STATUS__FW__MASK);
}

/* Count the resets that were requested. */
static atomic_t ccb_resets;

static void ccb_count_reset(struct work_struct *work)
{
	atomic_inc(&ccb_resets);
}

/* Of a virtual GPU after a reset by number 0: one check, which requests its own reset. */
static void wait_for_room_ends_when_the_connection_is_lost(struct kunit *test)
{
	struct pumice_device *pdev = ccb_fixture(test);
	const unsigned int usual = pumice_fw_timeout_ms;
	u32 i;

	pdev->os = 1;
	pdev->fw.ready = true;
	pdev->reset.wq = system_unbound_wq;
	INIT_WORK(&pdev->reset.work, ccb_count_reset);
	atomic_set(&ccb_resets, 0);
	for (i = 0; i < ROOM; i++)
		send(test, pdev);
	pumice_write(pdev, PUMICE_OS_CTRL, 0);
	pumice_fw_timeout_ms = 4000;
	KUNIT_EXPECT_EQ(test, pumice_kccb_reserve(pdev), -ETIMEDOUT);
	pumice_fw_timeout_ms = usual;
	flush_work(&pdev->reset.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&ccb_resets), 1);
}

static struct kunit_case ccb_cases[] = {
	KUNIT_CASE(empty_ring_has_room_for_all_but_one),
	KUNIT_CASE(full_ring_takes_no_reservation),
	KUNIT_CASE(reservations_count_as_taken),
	KUNIT_CASE(ring_wraps_around),
	KUNIT_CASE(replies_out_of_order_free_in_order),
	KUNIT_CASE(firmware_index_is_never_overtaken),
	KUNIT_CASE(firmware_index_out_of_range_gives_no_room),
	KUNIT_CASE(closed_ring_cancels),
	KUNIT_CASE(appended_command_is_visible_but_not_rung),
	KUNIT_CASE(pushed_command_is_rung),
	KUNIT_CASE(closing_aborts_waiters),
	KUNIT_CASE(reply_wakes_only_its_waiter),
	KUNIT_CASE(messages_are_read_across_the_end_of_the_ring),
	KUNIT_CASE(interrupt_of_a_late_reply_is_polled),
	KUNIT_CASE(interrupt_is_polled_while_there_is_no_room),
	KUNIT_CASE(wait_for_room_ends_when_the_connection_is_lost),
	KUNIT_CASE_SLOW(wait_for_room_does_not_wait_for_the_reply),
	{}
};

static struct kunit_suite ccb_suite = {
	.name = "pumice_ccb",
	.test_cases = ccb_cases,
};

kunit_test_suite(ccb_suite);
