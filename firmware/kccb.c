// SPDX-License-Identifier: MIT
/*
 * Kernel CCBs, one for each virtual GPU. They are served in turn, one command at a time.
 *
 * Commands are executed in order, each completed by a status word, which is
 * written before the ring's read index moves. The only command that cannot
 * complete at once, CONTEXT_KILL, remains at the head until the context's last
 * job has ended; interrupts are served meanwhile.
 *
 * After kccb_silence() no more commands are read; everything else continues, the heartbeat
 * included. A test build, TEST=DEAF, enters this state after it has completed the KICK of a
 * context of low priority.
 */
#include "caches.h"
#include "cccb.h"
#include "csr.h"
#include "freelist.h"
#include "fwccb.h"
#include "kccb.h"
#include "log.h"
#include "bus.h"
#include "mmu.h"
#include "os.h"
#include "partial.h"
#include "pumice_formats.h"
#include "sched.h"
#include "strict.h"
#include "window.h"

static struct kccb {
	struct fw_ring ring;
	volatile u32 *status_words;
	u32 read_index;
	/* The context of the CONTEXT_KILL at the head, or NULL. */
	struct context *killing;
	bool silent;
} kccb_of[PUMICE_OS_COUNT];
#ifdef FW_TEST_DEAF
#define GO_DEAF()	kccb_silence()
#else
#define GO_DEAF()	((void)0)
#endif

/* Return that of the selected virtual GPU. */
static struct kccb *kccb_now(void)
{
	return &kccb_of[os_number];
}

void kccb_init(const struct fw_rings *rings)
{
	*kccb_now() = (struct kccb){ .silent = !rings };
	strict_slots_drop();
	if (!rings)
		return;
	kccb_now()->ring = rings->kccb;
	kccb_now()->status_words = rings->kccb_status;
}

void kccb_silence(void)
{
	kccb_now()->silent = true;
}

void kccb_abandon(void)
{
	kccb_now()->killing = NULL;
	kccb_silence();
}

static enum fwif_status do_ping(const struct fwif_kccb_cmd *cmd)
{
	(void)cmd;
	return FWIF_STATUS_OK;
}

/* Look up a command's context, or return NULL; *status: OK if it is unknown, else INVALID. */
static struct context *named_context(const struct fwif_kccb_cmd *cmd, enum fwif_status *status)
{
	if (!window_valid(cmd->context, sizeof(struct fwif_context), 8)) {
		*status = FWIF_STATUS_INVALID;
		return NULL;
	}
	*status = FWIF_STATUS_OK;
	return context_find(cmd->context);
}

static enum fwif_status do_kick(const struct fwif_kccb_cmd *cmd)
{
	enum fwif_status status;
	struct context *c = named_context(cmd, &status);

	if (!c && status == FWIF_STATUS_OK)
		status = context_new(cmd->context, &c);
	if (status != FWIF_STATUS_OK)
		return status;
	if (cmd->write % 8 || cmd->write > c->cccb_mask)
		return FWIF_STATUS_INVALID;
	sched_kick(c, cmd->write);
	if (!c->priority)
		GO_DEAF();
	return FWIF_STATUS_OK;
}

static enum fwif_status do_mmu_invalidate(const struct fwif_kccb_cmd *cmd)
{
	if (!mmu_catalogue_valid(cmd->catalogue))
		return FWIF_STATUS_INVALID;
	if (cmd->start <= cmd->end &&
	    (cmd->start % 4096 || (cmd->end + 1) % 4096 || cmd->end >> PUMICE_MMU_VA_BITS))
		return FWIF_STATUS_INVALID;
	mmu_invalidate(os_vm(cmd->catalogue), cmd->start, cmd->end);
	return FWIF_STATUS_OK;
}

static enum fwif_status do_vm_release(const struct fwif_kccb_cmd *cmd)
{
	if (!mmu_catalogue_valid(cmd->catalogue))
		return FWIF_STATUS_INVALID;
	if (context_uses(os_vm(cmd->catalogue)))
		return FWIF_STATUS_BUSY;
	mmu_release(os_vm(cmd->catalogue));
	return FWIF_STATUS_OK;
}

static enum fwif_status do_context_kill(const struct fwif_kccb_cmd *cmd)
{
	enum fwif_status status;
	struct context *c = named_context(cmd, &status);

	if (!c)
		return status;
	sched_kill(c);
	if (!context_has_work(c))
		return FWIF_STATUS_OK;
	kccb_now()->killing = c;
	return FWIF_STATUS_PENDING;
}

static enum fwif_status do_context_release(const struct fwif_kccb_cmd *cmd)
{
	enum fwif_status status;
	struct context *c = named_context(cmd, &status);

	if (!c)
		return status;
	if (context_has_work(c))
		return FWIF_STATUS_BUSY;
	context_release(c);
	return FWIF_STATUS_OK;
}

static enum fwif_status do_context_priority(const struct fwif_kccb_cmd *cmd)
{
	enum fwif_status status;
	struct context *c = named_context(cmd, &status);

	if (cmd->priority >= FWIF_PRIORITIES)
		return FWIF_STATUS_INVALID;
	if (c)
		sched_set_priority(c, cmd->priority);
	return status;
}

