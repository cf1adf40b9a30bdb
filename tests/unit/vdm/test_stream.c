// SPDX-License-Identifier: MIT
/*
 * The control stream: commands and records that are refused, each by its fault and
 * address; sub-lists, links, counts from memory; streams without an end.
 */
#include "vdm_fixture.h"

#include <string.h>

#define VA_END (1ull << PUMICE_MMU_VA_BITS)

struct stream {
	u32 word[240];
	u32 words;
};

static void put(struct stream *s, const u32 *words, u32 count)
{
	memcpy(s->word + s->words, words, count * sizeof(*words));
	s->words += count;
}

static void state(struct stream *s, u64 addr)
{
	u32 w[PUMICE_VDM_STATE_CMD_WORDS];

	pumice_vdm_state_cmd_pack(w, &(struct pumice_vdm_state_cmd){ .addr = addr });
	put(s, w, PUMICE_VDM_STATE_CMD_WORDS);
}

static void draw(struct stream *s, u32 count)
{
	u32 w[PUMICE_VDM_DRAW_WORDS];

	pumice_vdm_draw_pack(w, &(struct pumice_vdm_draw){
		.topology = PUMICE_TOPOLOGY_POINTS, .count = count, .instances = 1 });
	put(s, w, PUMICE_VDM_DRAW_WORDS);
}

static void draw_indexed(struct stream *s, u64 indices, u32 size)
{
	u32 w[PUMICE_VDM_DRAW_INDEXED_WORDS];

	pumice_vdm_draw_indexed_pack(w, &(struct pumice_vdm_draw_indexed){
		.topology = PUMICE_TOPOLOGY_POINTS, .index_size = (u8)size, .indices = indices,
		.index_count = 100000, .count = 9, .instances = 1 });
	put(s, w, PUMICE_VDM_DRAW_INDEXED_WORDS);
}

static void indirect(struct stream *s, u64 addr)
{
	u32 w[PUMICE_VDM_DRAW_INDIRECT_WORDS];

	pumice_vdm_draw_indirect_pack(w, &(struct pumice_vdm_draw_indirect){
		.topology = PUMICE_TOPOLOGY_POINTS, .addr = addr });
	put(s, w, PUMICE_VDM_DRAW_INDIRECT_WORDS);
}

static void call(struct stream *s, u64 addr)
{
	u32 w[PUMICE_VDM_CALL_WORDS];

	pumice_vdm_call_pack(w, &(struct pumice_vdm_call){ .addr = addr });
	put(s, w, PUMICE_VDM_CALL_WORDS);
}

static void jump(struct stream *s, u64 addr)
{
	u32 w[PUMICE_VDM_LINK_WORDS];

	pumice_vdm_link_pack(w, &(struct pumice_vdm_link){ .addr = addr });
	put(s, w, PUMICE_VDM_LINK_WORDS);
}

static void ret(struct stream *s)
{
	u32 w[PUMICE_VDM_RETURN_WORDS];

	pumice_vdm_return_pack(w, &(struct pumice_vdm_return){ 0 });
	put(s, w, PUMICE_VDM_RETURN_WORDS);
}

static void halt(struct stream *s)
{
	u32 w[PUMICE_VDM_HALT_WORDS];

	pumice_vdm_halt_pack(w, &(struct pumice_vdm_halt){ 0 });
	put(s, w, PUMICE_VDM_HALT_WORDS);
}

static struct vdm_fixture *make(void)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	const struct pumice_vdm_state record = vdmfx_state(false);

	vdmfx_put_state(fx, &record);
	return fx;
}

static void run(struct vdm_fixture *fx, const struct stream *s)
{
	vdmfx_put(fx, VDMFX_STREAM, s->word, s->words);
	assert_true(vdmfx_start(fx, 16));
	vdmfx_run(fx);
}

