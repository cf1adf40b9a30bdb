// SPDX-License-Identifier: MIT
/*
 * Fault injection on the whole GPU: each fault occurs at the requested place and as often as
 * requested, a reset of the GPU ends its effects, and the next job is correct.
 */
#include <errno.h>
#include <string.h>

#include "fwif.h"
#include "job.h"

#define DONE	PUMICE_IC_PENDING__CDM_DONE__MASK
#define GROUP	64u
#define GROUPS	8u
#define MS	1000000ull

static const struct job number = { .program = JOB_NUMBER, .group = GROUP, .groups = GROUPS };

struct inject_fixture {
	struct fixture *fx;
	u32 *data;
};

static struct inject_fixture inject_create(const struct fx_options *options)
{
	struct inject_fixture w = { .fx = fx_create(options) };

	w.data = job_map(w.fx);
	fx_boot_proxy(w.fx);
	return w;
}

static void request_fault(struct fixture *fx, const char *text)
{
	assert_int_equal(pumice_gpu_inject(fx->gpu, text), 0);
}

static u32 hits(struct fixture *fx, u32 kind)
{
	return (u32)fx_read(fx, PUMICE_INJ_HITS(kind));
}

static void check_data(const struct inject_fixture *w)
{
	u32 i;

	for (i = 0; i < GROUP * GROUPS; i++)
		assert_int_equal(w->data[i], job_number(i));
}

/* A job runs and computes the correct result. */
static void check_works(struct inject_fixture *w)
{
	memset(w->data, 0, GROUP * GROUPS * sizeof(u32));
	assert_int_equal(job_run(w->fx, &number), DONE);
	check_data(w);
}

/* Reset the GPU, and boot again. */
static void restart(struct inject_fixture *w)
{
	fx_write(w->fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	fx_setup_mmu(w->fx);
	fx_boot_proxy(w->fx);
}

/* A reset of the GPU ends the effects of the fault. */
static void check_cured(struct inject_fixture *w)
{
	restart(w);
	check_works(w);
}

/* Restart the firmware, without a reset of the GPU. */
static void boot_again(struct fixture *fx)
{
	fx_write(fx, PUMICE_FW_CTRL, 0);
	fx_write(fx, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK);
}

static void kick(struct fixture *fx)
{
	fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
}

static void wait_lockup(struct fixture *fx)
{
	fx_wait_reg(fx, PUMICE_FW_STATUS, PUMICE_FW_STATUS__STATE__MASK,
		    PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_LOCKUP));
}

/* The injected fault locks the firmware up at a kick. */
static void check_locks_up_at_kick(struct inject_fixture *w)
{
	kick(w->fx);
	wait_lockup(w->fx);
	check_cured(w);
}

static void check_running(struct fixture *fx)
{
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS),
			 PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_RUNNING));
}

/* Invalidate all translations. */
static void invalidate(struct fixture *fx)
{
	fx_write(fx, PUMICE_MMU_INVAL,
		 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_ALL));
}

static const struct fx_options usual = { .fault_injection = true };

static void requests_are_read_and_written_as_text(void **state)
{
	static const char *const bad[] = {
		"", "nothing", "unit-hang,", "unit-hang,where=host-irq", "unit-hang,where",
		"unit-hang,count=0", "unit-hang,count=-1", "unit-hang,count=1x", "unit-hang,bit=",
		"unit-hang,us=4294967296", "unit-hang,colour=red", "fw-trap,where=boot",
		"unit-hang where=cdm", "unit-hang,skip= 1", "unit-hang,skip=+1",
		"unit-hang,skip= -18446744073709551615",
	};
	struct fixture *fx = fx_create(&usual);
	char text[2048], shorter[12];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(pumice_gpu_inject(fx->gpu, bad[i]), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_int_equal(pumice_gpu_inject(fx->gpu, text), -EINVAL);
	pumice_gpu_injected(fx->gpu, text, sizeof(text));
	assert_string_equal(text, "");
	request_fault(fx, "unit-hang,where=tdm,skip=2");
	request_fault(fx, "late-end,us=70000,count=endless");
	pumice_gpu_injected(fx->gpu, text, sizeof(text));
	assert_string_equal(text, "unit-hang,where=tdm,bit=0,us=0,skip=2,count=1\n"
				  "late-end,where=cdm,bit=0,us=70000,skip=0,count=endless");
	pumice_gpu_injected(fx->gpu, shorter, sizeof(shorter));
	assert_string_equal(shorter, "unit-hang,w");
	request_fault(fx, "none");
	pumice_gpu_injected(fx->gpu, text, sizeof(text));
	assert_string_equal(text, "");
	fx_destroy(fx);
}

static void without_the_property_the_guest_finds_no_registers(void **state)
{
	struct fixture *fx = fx_create(NULL);
	u32 offset;

	(void)state;
	fx_write(fx, PUMICE_INJ_KIND, PUMICE_INJECT_KIND_UNIT_HANG);
	fx_write(fx, PUMICE_INJ_COUNT, 1);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	for (offset = 0; offset < PUMICE_INJ_UNIT_SIZE; offset += 4)
		assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_INJ_UNIT_BASE + offset,
						      4), 0);
	fx_destroy(fx);
}

