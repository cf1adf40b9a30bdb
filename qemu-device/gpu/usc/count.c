// SPDX-License-Identifier: MIT
/*
 * Detailed counters of hw/perf.h: instructions by class, bytes, bank conflicts of local
 * memory.
 *
 * Source: hw/perf.h; document 002, "Local memory", for the 32 banks. An instruction is
 * counted when it is complete: not if it faults, and a wait once, however often it was
 * deferred.
 *
 * Texture reads, ray queries and stores through the PBE count as instructions of global memory;
 * their bytes are not the USC's.
 *
 * Limits: instructions are run one at a time (step.c), which is slower. Bytes are those of system
 * memory: of a work-group copy they count once for the group; an atomic operation loads and
 * stores.
 */
#include "minmax.h"
#include "step.h"

#define LOCAL_BANKS 32u

static bool is_float(const struct usc_insn *insn)
{
	return insn->type == PUMICE_USC_TYPE_F32;
}

static enum pumice_perf_counter arithmetic_class(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_RCP:
	case PUMICE_USC_OP_SQRT:
	case PUMICE_USC_OP_RSQRT:
	case PUMICE_USC_OP_EXP2:
	case PUMICE_USC_OP_LOG2:
	case PUMICE_USC_OP_SIN:
	case PUMICE_USC_OP_COS:
		return PUMICE_PERF_USC_INSN_SPECIAL;
	default:
		return is_float(insn) ? PUMICE_PERF_USC_INSN_FLOAT : PUMICE_PERF_USC_INSN_INTEGER;
	}
}

static enum pumice_perf_counter vector_class(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_MOV:
	case PUMICE_USC_OP_SELECT:
	case PUMICE_USC_OP_CVT_F32:
	case PUMICE_USC_OP_CVT_INT:
	case PUMICE_USC_OP_CVT_F16:
	case PUMICE_USC_OP_CVT_U8:
	case PUMICE_USC_OP_CVT_I8:
	case PUMICE_USC_OP_CVT_U16:
	case PUMICE_USC_OP_CVT_I16:
	case PUMICE_USC_OP_PACK16:
	case PUMICE_USC_OP_UNPACK16_LO:
	case PUMICE_USC_OP_UNPACK16_HI:
	case PUMICE_USC_OP_EXT8:
	case PUMICE_USC_OP_DC_WINDOW:
	case PUMICE_USC_OP_UVSW:
		return PUMICE_PERF_USC_INSN_MOVE;
	case PUMICE_USC_OP_ITR:
		return PUMICE_PERF_USC_INSN_FLOAT;
	case PUMICE_USC_OP_DDX:
	case PUMICE_USC_OP_DDY:
	case PUMICE_USC_OP_SHUFFLE:
	case PUMICE_USC_OP_ROTATE:
	case PUMICE_USC_OP_BUTTERFLY:
	case PUMICE_USC_OP_FIRST_WHERE_TRUE:
	case PUMICE_USC_OP_REDUCE_PART:
	case PUMICE_USC_OP_REDUCE_FINISH:
	case PUMICE_USC_OP_SCAN:
	case PUMICE_USC_OP_SCAN_EXCL:
	case PUMICE_USC_OP_BALLOT:
		return PUMICE_PERF_USC_INSN_CROSS;
	default:
		return arithmetic_class(insn);
	}
}

static enum pumice_perf_counter class_of(const struct usc_insn *insn)
{
	struct usc_access a;

	if (usc_access_of(insn, &a)) {
		if (a.load && a.store)
			return PUMICE_PERF_USC_INSN_ATOMIC;
		return a.local ? PUMICE_PERF_USC_INSN_LOCAL : PUMICE_PERF_USC_INSN_GLOBAL;
	}
	if (pumice_usc_is_group_copy(insn->op) || insn->op == PUMICE_USC_OP_SHARED_LOAD ||
	    insn->op == PUMICE_USC_OP_PBE)
		return PUMICE_PERF_USC_INSN_GLOBAL;
	switch (pumice_isa_find_opcode(&pumice_usc_isa, insn->op)->layout) {
	case PUMICE_USC_LAYOUT_TEX:
	case PUMICE_USC_LAYOUT_RAY:
		return PUMICE_PERF_USC_INSN_GLOBAL;
	case PUMICE_USC_LAYOUT_FLOW:
	case PUMICE_USC_LAYOUT_SIG:
	case PUMICE_USC_LAYOUT_FENCE:
	case PUMICE_USC_LAYOUT_RANGE:
		return PUMICE_PERF_USC_INSN_FLOW;
	default:
		return insn->form == PUMICE_USC_FORM_SCALAR ? PUMICE_PERF_USC_INSN_SCALAR :
							      vector_class(insn);
	}
}