static void expect_fault(struct vdm_fixture *fx, enum pumice_fault fault, enum pumice_unit unit,
			 u64 addr)
{
	const struct gpu_fault *got = vdmfx_fault(fx);

	assert_int_equal(fx->ended[DM_FAULT], 1);
	assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_ABORTED], 0);
	if (got->fault != fault || got->unit != unit || got->addr != addr)
		fail_msg("fault %u unit %u at 0x%llx, not %u %u 0x%llx", got->fault, got->unit,
			 (unsigned long long)got->addr, fault, unit, (unsigned long long)addr);
	assert_int_equal(got->ctx, FX_CTX);
	assert_false(vdm_status(fx->vdm)->busy);
	assert_false(fx->state.valid);
}

/* Words of a stream after a state, and the expected fault. */
struct bad {
	const char *what;
	u32 word[10];
	enum pumice_fault fault;
};

#define TYPE(t) ((u32)PUMICE_VDM_TYPE_##t << 28)

static const struct bad bad_commands[] = {
	{ "type 0", { 0 }, PUMICE_FAULT_VDM_COMMAND },
	{ "type 12", { 12u << 28 }, PUMICE_FAULT_VDM_COMMAND },
	{ "task bit 0", { TYPE(TASK) | 1 }, PUMICE_FAULT_VDM_RESERVED },
	{ "task bit 27", { TYPE(TASK) | 1u << 27 }, PUMICE_FAULT_VDM_RESERVED },
	{ "type 15", { 15u << 28 }, PUMICE_FAULT_VDM_COMMAND },
	{ "state bit 0", { TYPE(STATE) | 1, 0x800 }, PUMICE_FAULT_VDM_RESERVED },
	{ "state high", { TYPE(STATE), 0x800, 0x100 }, PUMICE_FAULT_VDM_RESERVED },
	{ "state misaligned", { TYPE(STATE), 0x808 }, PUMICE_FAULT_VDM_ALIGN },
	{ "draw topology 6", { TYPE(DRAW) | 6 }, PUMICE_FAULT_VDM_RESERVED },
	{ "draw bit 3", { TYPE(DRAW) | 8 }, PUMICE_FAULT_VDM_RESERVED },
	{ "draw bit 7", { TYPE(DRAW) | 128 }, PUMICE_FAULT_VDM_RESERVED },
	{ "draw word 5", { TYPE(DRAW), 3, 0, 1, 0, 1 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indexed topology 7", { TYPE(DRAW_INDEXED) | 7 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indexed size 3", { TYPE(DRAW_INDEXED) | 3 << 3 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indexed bit 7", { TYPE(DRAW_INDEXED) | 128 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indexed word 9", { TYPE(DRAW_INDEXED), [9] = 1 }, PUMICE_FAULT_VDM_RESERVED },
	{ "u16 askew", { TYPE(DRAW_INDEXED) | 1 << 3, 0x1001 }, PUMICE_FAULT_VDM_ALIGN },
	{ "u32 askew", { TYPE(DRAW_INDEXED) | 2 << 3, 0x1002 }, PUMICE_FAULT_VDM_ALIGN },
	{ "indirect misaligned", { TYPE(DRAW_INDIRECT), 0x902 }, PUMICE_FAULT_VDM_ALIGN },
	{ "indirect topology", { TYPE(DRAW_INDIRECT) | 7, 0x900 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indirect bit 3", { TYPE(DRAW_INDIRECT) | 8, 0x900 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indirect word 3", { TYPE(DRAW_INDIRECT), 0x900, 0, 1 }, PUMICE_FAULT_VDM_RESERVED },
	{ "indexed indirect misaligned", { TYPE(DRAW_INDEXED_INDIRECT), 0, 0, 0, 0x901 },
	  PUMICE_FAULT_VDM_ALIGN },
	{ "indexed indirect bit 7", { TYPE(DRAW_INDEXED_INDIRECT) | 128 },
	  PUMICE_FAULT_VDM_RESERVED },
	{ "indexed indirect size", { TYPE(DRAW_INDEXED_INDIRECT) | 3 << 3 },
	  PUMICE_FAULT_VDM_RESERVED },
	{ "call misaligned", { TYPE(CALL), 2 }, PUMICE_FAULT_VDM_ALIGN },
	{ "call bit 5", { TYPE(CALL) | 32, 4 }, PUMICE_FAULT_VDM_RESERVED },
	{ "link misaligned", { TYPE(LINK), 1 }, PUMICE_FAULT_VDM_ALIGN },
	{ "link high", { TYPE(LINK), 0, 1u << 31 }, PUMICE_FAULT_VDM_RESERVED },
	{ "return bit 27", { TYPE(RETURN) | 1u << 27 }, PUMICE_FAULT_VDM_RESERVED },
	{ "return outside", { TYPE(RETURN) }, PUMICE_FAULT_VDM_RETURN },
	{ "halt bit 0", { TYPE(HALT) | 1 }, PUMICE_FAULT_VDM_RESERVED },
};

static void bad_commands_fault_at_their_address(void **unused)
{
	struct vdm_fixture *fx = make();
	u32 i;

	(void)unused;
	for (i = 0; i < sizeof(bad_commands) / sizeof(bad_commands[0]); i++) {
		struct stream s = { .words = 0 };

		state(&s, VDMFX_STATE);
		draw(&s, 40);
		put(&s, bad_commands[i].word, 10);
		run(fx, &s);
		if (vdmfx_fault(fx)->fault != bad_commands[i].fault)
			print_message("%s:\n", bad_commands[i].what);
		expect_fault(fx, bad_commands[i].fault, PUMICE_UNIT_VDM, VDMFX_STREAM + 9 * 4);
	}
	vdmfx_destroy(fx);
}

static void a_draw_needs_state(void **unused)
{
	struct vdm_fixture *fx = make();
	u32 i;

	(void)unused;
	for (i = 0; i < 3; i++) {
		struct stream s = { .words = 0 };

		if (i == 0)
			draw(&s, 0);
		else if (i == 1)
			draw_indexed(&s, VDMFX_INDICES, 1);
		else
			indirect(&s, VDMFX_COUNTS);
		halt(&s);
		run(fx, &s);
		expect_fault(fx, PUMICE_FAULT_VDM_STATE, PUMICE_UNIT_VDM, VDMFX_STREAM);
	}
	vdmfx_destroy(fx);
}

static void bad_records_fault(void **unused)
{
	static const struct {
		const char *what;
		u32 word, value;	/* value to write; float bits are below */
		enum pumice_fault fault;
	} cases[] = {
		{ "no vertex program", 1, 0, PUMICE_FAULT_VDM_STATE },
		{ "stage low bits", 0, 1, PUMICE_FAULT_VDM_RESERVED },
		{ "coordinate stage bits", 7, 1u << 24, PUMICE_FAULT_VDM_RESERVED },
		{ "65 varyings", 8, 65, PUMICE_FAULT_VDM_STATE },
		{ "word 8 bit 7", 8, 1u << 7, PUMICE_FAULT_VDM_RESERVED },
		{ "deferred, with a coordinate program", 8, 1u << 25, 0 },
		{ "word 8 bit 26", 8, 1u << 26, PUMICE_FAULT_VDM_RESERVED },
		/*
		 * 4 of the position, 3 varyings and 249 or 250 more, or 249 and the point's size.
		 */
		{ "257 vertex outputs", 8, 250u << 17 | 3, PUMICE_FAULT_VDM_STATE },
		{ "257 with the size", 8, 249u << 17 | 1u << 8 | 3, PUMICE_FAULT_VDM_STATE },
		{ "256 vertex outputs", 8, 249u << 17 | 3, 0 },
		{ "isp_state misaligned", 17, 8, PUMICE_FAULT_VDM_RESERVED },
		{ "word 18", 18, 1u << 8, PUMICE_FAULT_VDM_RESERVED },
		{ "33 attributes", 20, 33u << 8, PUMICE_FAULT_VDM_STATE },
		{ "word 20 bit 14", 20, 1u << 14, PUMICE_FAULT_VDM_RESERVED },
		{ "attributes misaligned", 21, 8, PUMICE_FAULT_VDM_RESERVED },
		{ "a table of no attribute", 22, 0xff, 0 },
		{ "word 23", 23, 1u << 31, PUMICE_FAULT_VDM_RESERVED },
		{ "16385 uniforms", 23, 16385u << 8, PUMICE_FAULT_VDM_STATE },
		{ "16384 uniforms", 23, 16384u << 8, 0 },
		{ "point of NaN", 15, 0x7fc00000, PUMICE_FAULT_VDM_STATE },
		{ "infinite point", 15, 0x7f800000, PUMICE_FAULT_VDM_STATE },
		{ "point of 0", 15, 0, PUMICE_FAULT_VDM_STATE },
		{ "line of NaN", 16, 0xffc00000, PUMICE_FAULT_VDM_STATE },
		{ "line of -1", 16, 0xbf800000, PUMICE_FAULT_VDM_STATE },
		{ "line of 65", 16, 0x42820000, PUMICE_FAULT_VDM_STATE },
		/* No viewport causes a fault here. */
		{ "scale of NaN", 9, 0x7fc00000, 0 },
		{ "infinite offset", 13, 0xff800000, 0 },
		{ "line of 64", 16, 0x42800000, 0 },
		{ "point of 256", 15, 0x43800000, 0 },
	};
	struct vdm_fixture *fx = make();
	const struct pumice_vdm_state good = vdmfx_state(true);
	u32 i, words[PUMICE_VDM_STATE_WORDS];

	(void)unused;
	assert_true(good.point_width == 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream s = { .words = 0 };

		pumice_vdm_state_pack(words, &good);
		words[cases[i].word] = cases[i].value;
		vdmfx_put(fx, VDMFX_STATE, words, PUMICE_VDM_STATE_WORDS);
		state(&s, VDMFX_STATE);
		halt(&s);
		run(fx, &s);
		if (vdmfx_fault(fx)->fault != cases[i].fault)
			print_message("%s:\n", cases[i].what);
		if (cases[i].fault)
			expect_fault(fx, cases[i].fault, PUMICE_UNIT_VDM, VDMFX_STATE);
		else
			assert_int_equal(fx->ended[DM_DONE], 1);
	}
	vdmfx_destroy(fx);
}

/* Run a stream with a state that has a table of this number of attributes. */
static void run_table(struct vdm_fixture *fx, u64 addr, u32 count)
{
	struct pumice_vdm_state record = vdmfx_state(true);
	struct stream s = { .words = 0 };

	record.attributes = addr;
	record.attribute_count = (u8)count;
	vdmfx_put_state(fx, &record);
	state(&s, VDMFX_STATE);
	halt(&s);
	run(fx, &s);
}

static void bad_attributes_fault_by_entry(void **unused)
{
	static const struct {
		u32 word, value;
		enum pumice_fault fault;
	} cases[] = {
		{ 3, 4 << 4, 0 }, { 3, 1 << 4 | 15, 0 }, { 0, ~0u, 0 }, { 1, ~0u, 0 },
		{ 3, 0, PUMICE_FAULT_VDM_STATE }, { 3, 5 << 4, PUMICE_FAULT_VDM_STATE },
		{ 3, 4 << 4 | 1 << 7, PUMICE_FAULT_VDM_RESERVED },
		{ 3, 4 << 4 | 1u << 31, PUMICE_FAULT_VDM_RESERVED },
	};
	const u64 table = FX_DATA + 0xa00, end = FX_DATA + FX_DATA_BYTES;
	const struct pumice_vdm_attribute good = { .comps = 4 };
	struct vdm_fixture *fx = make();
	u32 words[PUMICE_MAX_ATTRIBUTES][PUMICE_VDM_ATTRIBUTE_WORDS], n, i;

	(void)unused;
	for (n = 0; n < PUMICE_MAX_ATTRIBUTES; n++)
		pumice_vdm_attribute_pack(words[n], &good);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = i * 31 % PUMICE_MAX_ATTRIBUTES;
		pumice_vdm_attribute_pack(words[n], &good);
		words[n][cases[i].word] = cases[i].value;
		vdmfx_put(fx, table, words[0], PUMICE_MAX_ATTRIBUTES * PUMICE_VDM_ATTRIBUTE_WORDS);
		run_table(fx, table, PUMICE_MAX_ATTRIBUTES);
		if (cases[i].fault)
			expect_fault(fx, cases[i].fault, PUMICE_UNIT_VDM, table + n * 16);
		else
			assert_int_equal(fx->ended[DM_DONE], 1);
		pumice_vdm_attribute_pack(words[n], &good);
	}
	vdmfx_put(fx, end - 16, words[0], PUMICE_VDM_ATTRIBUTE_WORDS);
	run_table(fx, end - 16, 1);
	assert_int_equal(fx->ended[DM_DONE], 1);
	run_table(fx, end - 16, 2);
	expect_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_VDM, end);
	vdmfx_destroy(fx);
}

static void deferred_vertices_need_a_coordinate_program(void **unused)
{
	struct vdm_fixture *fx = make();
	struct pumice_vdm_state record = vdmfx_state(false);
	struct stream s = { .words = 0 };

	(void)unused;
	state(&s, VDMFX_STATE);
	halt(&s);
	vdmfx_put_state(fx, &record);
	run(fx, &s);
	assert_int_equal(fx->ended[DM_DONE], 1);
	record.deferred = true;
	vdmfx_put_state(fx, &record);
	run(fx, &s);
	expect_fault(fx, PUMICE_FAULT_VDM_STATE, PUMICE_UNIT_VDM, VDMFX_STATE);
	vdmfx_destroy(fx);
}

static void programs_of_a_record_are_checked_with_it(void **unused)
{
	struct vdm_fixture *fx = make();
	struct pumice_vdm_state record = vdmfx_state(true);
	struct pumice_stage stage;
	struct stream s = { .words = 0 };
	u32 which;

	(void)unused;
	state(&s, VDMFX_STATE);
	halt(&s);
	for (which = 0; which < 2; which++) {
		record = vdmfx_state(true);
		pumice_stage_unpack(which ? record.coordinate : record.vertex, &stage);
		stage.attrs = 1;	/* instance_id is written to the second */
		pumice_stage_pack(which ? record.coordinate : record.vertex, &stage);
		vdmfx_put_state(fx, &record);
		run(fx, &s);
		expect_fault(fx, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS, stage.pds_addr + 16);
		stage.attrs = 2;
		stage.temps = 249;
		pumice_stage_pack(which ? record.coordinate : record.vertex, &stage);
		vdmfx_put_state(fx, &record);
		run(fx, &s);
		expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, stage.pds_addr);
	}
	vdmfx_destroy(fx);
}