static void guest_arms_requests_by_registers(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	struct fixture *fx = w.fx;
	char text[256];

	(void)state;
	assert_int_equal(fx_read(fx, PUMICE_INJ_CAPS),
			 PUMICE_FIELD_PREP(PUMICE_INJ_CAPS__ENABLED, 1) |
				 PUMICE_FIELD_PREP(PUMICE_INJ_CAPS__KINDS,
						   PUMICE_INJECT_KIND_COUNT));
	fx_write(fx, PUMICE_INJ_KIND, PUMICE_INJECT_KIND_PAGE_TABLE);
	fx_write(fx, PUMICE_INJ_WHERE, PUMICE_INJECT_WHERE_DIRECTORY);
	fx_write(fx, PUMICE_INJ_BIT, 7);
	fx_write(fx, PUMICE_INJ_TIME, 8);
	fx_write(fx, PUMICE_INJ_SKIP, 9);
	fx_write(fx, PUMICE_INJ_COUNT, 10);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_STATUS), PUMICE_INJ_STATUS__ARMED__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_PAGE_TABLE)), 10);
	pumice_gpu_injected(fx->gpu, text, sizeof(text));
	assert_string_equal(text, "page-table,where=directory,bit=7,us=8,skip=9,count=10");
	/* Invalid places are refused, and the armed request is kept. */
	fx_write(fx, PUMICE_INJ_WHERE, PUMICE_INJECT_WHERE_CDM);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_STATUS), 0);
	fx_write(fx, PUMICE_INJ_WHERE, 0xff);
	fx_write(fx, PUMICE_INJ_KIND, 0xff);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_STATUS), 0);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_PAGE_TABLE)), 10);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__CLEAR__MASK);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_PAGE_TABLE)), 0);
	check_works(&w);
	fx_destroy(fx);
}

/* Resets of the GPU drop no request, one of the machine drops those of its guest. */
static void machine_reset_drops_only_faults_of_the_guest(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	struct fixture *fx = w.fx;
	char text[256];

	(void)state;
	request_fault(fx, "page-table,where=table");
	request_fault(fx, "late-end,where=vdm");
	/* The guest's request replaces the host's of the same kind. */
	fx_write(fx, PUMICE_INJ_COUNT, 1);
	fx_write(fx, PUMICE_INJ_KIND, PUMICE_INJECT_KIND_PAGE_TABLE);
	fx_write(fx, PUMICE_INJ_WHERE, PUMICE_INJECT_WHERE_DIRECTORY);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	fx_write(fx, PUMICE_INJ_KIND, PUMICE_INJECT_KIND_UNIT_HANG);
	fx_write(fx, PUMICE_INJ_WHERE, PUMICE_INJECT_WHERE_CDM);
	fx_write(fx, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	pumice_gpu_reset(fx->gpu);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_PAGE_TABLE)), 1);
	assert_int_equal(fx_read(fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_UNIT_HANG)), 1);
	pumice_gpu_machine_reset(fx->gpu);
	pumice_gpu_injected(fx->gpu, text, sizeof(text));
	assert_string_equal(text, "late-end,where=vdm,bit=0,us=0,skip=0,count=1");
	check_cured(&w);
	fx_destroy(fx);
}

static void injected_fault_honours_skip_and_count(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	u32 i;

	(void)state;
	request_fault(w.fx, "lost-irq,where=cdm,skip=2,count=3");
	for (i = 0; i < 7; i++) {
		job_start(w.fx, &number);
		fx_wait_reg(w.fx, PUMICE_DBG_CDM_STATUS, PUMICE_DBG_CDM_STATUS__BUSY__MASK, 0);
		assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & DONE,
				 i < 2 || i > 4 ? DONE : 0);
		fx_fw_write(w.fx, PUMICE_IC_CLEAR, DONE);
	}
	assert_int_equal(hits(w.fx, PUMICE_INJECT_KIND_LOST_IRQ), 3);
	check_data(&w);
	fx_destroy(w.fx);
}