/*
 * Count the additional cycles of one access of at most a word per lane: every bank serves one
 * word per cycle, to all lanes that access it.
 */
static u32 conflicts(const u32 *off, u32 plus, u32 lanes)
{
	u32 words[LOCAL_BANKS][PUMICE_LANES], count[LOCAL_BANKS] = { 0 }, max = 1;

	for (; lanes; lanes &= lanes - 1) {
		u32 word = (off[__builtin_ctz(lanes)] + plus) / 4, bank = word % LOCAL_BANKS;
		u32 n = 0;

		while (n < count[bank] && words[bank][n] != word)
			n++;
		if (n < count[bank])
			continue;
		words[bank][count[bank]++] = word;
		max = max_u32(max, count[bank]);
	}
	return max - 1;
}

static void tally_access(const struct exec *x, const struct usc_insn *i, struct usc_tally *t)
{
	u32 lanes, row[PUMICE_LANES];
	const u32 *offsets;
	struct usc_access a;

	if (!usc_access_of(i, &a))
		return;
	lanes = usc_active_lanes(x, i);
	if (!a.local) {
		u32 bytes = (u32)__builtin_popcount(lanes) * a.bytes;

		t->load_bytes = a.load ? bytes : 0;
		t->store_bytes = a.store ? bytes : 0;
		return;
	}
	offsets = usc_access_offsets(x, i, row);
	for (u32 n = 0; n < a.bytes; n += 4)
		t->conflicts += conflicts(offsets, i->value + n, lanes);
}

static void tally_copy(const struct exec *x, const struct usc_insn *i, struct usc_tally *t)
{
	switch (i->op) {
	case PUMICE_USC_OP_GROUP_LOAD:
	case PUMICE_USC_OP_GROUP_LOAD_SHARED:
		t->load_bytes = usc_copy_executes(x) ? i->words * 4u : 0;
		break;
	case PUMICE_USC_OP_GROUP_STORE:
	case PUMICE_USC_OP_GROUP_STORE_SHARED:
		t->store_bytes = usc_copy_executes(x) ? i->words * 4u : 0;
		break;
	case PUMICE_USC_OP_SHARED_LOAD:
		t->load_bytes = i->words * 4u;
		break;
	}
}

/* Dynamic constants are loaded in all valid lanes, whatever the mask. */
static void tally_constants(const struct exec *x, const struct usc_insn *i, struct usc_tally *t)
{
	for (enum usc_place place = USC_SRC0; place < USC_PLACES; place++) {
		if ((i->lookups >> place & 1) && exec_lookup(x, i, place)->kind == USC_LOOKUP_DC)
			t->load_bytes += (u32)__builtin_popcount(x->valid) * 4;
	}
}

void usc_tally_begin(const struct exec *x, const struct usc_insn *i, struct usc_tally *t)
{
	*t = (struct usc_tally){ 0 };
	tally_access(x, i, t);
	tally_copy(x, i, t);
	tally_constants(x, i, t);
}

void usc_tally_end(const struct exec *x, const struct usc_insn *i, const struct usc_tally *t)
{
	usc_count(x->usc, class_of(i), 1);
	usc_count(x->usc, PUMICE_PERF_USC_LOAD_BYTES, t->load_bytes);
	usc_count(x->usc, PUMICE_PERF_USC_STORE_BYTES, t->store_bytes);
	usc_count(x->usc, PUMICE_PERF_USC_LOCAL_CONFLICTS, t->conflicts);
}