static void missing_memory_faults(void **unused)
{
	struct vdm_fixture *fx = make();
	const u64 end = FX_DATA + FX_DATA_BYTES;
	static const enum pumice_fault fault[] = {
		PUMICE_FAULT_MMU_PT_INVALID, PUMICE_FAULT_MMU_PT_INVALID,
		PUMICE_FAULT_MMU_PT_INVALID, PUMICE_FAULT_MMU_PC_INVALID,
		PUMICE_FAULT_MMU_PT_INVALID, PUMICE_FAULT_MMU_PC_INVALID,
	};
	u32 i;

	(void)unused;
	for (i = 0; i < 6; i++) {
		struct stream s = { .words = 0 };
		u64 addr = end;

		state(&s, i == 0 ? end - 16 : VDMFX_STATE);
		if (i == 1)
			indirect(&s, end - 8);
		else if (i == 2)
			draw_indexed(&s, end - 8, 2);
		else if (i == 3)
			jump(&s, addr = VA_END - 4);
		else if (i == 4)
			call(&s, addr = 0x5000);
		else if (i == 5)
			state(&s, addr = VA_END - 16);
		halt(&s);
		run(fx, &s);
		expect_fault(fx, fault[i], PUMICE_UNIT_VDM, addr);
	}
	vdmfx_destroy(fx);
}

