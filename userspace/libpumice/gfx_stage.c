// SPDX-License-Identifier: MIT
/*
 * Stages: the PDS program that loads the inputs of a USC program (hw/isa.xml).
 */
#include <errno.h>
#include <string.h>

#include "gfx.h"
#include "heaps_internal.h"
#include "program_header.h"
#include "pumice_isa.h"
#include "pumice_names.h"
#include "pumice_regs.h"

#define STATE_WORDS	(PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS)
#define DATA_ALIGN	64u
#define VERSION_TABLES	0x00020004u	/* of the register map, since which
					 * there are attribute tables */

/* A PDS program under construction. */
struct builder {
	struct pumice_stream *stream;
	u32 code[PUMICE_PDS_MAX_INSNS * PUMICE_PDS_WORDS];
	u32 insns;
	struct pumice_stage stage;
	struct table *table;	/* for attributes, or NULL */
};

/* An attribute table under construction, so that the PDS program does not depend on buffers. */
struct table {
	u32 count;
	u32 words[PUMICE_MAX_ATTRIBUTES * PUMICE_VDM_ATTRIBUTE_WORDS];
};

static int add(struct builder *b, const struct pumice_pds_insn *insn)
{
	if (b->insns == PUMICE_PDS_MAX_INSNS)
		return fail(stream_vm(b->stream)->dev, EINVAL, "stage: more than %u inputs; combine uniforms that are adjacent",
			    PUMICE_PDS_MAX_INSNS - 2);
	pumice_pds_pack(&b->code[b->insns++ * PUMICE_PDS_WORDS], insn);
	return 0;
}

/* Add words in memory, and the burst that loads them to shared registers. */
static int add_words(struct builder *b, u32 reg, const u32 *words, u32 count)
{
	struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .reg = (u16)reg,
		.count = (u16)count,
	};
	int err = stream_share(b->stream, words, (u64)count * 4, DATA_ALIGN, &insn.addr);

	if (err)
		return err;
	if (reg + count > b->stage.shared)
		b->stage.shared = (u16)(reg + count);
	return add(b, &insn);
}

static void pack_texture(const struct pumice_input *in, u32 words[STATE_WORDS])
{
	struct pumice_sampler plain;

	pumice_sampler_init(&plain);
	pumice_texture_pack(words, in->texture);
	pumice_sampler_pack(words + PUMICE_TEXTURE_WORDS, in->sampler ? in->sampler : &plain);
}

static int add_texture(struct builder *b, const struct pumice_input *in)
{
	u32 words[STATE_WORDS];

	pack_texture(in, words);
	return add_words(b, in->reg, words, STATE_WORDS);
}

/* Add an instruction that writes attribute registers. */
static int add_attrs(struct builder *b, const struct pumice_pds_insn *insn, u32 count)
{
	if (insn->reg + count > b->stage.attrs)
		b->stage.attrs = (u8)(insn->reg + count);
	return add(b, insn);
}

static int add_prefetch(struct builder *b, const struct pumice_input *in)
{
	struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_TEXTURE, .bank = PUMICE_PDS_BANK_V, .reg = (u16)in->reg,
		.varying = (u8)in->varying, .mode = (u8)in->mode, .dim = in->texture->dim,
	};
	u32 words[STATE_WORDS];
	int err;

	pack_texture(in, words);
	err = stream_share(b->stream, words, sizeof(words), DATA_ALIGN, &insn.addr);
	return err ? err : add_attrs(b, &insn, 4);
}

/* Add an entry to the table, and the instruction that reads it. */
static int add_fetch(struct builder *b, const struct pumice_input *in)
{
	const struct pumice_vdm_attribute entry = {
		.kind = (u8)in->format, .comps = (u8)in->count, .elements = in->elements,
		.addr = in->va, .divisor = (u8)in->divisor, .stride = (u16)in->stride,
	};
	const struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_FETCH, .bank = PUMICE_PDS_BANK_V, .reg = (u16)in->reg,
		.attribute = (u8)b->table->count,
	};

	pumice_vdm_attribute_pack(b->table->words + b->table->count++ * PUMICE_VDM_ATTRIBUTE_WORDS,
				  &entry);
	return add_attrs(b, &insn, 4);
}

