// SPDX-License-Identifier: MIT
/*
 * Position of a running job that is about to be killed.
 *
 * Its waves are read from a snapshot (registers.xml, unit WAVE), which stops all
 * USCs briefly; each data master runs one job, so the waves of its data master are
 * the job's. Waves at the same instruction are merged into one place.
 *
 * Limits: samples FWIF_STUCK_SAMPLES waves at most, to bound the time with interrupts
 * off.
 */
#include "boot.h"
#include "bus.h"
#include "csr.h"
#include "dm.h"
#include "minmax.h"
#include "pumice_isa_enums.h"
#include "stuck.h"
#include "window.h"

/* For the result of the job captured last on each data master. */
static struct {
	const struct context *context;
	u32 seqno;
	u32 unit, pc, usc;
	u64 addr;
} captured[FWIF_DM_COUNT];

static struct fwif_stuck stuck;

/* Mask of WAVE_CTRL for the data master that runs the job's waves. */
static u32 wave_masters(const struct context *c, bool partial)
{
	switch (c->dm) {
	case FWIF_DM_CDM:
		return PUMICE_WAVE_CTRL__CDM__MASK;
	case FWIF_DM_VDM:
		return partial ? PUMICE_WAVE_CTRL__PDM__MASK : PUMICE_WAVE_CTRL__VDM__MASK;
	case FWIF_DM_PDM:
		return PUMICE_WAVE_CTRL__PDM__MASK;
	case FWIF_DM_RDM:
		return PUMICE_WAVE_CTRL__RDM__MASK;
	default:
		return 0;
	}
}

/* Return the unit that processes a job without waves in flight. */
static u32 unit_of_master(const struct context *c, bool partial)
{
	static const u8 unit[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = PUMICE_UNIT_CDM,
		[FWIF_DM_VDM] = PUMICE_UNIT_VDM,
		[FWIF_DM_PDM] = PUMICE_UNIT_ISP,
		[FWIF_DM_TDM] = PUMICE_UNIT_PTLA,
		[FWIF_DM_RDM] = PUMICE_UNIT_RDM,
	};

	return unit[partial ? FWIF_DM_PDM : c->dm];
}

/* Return the place of the selected wave, adding it if it is new; NULL if the table is full. */
static struct fwif_place *place_of_wave(u32 pc, u64 code)
{
	struct fwif_place *p = stuck.place;
	u32 where;

	for (; p < stuck.place + stuck.places; p++)
		if (p->pc == pc && p->code == code)
			return p;
	if (stuck.places == FWIF_STUCK_PLACES)
		return NULL;
	stuck.places++;
	where = reg_read(PUMICE_WAVE_WHERE);
	*p = (struct fwif_place){
		.code = code,
		.pc = pc,
		.lanes = reg_read(PUMICE_WAVE_LANES),
		.usc = (u8)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__USC, where),
		.slot = (u8)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__SLOT, where),
		.wave = (u8)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__WAVE, where),
		.state = (u8)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__STATE, where),
	};
	return p;
}

static void sample_waves(void)
{
	struct fwif_place *place;
	u32 i;

	stuck.sampled = min_u32(stuck.waves, FWIF_STUCK_SAMPLES);
	for (i = 0; i < stuck.sampled; i++) {
		reg_write(PUMICE_WAVE_SELECT, i * stuck.waves / stuck.sampled);
		place = place_of_wave(reg_read(PUMICE_WAVE_PC), reg_read64(PUMICE_WAVE_CODE));
		if (place)
			place->waves++;
	}
}

static u32 busy_masters(void)
{
	static const u32 status[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = PUMICE_CDM_STATUS,
		[FWIF_DM_VDM] = PUMICE_VDM_STATUS,
		[FWIF_DM_PDM] = PUMICE_PDM_STATUS,
		[FWIF_DM_TDM] = PUMICE_TDM_STATUS,
		[FWIF_DM_RDM] = PUMICE_RDM_STATUS,
	};
	u32 dm, busy = 0;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		busy |= (reg_read(status[dm]) & PUMICE_CDM_STATUS__BUSY__MASK) << dm;
	return busy;
}

/* Return the size of the host's buffer, in words. */
static u32 stuck_words(void)
{
	return (boot_host_minor() < 5 ? FWIF_STUCK_BYTES_1_4 : sizeof(stuck)) / 4;
}

/* Write the sequence number last: it marks the structure as complete. */
static void publish(const struct context *c)
{
	const u32 head = sizeof(stuck.seqno) / 4;

	if (!c->stuck || !window_write32(c->stuck, 0))
		return;
	fence_writes();
	if (!window_write(c->stuck + head * 4, (const u32 *)&stuck + head,
			  stuck_words() - head))
		return;
	fence_writes();
	window_write32(c->stuck, c->seqno);
}

void stuck_capture(const struct context *c, bool partial)
{
	const struct fwif_place *first = stuck.place;

	reg_write(PUMICE_WAVE_CTRL, wave_masters(c, partial));
	stuck = (struct fwif_stuck){
		.seqno = c->seqno,
		.waves = reg_read(PUMICE_WAVE_COUNT),
		.busy = busy_masters(),
	};
	sample_waves();
	stuck.unit = stuck.places ? PUMICE_UNIT_USC_CODE : unit_of_master(c, partial);
	captured[c->dm].context = c;
	captured[c->dm].seqno = c->seqno;
	captured[c->dm].unit = stuck.unit;
	captured[c->dm].pc = first->pc;
	captured[c->dm].usc = first->usc;
	captured[c->dm].addr = first->code + first->pc * (PUMICE_USC_WORDS * 4);
	publish(c);
}

void stuck_fault(const struct context *c, const struct fwif_job_result *r)
{
	const u64 code = dm_fault_code(c->dm);

	stuck = (struct fwif_stuck){
		.seqno = c->seqno,
		.unit = r->unit,
		.places = !!code,
		.busy = busy_masters(),
	};
	if (code) {
		stuck.place[0] = (struct fwif_place){
			.code = code, .pc = r->pc, .waves = 1, .usc = (u8)r->usc,
		};
		dm_fault_wave(c->dm, &stuck);
	}
	publish(c);
}

void stuck_result(const struct context *c, struct fwif_job_result *r)
{
	if (captured[c->dm].context != c || captured[c->dm].seqno != c->seqno)
		return;
	r->unit = (u8)captured[c->dm].unit;
	r->pc = captured[c->dm].pc;
	r->usc = captured[c->dm].usc;
	r->addr = captured[c->dm].addr;
	captured[c->dm].context = NULL;
}