static void sub_lists_nest_to_a_maximum_depth(void **unused)
{
	struct vdm_fixture *fx = make();
	u32 depth, i;

	(void)unused;
	for (depth = PUMICE_VDM_MAX_DEPTH; depth <= PUMICE_VDM_MAX_DEPTH + 1; depth++) {
		struct stream s = { .words = 0 };

		state(&s, VDMFX_STATE);
		call(&s, VDMFX_SUB);
		draw(&s, 1000);
		halt(&s);
		for (i = 0; i < depth; i++) {
			struct stream sub = { .words = 0 };

			draw(&sub, i + 1);
			if (i + 1 < depth)
				call(&sub, VDMFX_SUB + (i + 1) * 0x80);
			draw(&sub, 100 + i);
			ret(&sub);
			vdmfx_put(fx, VDMFX_SUB + i * 0x80, sub.word, sub.words);
		}
		run(fx, &s);
		if (depth > PUMICE_VDM_MAX_DEPTH) {
			expect_fault(fx, PUMICE_FAULT_VDM_DEPTH, PUMICE_UNIT_VDM,
				     VDMFX_SUB + (depth - 2) * 0x80 + PUMICE_VDM_DRAW_WORDS * 4);
			continue;
		}
		assert_int_equal(fx->ended[DM_DONE], 1);
		vdmfx_render(fx);
		assert_int_equal(fx->drawn.count, 1000 + 4 * 100 + 6 + 10);
		/* 1, 2, 3, 4, then 103 down to 100, then 1000: points restart from vertex 0. */
		assert_int_equal(fx->drawn.prim[10 + 102].vertex[0], 102);
		assert_int_equal(fx->drawn.prim[10 + 103].vertex[0], 0);
		assert_int_equal(fx->drawn.prim[10 + 406].vertex[0], 0);
		assert_int_equal(fx->drawn.prim[10 + 406 + 999].vertex[0], 999);
	}
	vdmfx_destroy(fx);
}