static int add_attribute(struct builder *b, const struct pumice_input *in)
{
	const struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_ATTR, .bank = PUMICE_PDS_BANK_V, .reg = (u16)in->reg,
		.kind = (u8)in->format, .comps = (u8)in->count, .elements = in->elements,
		.addr = in->va, .divisor = (u8)in->divisor, .stride = (u16)in->stride,
	};

	return add_attrs(b, &insn, 4);
}

static int add_varying(struct builder *b, const struct pumice_input *in)
{
	const struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_ITERATE, .bank = PUMICE_PDS_BANK_V, .reg = (u16)in->reg,
		.varying = (u8)in->varying, .comps = (u8)in->count, .mode = (u8)in->mode,
	};

	return add_attrs(b, &insn, in->count);
}

static int add_planes(struct builder *b, const struct pumice_input *in)
{
	const struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_COEFF, .bank = PUMICE_PDS_BANK_CF, .reg = (u16)in->reg,
		.varying = (u8)in->varying, .comps = (u8)in->count,
	};

	if (in->reg + 3 * in->count > b->stage.coeffs)
		b->stage.coeffs = (u16)(in->reg + 3 * in->count);
	return add(b, &insn);
}

static int add_source(struct builder *b, const struct pumice_input *in)
{
	const struct pumice_pds_insn insn = {
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V, .reg = (u16)in->reg,
		.source = (u8)in->source,
	};

	return add_attrs(b, &insn, 1);
}

static bool has_count(u32 kind)
{
	return kind == PUMICE_INPUT_UNIFORMS || kind == PUMICE_INPUT_ATTRIBUTE ||
	       kind == PUMICE_INPUT_VARYING || kind == PUMICE_INPUT_PLANES;
}

/* Check the members that all kinds have; unused ones are 0. */
static int check_fields(struct pumice_device *dev, const struct pumice_input *in, u32 index)
{
	const struct {
		const char *name;
		u32 value, max;
	} fields[] = {
		{ "stride", in->stride, UINT16_MAX }, { "divisor", in->divisor, UINT8_MAX },
		{ "varying", in->varying, 65 }, { "mode", in->mode, 3 },
		{ "format", in->format, 15 }, { "source", in->source, UINT8_MAX },
	};
	u32 i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].value > fields[i].max)
			return fail(dev, EINVAL, "stage: input %u: %s %u is not 0 to %u", index,
				    fields[i].name, fields[i].value, fields[i].max);
	if (in->kind == PUMICE_INPUT_ATTRIBUTE &&
	    (in->va < dev->info.va_start || in->va >= heaps_end(dev)))
		return fail(dev, EINVAL, "stage: input %u: va %#llx is not a GPU address: pass "
			    "pumice_buffer.va, not .cpu", index, (unsigned long long)in->va);
	return 0;
}