static void unit_that_hangs_ignores_abort_until_the_reset(void **state)
{
	static const struct fx_options options[] = {
		{ .fault_injection = true }, { .fault_injection = true, .threads = 2 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct inject_fixture w = inject_create(&options[i]);

		request_fault(w.fx, "unit-hang,where=cdm,count=2");
		job_start(w.fx, &number);
		fx_fw_write(w.fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		if (!options[i].threads)
			fx_drain(w.fx);
		assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & JOB_EVENTS, 0);
		assert_true(fx_read(w.fx, PUMICE_DBG_CDM_STATUS) &
			    PUMICE_DBG_CDM_STATUS__BUSY__MASK);
		pumice_gpu_park(w.fx->gpu);
		pumice_gpu_unpark(w.fx->gpu);
		restart(&w);
		/* The rest of the request survives the reset. */
		assert_int_equal(fx_read(w.fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_UNIT_HANG)), 1);
		job_start(w.fx, &number);
		check_cured(&w);
		fx_destroy(w.fx);
	}
}

static void silent_firmware_executes_nothing_until_it_is_booted(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	u64 instructions;

	(void)state;
	request_fault(w.fx, "fw-silence,where=kick");
	instructions = fx_read(w.fx, PUMICE_FW_INSTRET);
	kick(w.fx);
	fx_drain(w.fx);
	assert_int_equal(fx_read(w.fx, PUMICE_FW_INSTRET), instructions);
	check_running(w.fx);
	assert_int_equal(fx_read(w.fx, PUMICE_OS_IRQ_STATUS) &
				 PUMICE_OS_IRQ_STATUS__LOCKUP__MASK, 0);
	check_cured(&w);
	request_fault(w.fx, "fw-silence,where=boot");
	boot_again(w.fx);
	fx_drain(w.fx);
	assert_int_equal(fx_read(w.fx, PUMICE_FW_INSTRET), 0);
	check_cured(&w);
	fx_destroy(w.fx);
}

static void firmware_locks_up_or_traps(void **state)
{
	struct inject_fixture w = inject_create(&usual);

	(void)state;
	request_fault(w.fx, "fw-lockup,where=boot");
	boot_again(w.fx);
	wait_lockup(w.fx);
	assert_true(fx_read(w.fx, PUMICE_OS_IRQ_STATUS) & PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
	check_cured(&w);
	/* The proxy has no trap handler: an exception locks it up, too. */
	request_fault(w.fx, "fw-trap,where=kick");
	check_locks_up_at_kick(&w);
	fx_destroy(w.fx);
}

static void end_of_a_job_is_reported_late(void **state)
{
	struct inject_fixture w = inject_create(&(struct fx_options){ .fault_injection = true,
							     .manual_clock = true });

	(void)state;
	request_fault(w.fx, "late-end,where=cdm,us=5000");
	job_start(w.fx, &number);
	fx_wait_reg(w.fx, PUMICE_DBG_CDM_STATUS, PUMICE_DBG_CDM_STATUS__BUSY__MASK, 0);
	check_data(&w);
	assert_int_equal(fx_drain(w.fx), 5 * MS);
	w.fx->clock += 5 * MS - 1;
	fx_drain(w.fx);
	assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & DONE, 0);
	w.fx->clock += 1;
	fx_drain(w.fx);
	assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & DONE, DONE);
	/* A delayed event does not survive a reset. */
	fx_fw_write(w.fx, PUMICE_IC_CLEAR, DONE);
	request_fault(w.fx, "late-end,where=cdm,us=5000");
	job_start(w.fx, &number);
	fx_wait_reg(w.fx, PUMICE_DBG_CDM_STATUS, PUMICE_DBG_CDM_STATUS__BUSY__MASK, 0);
	restart(&w);
	w.fx->clock += 10 * MS;
	fx_drain(w.fx);
	assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & DONE, 0);
	check_works(&w);
	fx_destroy(w.fx);
}

static unsigned int irqs(struct fixture *fx)
{
	unsigned int count;

	pthread_mutex_lock(&fx->lock);
	count = fx->irqs[0];
	pthread_mutex_unlock(&fx->lock);
	return count;
}