static void counts_are_read_when_they_are_reached(void **unused)
{
	static const u32 counts[] = { 7, 2, 50, 3, 90 };
	struct vdm_fixture *fx = make();
	struct stream s = { .words = 0 };
	u32 w[PUMICE_VDM_DRAW_INDEXED_INDIRECT_WORDS], i;

	(void)unused;
	for (i = 0; i < 100; i++)
		fx->base->data[VDMFX_INDICES - FX_DATA + i] = (u8)(200 - i);
	vdmfx_put(fx, VDMFX_COUNTS, counts, 5);
	state(&s, VDMFX_STATE);
	indirect(&s, VDMFX_COUNTS);	/* 7 vertices, 2 instances, from 50, instance 3 on */
	pumice_vdm_draw_indexed_indirect_pack(w, &(struct pumice_vdm_draw_indexed_indirect){
		.topology = PUMICE_TOPOLOGY_POINTS, .indices = VDMFX_INDICES, .index_count = 54,
		.addr = VDMFX_COUNTS });
	put(&s, w, PUMICE_VDM_DRAW_INDEXED_INDIRECT_WORDS);	/* from index 50, vertex 3,
								 * instance 90 */
	halt(&s);
	run(fx, &s);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, 28);
	for (i = 0; i < 28; i++) {
		const struct vdmfx_prim *p = &fx->drawn.prim[i];
		const u32 n = i % 7;

		assert_int_equal(p->vertex[0], i < 14 ? 50 + n : n < 4 ? 150 - n + 3 : 3);
		assert_int_equal(p->instance[0], (i < 14 ? 3 : 90) + i / 7 % 2);
	}
	vdmfx_destroy(fx);
}