/* Check that the values fit the instructions' fields; the GPU validates their meaning. */
static int check_input(struct builder *b, const struct pumice_input *in, u32 index)
{
	static const u32 banks[] = {
		[PUMICE_INPUT_UNIFORMS] = PUMICE_USC_MAX_SHARED,
		[PUMICE_INPUT_TEXTURE] = PUMICE_USC_MAX_SHARED - STATE_WORDS + 1,
		[PUMICE_INPUT_SOURCE] = PUMICE_USC_MAX_ATTRS,
		[PUMICE_INPUT_ATTRIBUTE] = PUMICE_USC_MAX_ATTRS - 3,
		[PUMICE_INPUT_VARYING] = PUMICE_USC_MAX_ATTRS - 3,
		[PUMICE_INPUT_PLANES] = PUMICE_PRIM_COEFFS - 11,
		[PUMICE_INPUT_PREFETCH] = PUMICE_USC_MAX_ATTRS - 3,
	};
	struct pumice_device *dev = stream_vm(b->stream)->dev;
	u32 max_count = 4;

	if (in->kind > PUMICE_INPUT_PREFETCH)
		return fail(dev, EINVAL, "stage: input %u: kind %u is not 0 to %u", index,
			    (u32)in->kind, PUMICE_INPUT_PREFETCH);
	if (in->reg >= banks[in->kind])
		return fail(dev, EINVAL, "stage: input %u: reg %u is not 0 to %u", index, in->reg,
			    banks[in->kind] - 1);
	if ((in->kind == PUMICE_INPUT_TEXTURE || in->kind == PUMICE_INPUT_PREFETCH) &&
	    !in->texture)
		return fail(dev, EINVAL, "stage: input %u: texture is NULL; set it", index);
	if (in->kind == PUMICE_INPUT_UNIFORMS && !in->words)
		return fail(dev, EINVAL, "stage: input %u: words is NULL; set it", index);
	if (in->kind == PUMICE_INPUT_UNIFORMS)
		max_count = PUMICE_USC_MAX_SHARED - in->reg;
	if (has_count(in->kind) && (!in->count || in->count > max_count))
		return fail(dev, EINVAL, "stage: input %u: count %u is not 1 to %u", index,
			    in->count, max_count);
	return check_fields(dev, in, index);
}

static int add_input(struct builder *b, const struct pumice_input *in, u32 index)
{
	int err = check_input(b, in, index);

	if (err)
		return err;
	switch (in->kind) {
	case PUMICE_INPUT_UNIFORMS:
		return add_words(b, in->reg, in->words, in->count);
	case PUMICE_INPUT_TEXTURE:
		return add_texture(b, in);
	case PUMICE_INPUT_SOURCE:
		return add_source(b, in);
	case PUMICE_INPUT_ATTRIBUTE:
		if (b->table && b->table->count < PUMICE_MAX_ATTRIBUTES)
			return add_fetch(b, in);
		return add_attribute(b, in);
	case PUMICE_INPUT_VARYING:
		return add_varying(b, in);
	case PUMICE_INPUT_PLANES:
		return add_planes(b, in);
	default:
		return add_prefetch(b, in);
	}
}

/* A USC program that was placed. */
struct code {
	const struct pumice_program_header *header;
	u64 va;
	struct pumice_program *program;		/* of the user, whose inputs are checked; or NULL */
};

/* Warn of registers that no input loads, at the first use of a program in a stage. */
static void warn_of_inputs(const struct builder *b, struct pumice_program *program)
{
	const struct warnings warnings = device_warnings(stream_vm(b->stream)->dev);

	if (!warnings.report ||
	    __atomic_exchange_n(&program->inputs_checked, true, __ATOMIC_RELAXED))
		return;
	program_warn_of_inputs(program, warnings, b->code, b->insns);
}

static int build(struct pumice_stream *stream, const struct code *code,
		 const struct pumice_input *inputs, u32 count, struct table *table, u32 words[4])
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = code->va, .insns = code->header->usc_insns,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	struct builder b = {
		.stream = stream, .table = table,
		.stage = { .shared = code->header->shared, .attrs = code->header->attrs,
			   .temps = code->header->temps, .coeffs = code->header->coeffs,
			   .coeffs_alt = (u16)pumice_program_coeffs_alt(code->header) },
	};
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++)
		err = add_input(&b, &inputs[i], i);
	if (!err)
		err = add(&b, &task);
	if (!err)
		err = add(&b, &end);
	if (!err)
		err = stream_share(stream, b.code, (u64)b.insns * PUMICE_PDS_WORDS * 4, 16,
				   &b.stage.pds_addr);
	if (err)
		return err;
	b.stage.pds_insns = (u16)b.insns;
	pumice_stage_pack(words, &b.stage);
	if (code->program)
		warn_of_inputs(&b, code->program);
	return 0;
}

/* @table: of the attributes; NULL if the PDS program contains them */
static int place_stage(struct pumice_stream *stream, const struct pumice_stage_desc *desc,
		       struct table *table, u32 words[4])
{
	struct pumice_vm *vm = stream_vm(stream);