static void injected_interrupts_are_lost_or_spurious(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	unsigned int before = irqs(w.fx);

	(void)state;
	/* The proxy raises the host's interrupt at the end of each access. */
	request_fault(w.fx, "lost-irq,where=host-irq");
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	assert_int_equal(irqs(w.fx), before);
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	assert_int_equal(irqs(w.fx), before + 1);
	request_fault(w.fx, "spurious-irq,where=host-irq");
	fx_write(w.fx, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK);
	kick(w.fx);
	assert_int_equal(irqs(w.fx), before + 2);
	assert_int_equal(fx_read(w.fx, PUMICE_OS_IRQ_STATUS), 0);
	fx_drain(w.fx);
	request_fault(w.fx, "spurious-irq,where=host-lockup");
	kick(w.fx);
	assert_true(fx_read(w.fx, PUMICE_OS_IRQ_STATUS) & PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
	check_running(w.fx);
	fx_drain(w.fx);
	request_fault(w.fx, "lost-irq,where=kick");
	fx_write(w.fx, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK);
	kick(w.fx);
	fx_drain(w.fx);
	assert_int_equal(fx_read(w.fx, PUMICE_OS_IRQ_STATUS) & PUMICE_OS_IRQ_STATUS__FW__MASK,
			 0);
	check_works(&w);
	fx_destroy(w.fx);
}

static void end_is_reported_of_a_job_that_has_only_begun(void **state)
{
	struct inject_fixture w = inject_create(&usual);

	(void)state;
	request_fault(w.fx, "spurious-irq,where=cdm");
	request_fault(w.fx, "unit-hang,where=cdm");
	job_start(w.fx, &number);
	assert_int_equal(fx_fw_read(w.fx, PUMICE_IC_PENDING) & DONE, DONE);
	assert_true(fx_read(w.fx, PUMICE_DBG_CDM_STATUS) & PUMICE_DBG_CDM_STATUS__BUSY__MASK);
	fx_destroy(w.fx);
}

/* Fault of the last job. */
static u32 fault(struct fixture *fx)
{
	return PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, fx_fw_read(fx, PUMICE_CDM_STATUS));
}

static void translation_is_corrupted_when_it_is_read(void **state)
{
	static const struct {
		const char *text;
		u32 fault;
	} cases[] = {
		{ "page-table,where=catalogue", PUMICE_FAULT_MMU_PC_INVALID },
		{ "page-table,where=directory", PUMICE_FAULT_MMU_PD_INVALID },
		{ "page-table,where=table", PUMICE_FAULT_MMU_PT_INVALID },
		{ "page-table,where=table,bit=63", PUMICE_FAULT_MMU_BUS },
	};
	struct inject_fixture w = inject_create(&usual);
	u64 entry = *testmem_pt_entry(w.fx->tm, JOB_CTX, JOB_DATA);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		invalidate(w.fx);
		request_fault(w.fx, cases[i].text);
		assert_int_equal(job_run(w.fx, &number), PUMICE_IC_PENDING__CDM_FAULT__MASK);
		assert_int_equal(fault(w.fx), cases[i].fault);
		assert_int_equal(*testmem_pt_entry(w.fx->tm, JOB_CTX, JOB_DATA), entry);
		check_works(&w);
	}
	/* In the firmware's context: the proxy's mailbox is unmapped, and it locks up. */
	request_fault(w.fx, "page-table,where=fw-table");
	invalidate(w.fx);
	check_locks_up_at_kick(&w);
	fx_destroy(w.fx);
}

static void slow_memory_delays_a_job_by_the_clock(void **state)
{
	struct inject_fixture w = inject_create(&(struct fx_options){ .fault_injection = true,
							     .manual_clock = true });
	u32 waits = 0;

	(void)state;
	request_fault(w.fx, "slow-memory,us=2000,count=endless");
	job_start(w.fx, &number);
	for (;;) {
		const u64 wait = fx_drain(w.fx);

		if (!(fx_read(w.fx, PUMICE_DBG_CDM_STATUS) & PUMICE_DBG_CDM_STATUS__BUSY__MASK))
			break;
		assert_true(wait <= 2 * MS && ++waits < 1000);
		w.fx->clock += wait;
	}
	assert_true(waits);
	check_data(&w);
	request_fault(w.fx, "none");
	w.fx->clock += 2 * MS;
	check_works(&w);
	fx_destroy(w.fx);
}