/* Each step ends, and an abort ends the job. */
static void a_stream_without_an_end_can_be_stopped(void **unused)
{
	struct vdm_fixture *fx = make();
	u32 kind, i;

	(void)unused;
	for (kind = 0; kind < 4; kind++) {
		struct stream s = { .words = 0 };

		state(&s, VDMFX_STATE);
		if (kind == 1)
			draw(&s, 3);
		if (kind == 3) {
			u32 w[PUMICE_VDM_DRAW_WORDS];

			pumice_vdm_draw_pack(w, &(struct pumice_vdm_draw){
				.topology = PUMICE_TOPOLOGY_TRIANGLE_STRIP, .count = UINT32_MAX,
				.instances = UINT32_MAX });
			put(&s, w, PUMICE_VDM_DRAW_WORDS);
		}
		jump(&s, kind == 2 ? VDMFX_STREAM + 12 : VDMFX_STREAM);
		vdmfx_put(fx, VDMFX_STREAM, s.word, s.words);
		assert_true(vdmfx_start(fx, 64));
		for (i = 0; i < 300; i++) {
			assert_true(vdmfx_step(fx));
			fx->list.count = 0;
		}
		assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_FAULT], 0);
		vdmfx_call(fx, vdm_abort);
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_ABORTED], 1);
	}
	vdmfx_destroy(fx);
}