	if (!desc)
		return fail_null(vm->dev, "stage", "desc");
	if (desc->input_count && !desc->inputs)
		return fail(vm->dev, EINVAL, "stage: inputs is NULL; set it, or input_count to 0");
	if (!desc->kernel)
		return fail(vm->dev, EINVAL, "stage: kernel is NULL; set it");
	if (desc->kernel->vm != vm)
		return fail(vm->dev, EINVAL,
			    "stage: the kernel belongs to another vm; create it in the stream's");
	return build(stream, &(struct code){ &desc->kernel->program->header,
					     desc->kernel->code_va, desc->kernel->program },
		     desc->inputs, desc->input_count, table, words);
}

int pumice_stream_stage(struct pumice_stream *stream, const struct pumice_stage_desc *desc,
			uint32_t words[4])
{
	return place_stage(stream, desc, NULL, words);
}

/*
 * Set the vertex stage of a state, with its attributes in a table, unless the state has one
 * already, perhaps for its coordinate program, or the device reads none.
 */
static int place_vertex(struct pumice_stream *stream, const struct pumice_stage_desc *desc,
			struct pumice_vdm_state *vdm)
{
	const bool has_table = stream_vm(stream)->dev->info.version >= VERSION_TABLES;
	struct table table = { .count = 0 };
	int err = place_stage(stream, desc, has_table && !vdm->attribute_count ? &table : NULL,
			      vdm->vertex);

	if (err || !table.count)
		return err;
	vdm->attribute_count = (u8)table.count;
	return stream_share(stream, table.words,
			    (u64)table.count * PUMICE_VDM_ATTRIBUTE_WORDS * 4, 16,
			    &vdm->attributes);
}

/*
 * Set the coordinate stage of a state with deferred vertex shading that has none: the derived
 * program with the inputs of the vertex stage. @own_table: their attributes are in a table
 */
static int place_coordinate(struct pumice_stream *stream, const struct pumice_stage_desc *vertex,
			    bool own_table, struct pumice_vdm_state *vdm)
{
	static const u32 none[4];
	struct pumice_stage_desc desc = *vertex;
	struct table table = { .count = 0 };
	struct pumice_kernel *kernel;
	int err;

	if (!vdm->deferred || memcmp(vdm->coordinate, none, sizeof(none)))
		return 0;
	err = kernel_positions((struct pumice_kernel *)vertex->kernel, vdm->point_size, &kernel);
	if (err)
		return err;
	desc.kernel = kernel;
	/* The table is that of the vertex stage. */
	return place_stage(stream, &desc, own_table ? &table : NULL, vdm->coordinate);
}

/* Check that the vertex outputs which a vertex program writes exist. */
static int check_outputs(struct pumice_device *dev, const struct pumice_vdm_state *vdm,
			 const struct pumice_kernel *vertex)
{
	const u32 written = pumice_program_vo(&vertex->program->header);
	const u32 fixed = vdm->point_size ? 5 : 4, exist = fixed + vdm->varyings + vdm->more_vo;

	if (written <= exist)
		return 0;
	return fail(dev, EINVAL,
		    "stage: the vertex program writes vo%u, but vdm.varyings is %u; set it to %u, the outputs from vo%u on",
		    written - 1, vdm->varyings, written - fixed - vdm->more_vo, fixed);
}

/* Check that the varyings which an input of a fragment program reads exist. */
static int check_varyings(struct pumice_device *dev, const struct pumice_vdm_state *vdm,
			  const struct pumice_input *in, u32 index)
{
	const u32 count = in->kind == PUMICE_INPUT_PREFETCH ? 1 : in->count;

	if ((in->kind != PUMICE_INPUT_VARYING && in->kind != PUMICE_INPUT_PLANES &&
	     in->kind != PUMICE_INPUT_PREFETCH) || !count || count > PUMICE_MAX_VARYINGS ||
	    in->varying >= PUMICE_MAX_VARYINGS || in->varying + count <= vdm->varyings)
		return 0;
	return fail(dev, EINVAL,
		    "stage: input %u of the fragment stage reads varyings %u to %u, but vdm.varyings is %u; set it to %u, and write them in the vertex program",
		    index, in->varying, in->varying + count - 1, vdm->varyings,
		    in->varying + count);
}