/* One hour per step: only the job waits for it. */
static void only_the_job_waits_for_slow_memory(void **state)
{
	struct inject_fixture w = inject_create(&(struct fx_options){ .fault_injection = true,
							     .threads = 2 });
	u32 i;

	(void)state;
	request_fault(w.fx, "slow-memory,us=3600000000,count=endless");
	for (i = 0; i < 20; i++) {
		job_start(w.fx, &(struct job){ .program = JOB_TOUCH, .group = GROUP,
						.groups = GROUPS });
		pumice_gpu_park(w.fx->gpu);
		pumice_gpu_unpark(w.fx->gpu);
		invalidate(w.fx);
		fx_fw_write(w.fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		restart(&w);
	}
	request_fault(w.fx, "none");
	check_works(&w);
	fx_destroy(w.fx);
}

#define BOOT_VA	0x20000u	/* in context 0 */
#define BOOT(member)	(boot[offsetof(struct fwif_boot, member) / 4])

/* Writes of the firmware for the host: an unread message, a reply. */
static u32 *write_interface(struct fixture *fx)
{
	u32 *boot = testmem_map(fx->tm, 0, BOOT_VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	struct fwif_ring *ring = (struct fwif_ring *)(void *)(boot + 256);

	memset(boot, 0, 4096);
	ring[0] = (struct fwif_ring){ .write = 4, .read = 3, .count = 4 };
	ring[1] = (struct fwif_ring){ .write = 3, .read = 2, .count = 4 };
	BOOT(kccb_ring) = BOOT_VA + 1024;
	BOOT(fwccb_ring) = BOOT_VA + 1024 + sizeof(*ring);
	BOOT(kccb_status) = BOOT_VA + 2048;
	BOOT(fwccb) = BOOT_VA + 3072;
	BOOT(heartbeat) = 77;
	fx_write(fx, PUMICE_FW_BOOT_ARG, BOOT_VA);
	return boot;
}

static void messages_of_the_firmware_are_corrupted_in_memory(void **state)
{
	struct inject_fixture w = inject_create(&usual);
	u32 *boot = write_interface(w.fx), copy[1024], i;
	static const struct {
		const char *text;
		u32 word, flipped;
	} cases[] = {
		{ "fw-message,where=message,bit=5",
		  (3072 + 2 * sizeof(struct fwif_fwccb_msg)) / 4, 1u << 5 },
		{ "fw-message,where=ring,bit=31",
		  (1024 + sizeof(struct fwif_ring) + offsetof(struct fwif_ring, write)) / 4,
		  1u << 31 },
		{ "fw-message,where=status,bit=2", 2048 / 4 + 2, 1u << 2 },
		{ "fw-message,where=heartbeat", offsetof(struct fwif_boot, heartbeat) / 4, 77 ^ 1 },
	};

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		request_fault(w.fx, cases[i].text);
		memcpy(copy, boot, sizeof(copy));
		fx_fw_read(w.fx, PUMICE_IC_PENDING);
		copy[cases[i].word] ^= cases[i].flipped;
		assert_memory_equal(copy, boot, sizeof(copy));
		boot[cases[i].word] ^= cases[i].flipped;
	}
	/* Nothing unread, no address, no size: the request stays armed. */
	request_fault(w.fx, "fw-message,where=message");
	((struct fwif_ring *)(void *)(boot + 256))[1].read = 3;
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	((struct fwif_ring *)(void *)(boot + 256))[1].read = 2;
	BOOT(fwccb) = 0x7ffffffc;
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	BOOT(fwccb) = BOOT_VA + 3073;
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	BOOT(fwccb) = BOOT_VA + 3072;
	((struct fwif_ring *)(void *)(boot + 256))[1].count = 3;
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	fx_write(w.fx, PUMICE_FW_BOOT_ARG, UINT64_MAX);
	fx_fw_read(w.fx, PUMICE_IC_PENDING);
	assert_int_equal(fx_read(w.fx, PUMICE_INJ_LEFT(PUMICE_INJECT_KIND_FW_MESSAGE)), 1);
	fx_destroy(w.fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_read_and_written_as_text),
		cmocka_unit_test(without_the_property_the_guest_finds_no_registers),
		cmocka_unit_test(guest_arms_requests_by_registers),
		cmocka_unit_test(machine_reset_drops_only_faults_of_the_guest),
		cmocka_unit_test(injected_fault_honours_skip_and_count),
		cmocka_unit_test(unit_that_hangs_ignores_abort_until_the_reset),
		cmocka_unit_test(silent_firmware_executes_nothing_until_it_is_booted),
		cmocka_unit_test(firmware_locks_up_or_traps),
		cmocka_unit_test(end_of_a_job_is_reported_late),
		cmocka_unit_test(injected_interrupts_are_lost_or_spurious),
		cmocka_unit_test(end_is_reported_of_a_job_that_has_only_begun),
		cmocka_unit_test(translation_is_corrupted_when_it_is_read),
		cmocka_unit_test(slow_memory_delays_a_job_by_the_clock),
		cmocka_unit_test(only_the_job_waits_for_slow_memory),
		cmocka_unit_test(messages_of_the_firmware_are_corrupted_in_memory),
	};

	return cmocka_run_group_tests_name("fault injection", tests, NULL, NULL);
}