/* Random words, mostly of legal types: for any stream, the job can be ended. */
static void random_commands_do_no_harm(void **unused)
{
	struct vdm_fixture *fx = make();
	const struct pumice_vdm_state good = vdmfx_state(false);
	u32 round, i, words[PUMICE_VDM_STATE_WORDS];

	(void)unused;
	for (round = 0; round < 3000; round++) {
		pumice_vdm_state_pack(words, &good);
		if (round % 4 == 0)
			words[vdmfx_random(fx, PUMICE_VDM_STATE_WORDS)] ^=
				1u << vdmfx_random(fx, 32);
		vdmfx_put(fx, VDMFX_STATE, words, PUMICE_VDM_STATE_WORDS);
		for (i = 0; i < FX_DATA_BYTES / 4; i++) {
			const u64 addr = FX_DATA + i * 4;
			u32 word = vdmfx_random(fx, 1u << 28) & vdmfx_random(fx, 1u << 28);

			/* Commands with few bits set, and addresses within the data. */
			if (vdmfx_random(fx, 2))
				word = (1 + vdmfx_random(fx, 11)) << 28 |
				       vdmfx_random(fx, 2) << 6 | vdmfx_random(fx, 64) >> 3;
			else if (vdmfx_random(fx, 2))
				word = vdmfx_random(fx, 2) ? 0 :
				       (u32)(FX_DATA + vdmfx_random(fx, 0x900) * 16);
			if (addr < VDMFX_STATE || addr >= VDMFX_STATE + sizeof(words))
				vdmfx_put(fx, addr, &word, 1);
		}
		if (round % 3) {	/* at least one valid command */
			struct stream s = { .words = 0 };

			state(&s, VDMFX_STATE);
			vdmfx_put(fx, VDMFX_STREAM, s.word, s.words);
		}
		assert_true(vdmfx_start(fx, 1 + vdmfx_random(fx, 600)));
		for (i = 0; i < 150 && vdmfx_step(fx); i++)
			fx->list.count = 0;
		vdmfx_call(fx, vdm_abort);
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_DONE] + fx->ended[DM_FAULT] + fx->ended[DM_ABORTED],
				 1);
		for (i = 0; i < fx->base->uscs; i++)
			fx->base->usc[i]->aborted = false;
	}
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_commands_fault_at_their_address),
		cmocka_unit_test(a_draw_needs_state),
		cmocka_unit_test(bad_records_fault),
		cmocka_unit_test(deferred_vertices_need_a_coordinate_program),
		cmocka_unit_test(bad_attributes_fault_by_entry),
		cmocka_unit_test(programs_of_a_record_are_checked_with_it),
		cmocka_unit_test(missing_memory_faults),
		cmocka_unit_test(sub_lists_nest_to_a_maximum_depth),
		cmocka_unit_test(counts_are_read_when_they_are_reached),
		cmocka_unit_test(a_stream_without_an_end_can_be_stopped),
		cmocka_unit_test(random_commands_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
