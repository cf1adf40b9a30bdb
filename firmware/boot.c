// SPDX-License-Identifier: MIT
/*
 * Boot handshake.
 *
 * The host passes one structure with versions and the addresses of the rings.
 * All of it is checked here once; the rings are probed for both reading and
 * writing, so that they can be accessed through pointers afterwards. Virtual GPUs
 * other than 0 connect later, each with such a structure. Without a
 * boot structure an error cannot be reported: the processor then locks up,
 * which the host reads in a register of the processor.
 *
 * A test build, TEST=REFUSE, refuses to boot if the host requests time slices of 1 us.
 */
#include "boot.h"
#include "build_id.h"
#include "bus.h"
#include "csr.h"
#include "os.h"
#include "window.h"

/*
 * Minor version of each virtual GPU's driver. Sizes depend on it, and the host can write the boot
 * structure at any time: it is read once, when the virtual GPU connects.
 */
static u16 host_minor[PUMICE_OS_COUNT];

/* Lock the processor up: take a trap without a handler. */
static _Noreturn void lock_up(void)
{
	__asm__ volatile("csrw mtvec, zero\n\tebreak" : : : "memory");
	__builtin_unreachable();
}

static _Noreturn void sleep_for_ever(void)
{
	__asm__ volatile("csrw mie, zero" : : : "memory");
	for (;;)
		wait_for_interrupt();
}

/* Publish the state to the selected virtual GPU, and raise its interrupt. */
static void publish_state(enum fwif_state state)
{
	fence_writes();
	fw_boot->state = state;
	fence_writes();
	reg_write(PUMICE_IC_HOST_IRQ,
		  PUMICE_FIELD_PREP(PUMICE_IC_HOST_IRQ__OSES, 1u << os_number));
}

static void publish_error(enum fwif_state state, enum fwif_error error, u32 info, u32 pc)
{
	fw_boot->error = error;
	fw_boot->error_info = info;
	fw_boot->error_pc = pc;
	publish_state(state);
}

_Noreturn void boot_stop(enum fwif_error error, u32 info, u32 pc)
{
	u32 os;

	irq_off();
	if (!fw_boot)
		lock_up();
	for (os = 0; os < os_count(); os++) {
		if (!os_connected(os))
			continue;
		os_select(os);
		publish_error(FWIF_STATE_FATAL, error, info, pc);
	}
	sleep_for_ever();
}

/* Return true if the word at @addr can be read and written. */
static bool probe_word(u32 addr)
{
	u32 value;

	return window_read32(addr, &value) && window_write32(addr, value);
}

/* Return true if every page of an array can be read and written. */
static bool probe(u32 addr, u32 bytes, u32 align)
{
	u32 at;

	if (!window_valid(addr, bytes, align))
		return false;
	for (at = addr; at - addr < bytes; at = (at | 0xfff) + 1)
		if (!probe_word(at))
			return false;
	return probe_word(addr + bytes - 4);
}

/* Check one ring and its entries. */
static bool init_ring(struct fw_ring *ring, u32 addr, u32 entries, u32 entry_bytes)
{
	u32 count;

	if (!probe(addr, sizeof(struct fwif_ring), 4))
		return false;
	ring->ring = window_ptr(addr);
	count = ring->ring->count;
	if (count < 2 || count > FWIF_RING_MAX || (count & (count - 1)))
		return false;
	if (!probe(entries, count * entry_bytes, 8))
		return false;
	ring->entries = entries;
	ring->mask = count - 1;
	return true;
}

/* Check all rings; their indices start at 0. */
static bool init_rings(struct fw_rings *rings)
{
	u32 status = fw_boot->kccb_status;

	if (!init_ring(&rings->kccb, fw_boot->kccb_ring, fw_boot->kccb,
		       sizeof(struct fwif_kccb_cmd)) ||
	    !init_ring(&rings->fwccb, fw_boot->fwccb_ring, fw_boot->fwccb,
		       sizeof(struct fwif_fwccb_msg)) ||
	    !init_ring(&rings->log, fw_boot->log_ring, fw_boot->log,
		       sizeof(struct fwif_log_entry)) ||
	    !probe(status, (rings->kccb.mask + 1) * sizeof(u32), 4))
		return false;
	rings->kccb_status = window_ptr(status);
	rings->kccb.ring->read = 0;
	rings->fwccb.ring->write = 0;
	rings->fwccb.ring->dropped = 0;
	rings->log.ring->write = 0;
	return true;
}

static bool device_matches(void)
{
	u32 version = reg_read(PUMICE_SYS_VERSION);

	return reg_read(PUMICE_SYS_ID) == PUMICE_SYS_ID__RESET &&
	       PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, version) ==
	       PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, PUMICE_SYS_VERSION__RESET);
}

/* True in the test build that the head of this file describes. */
static bool refusal_requested(void)
{
#ifdef FW_TEST_REFUSE
	return fw_boot->slice_us == 1;
#else
	return false;
#endif
}

/* Publish version and build id, which the host reads even after a refusal. */
static void publish_version(void)
{
	static const char id[FWIF_BUILD_ID_BYTES] = FW_BUILD_ID;
	u32 i;

	fw_boot->fw_version = FWIF_VERSION;
	fw_boot->active_context = FWIF_NO_CONTEXT;
	for (i = 0; i < FWIF_BUILD_ID_BYTES; i++)
		fw_boot->build_id[i] = id[i];
}

/* Validate the boot structure and all that it names. */
static enum fwif_error check_boot(struct fw_rings *rings)
{
	const u32 version = fw_boot->version;

	if (fw_boot->magic != FWIF_BOOT_MAGIC)
		return FWIF_ERROR_MAGIC;
	publish_version();
	if (version >> 16 != FWIF_VERSION_MAJOR)
		return FWIF_ERROR_VERSION;
	host_minor[os_number] = (u16)version;
	if (!device_matches() || refusal_requested())
		return FWIF_ERROR_DEVICE;
	return init_rings(rings) ? FWIF_ERROR_NONE : FWIF_ERROR_RING;
}

void boot_handshake(u32 addr_low, u32 addr_high, struct fw_rings *rings)
{
	enum fwif_error error;

	if (addr_high || !probe(addr_low, sizeof(struct fwif_boot), 8))
		lock_up();
	fw_boot = window_ptr(addr_low);
	error = check_boot(rings);
	if (!error)
		return;
	publish_error(FWIF_STATE_REFUSED, error, 0, 0);
	irq_off();
	sleep_for_ever();
}

bool boot_connect(u32 addr, struct fw_rings *rings)
{
	enum fwif_error error;

	if (!probe(addr, sizeof(struct fwif_boot), 8))
		return false;
	fw_boot = window_ptr(addr);
	error = check_boot(rings);
	if (error)
		publish_error(FWIF_STATE_REFUSED, error, 0, 0);
	return !error;
}

void boot_end(void)
{
	publish_state(FWIF_STATE_OFF);
}

u32 boot_host_minor(void)
{
	return host_minor[os_number];
}

u32 boot_device_minor(void)
{
	return (u32)PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, reg_read(PUMICE_SYS_VERSION));
}

void boot_ready(void)
{
	publish_state(FWIF_STATE_READY);
}