/* Check that a stage has its inputs, and a program that can run in it. */
static int check_stage(struct pumice_device *dev, const struct pumice_stage_desc *desc, bool vertex)
{
	const char *stage = vertex ? "vertex" : "fragment";
	const u32 other = vertex ? PUMICE_PROGRAM_STAGE_FRAGMENT : PUMICE_PROGRAM_STAGE_VERTEX;
	u32 i;

	if (desc->kernel && pumice_program_stage_of(&desc->kernel->program->header) == other)
		return fail(dev, EINVAL, "stage: the kernel of the %s stage is a %s program", stage,
			    pumice_program_stage_str(other));
	for (i = 0; desc->inputs && i < desc->input_count; i++) {
		const u32 kind = desc->inputs[i].kind;

		if (kind == PUMICE_INPUT_ATTRIBUTE && !vertex)
			return fail(dev, EINVAL,
				    "stage: input %u of the fragment stage is an attribute; attributes are for the vertex stage",
				    i);
		if (kind > PUMICE_INPUT_ATTRIBUTE && kind <= PUMICE_INPUT_PREFETCH && vertex)
			return fail(dev, EINVAL,
				    "stage: input %u of the vertex stage is for the fragment stage; vertex inputs are attributes, uniforms, textures and sources",
				    i);
	}
	return 0;
}

/* The device would refuse these when it draws, by names that are not the caller's. */
static int check_interface(struct pumice_device *dev, const struct pumice_vdm_state *vdm,
			   const struct pumice_stage_desc *vertex,
			   const struct pumice_stage_desc *fragment)
{
	int err = check_stage(dev, vertex, true);
	u32 i;

	if (!err && fragment)
		err = check_stage(dev, fragment, false);
	if (!err && vertex->kernel)
		err = check_outputs(dev, vdm, vertex->kernel);
	for (i = 0; !err && fragment && fragment->inputs && i < fragment->input_count; i++)
		err = check_varyings(dev, vdm, &fragment->inputs[i], i);
	return err;
}

int pumice_stream_stages(struct pumice_stream *stream, const struct pumice_draw_state *state,
			 const struct pumice_stage_desc *vertex,
			 const struct pumice_stage_desc *fragment)
{
	struct pumice_device *dev = stream_vm(stream)->dev;
	struct pumice_draw_state with;
	bool own_table;
	int err;

	if (!state || !vertex)
		return fail_null(dev, "stage", state ? "vertex" : "state");
	with = *state;
	own_table = dev->info.version >= VERSION_TABLES && !with.vdm.attribute_count;
	err = check_interface(dev, &with.vdm, vertex, fragment);
	if (!err)
		err = place_vertex(stream, vertex, &with.vdm);
	if (!err)
		err = place_coordinate(stream, vertex, own_table, &with.vdm);
	if (!err && fragment)
		err = pumice_stream_stage(stream, fragment, with.tsp.fragment);
	return err ? err : pumice_stream_draw_state(stream, &with, NULL);
}

int stream_place_program(struct pumice_stream *stream, const char *text,
			 const struct pumice_input *inputs, u32 count, u32 words[4])
{
	struct pumice_device *dev = stream_vm(stream)->dev;
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	struct code code;
	int err = pumice_program_assemble("libpumice", text, &program, error, sizeof(error));

	if (err)
		return fail(dev, -err, "program of the library: %s", error);
	code.header = &program->header;
	code.program = NULL;
	err = stream_share(stream, program->usc, (u64)program->header.usc_insns * 16, 16, &code.va);
	if (!err)
		err = build(stream, &code, inputs, count, NULL, words);
	pumice_program_destroy(program);
	return err;
}