static enum fwif_status do_free_list_grown(const struct fwif_kccb_cmd *cmd)
{
	if (!freelist_valid(cmd->object))
		return FWIF_STATUS_INVALID;
	partial_grown(cmd->object, freelist_handle_reply(cmd->object, cmd->pages));
	return FWIF_STATUS_OK;
}

static enum fwif_status do_scene_release(const struct fwif_kccb_cmd *cmd)
{
	if (!window_valid(cmd->object, SCENE_BYTES, 16))
		return FWIF_STATUS_INVALID;
	if (context_uses_scene(cmd->object))
		return FWIF_STATUS_BUSY;
	freelist_cancel_scene(cmd->object);
	partial_count_freed(os_number);
	/* Every write releases a scene: write only the low half, which is not 0. */
	reg_write(PUMICE_PM_RELEASE, cmd->object);
	freelist_count_freed(os_number);
	/* The host may free scene and lists now, and tables in pages of lists, which it changed. */
	caches_flush_shared();
	caches_flush_tables();
	return FWIF_STATUS_OK;
}

static enum fwif_status (*const handler[])(const struct fwif_kccb_cmd *cmd) = {
	[FWIF_KCCB_PING] = do_ping,
	[FWIF_KCCB_KICK] = do_kick,
	[FWIF_KCCB_MMU_INVALIDATE] = do_mmu_invalidate,
	[FWIF_KCCB_VM_RELEASE] = do_vm_release,
	[FWIF_KCCB_CONTEXT_KILL] = do_context_kill,
	[FWIF_KCCB_CONTEXT_RELEASE] = do_context_release,
	[FWIF_KCCB_FREE_LIST_GROWN] = do_free_list_grown,
	[FWIF_KCCB_SCENE_RELEASE] = do_scene_release,
	[FWIF_KCCB_CONTEXT_PRIORITY] = do_context_priority,
};

static bool reserved_clear(const struct fwif_kccb_cmd *cmd)
{
	const bool names_object = cmd->type == FWIF_KCCB_FREE_LIST_GROWN ||
				  cmd->type == FWIF_KCCB_SCENE_RELEASE;
	u64 all = 0;
	u32 i;

	for (i = 0; i < sizeof(cmd->reserved2) / sizeof(cmd->reserved2[0]); i++)
		all |= cmd->reserved2[i];
	if (!names_object)
		all |= cmd->object;
	if (cmd->type != FWIF_KCCB_FREE_LIST_GROWN)
		all |= cmd->pages;
	if (cmd->type != FWIF_KCCB_CONTEXT_PRIORITY)
		all |= cmd->priority;
	return !all;
}

static enum fwif_status execute(const struct fwif_kccb_cmd *cmd)
{
	enum fwif_status status = FWIF_STATUS_INVALID;

	if (cmd->type < sizeof(handler) / sizeof(handler[0]) && handler[cmd->type] &&
	    reserved_clear(cmd))
		status = handler[cmd->type](cmd);
	if (status == FWIF_STATUS_INVALID || status == FWIF_STATUS_NO_SPACE)
		log_event(FWIF_LOG_KCCB_INVALID, kccb_now()->read_index, cmd->type, status);
	return status;
}

/* Complete the command at the head with a status, and consume it. */
static void complete_command(struct kccb *kccb, enum fwif_status status)
{
	if (strict_is_on())
		strict_slot_return(&kccb->ring, kccb->read_index);
	kccb->status_words[kccb->read_index] = status;
	fence_writes();
	kccb->read_index = (kccb->read_index + 1) & kccb->ring.mask;
	kccb->ring.ring->read = kccb->read_index;
	fw_boot->commands++;
	host_request_irq();
}

static bool available(const struct kccb *kccb)
{
	return !kccb->silent && os_rang() &&
	       (kccb->ring.ring->write & kccb->ring.mask) != kccb->read_index;
}

bool kccb_has_background_work(void)
{
	const struct kccb *kccb = kccb_now();

	return kccb->killing ? !context_has_work(kccb->killing) : available(kccb);
}

/* Copy and execute the command at the head. */
static enum fwif_status process_head(const struct kccb *kccb)
{
	struct fwif_kccb_cmd cmd;

	fence_reads();
	if (strict_is_on())
		strict_slot_read(&kccb->ring, kccb->read_index);
	if (!window_read(kccb->ring.entries + kccb->read_index * sizeof(cmd), &cmd,
			 sizeof(cmd) / 4))
		return FWIF_STATUS_INVALID;
	return execute(&cmd);
}

void kccb_process_command(void)
{
	u32 irq = irq_off();
	enum fwif_status status = FWIF_STATUS_PENDING;
	struct kccb *kccb = kccb_now();

	if (strict_is_on() && !kccb->silent)
		strict_slots_pass(&kccb->ring, kccb->read_index,
				  kccb->ring.ring->write & kccb->ring.mask);
	if (kccb->killing) {
		if (!context_has_work(kccb->killing)) {
			kccb->killing = NULL;
			status = FWIF_STATUS_OK;
		}
	} else if (available(kccb)) {
		status = process_head(kccb);
	} else {
		os_clear_rang();
	}
	if (status != FWIF_STATUS_PENDING)
		complete_command(kccb, status);
	irq_restore(irq);
}
