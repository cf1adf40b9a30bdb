// SPDX-License-Identifier: MIT
/*
 * Builder of acceleration structures: compute programs (rays/) and the launches that run them.
 *
 * Source: hw/rt.xml; T. Karras, "Maximizing Parallelism in the Construction of BVHs, Octrees, and
 * k-d Trees", 2012, for the tree of the sorted codes. A build computes leaves and their bounds,
 * sorts them by the interleaved bits of their centres, links a binary tree, computes its boxes
 * upwards, and writes nodes of four children. A refit does the same without the order.
 *
 * Limits: a structure has one buffer, in which offsets have 32 bits, as those of vertices. A refit
 * in a job that runs without the build before it has no structure as its result: its header is
 * invalid, so that rays fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "program.h"
#include "pumice/pumice_rays.h"
#include "rays_text.h"

#define MAX_GROUP	128u	/* instances of a work-group of each program */
#define BUFFER_ALIGN	128u
#define BOX_BYTES	32u
#define PAIR_BYTES	8u
#define SCENE_WORDS	7u	/* bounds, and the mark of a complete build */
#define MIN_LEAVES	2u	/* a single one is there twice */
#define MAX_OFFSET	(UINT32_MAX - 11u)	/* of a vertex, 12 bytes */
#define HEADER_WORDS	8u	/* of rt_header, before the box */

/* Uniforms of the programs, as rays/common.pasm names them. */
struct uniforms {
	u32 base[2], leaves, sources;
	/* Offsets of the parts in the buffer. */
	u32 nodes, records, keys, bounds, boxes, parents, children, counters, scene;
	u32 size, step, padded;	/* see there */
	u32 source[2], stride, indices[2], indexed;
	u32 header[HEADER_WORDS];
	u32 node_ref, leaf_ref;
};

#define UNIFORM_WORDS (sizeof(struct uniforms) / sizeof(u32))
_Static_assert(UNIFORM_WORDS == 32, "as in rays/common.pasm");
_Static_assert(sizeof(struct pumice_ray_instance) == 64, "as in rays/instances.pasm");

enum rays_program { CLEAR, TRIANGLES, INSTANCES, KEYS, SORT, TREE, BOXES, NODES, PROGRAMS };

static const struct {
	const char *name, *text;
} programs[PROGRAMS] = {
	[CLEAR] = { "clear.pasm", clear_text },
	[TRIANGLES] = { "triangles.pasm", triangles_text },
	[INSTANCES] = { "instances.pasm", instances_text },
	[KEYS] = { "keys.pasm", keys_text },
	[SORT] = { "sort.pasm", sort_text },
	[TREE] = { "tree.pasm", tree_text },
	[BOXES] = { "boxes.pasm", boxes_text },
	[NODES] = { "nodes.pasm", nodes_text },
};

struct pumice_rays {
	struct pumice_vm *vm;
	u32 group;		/* instances of a work-group of each program */
	struct pumice_kernel *kernel[PROGRAMS];
};

struct pumice_ray_structure {
	struct pumice_rays *rays;
	struct pumice_buffer buffer;
	u32 capacity;
	u32 built;		/* leaves of the last build, or 0 */
	u32 level;		/* of it, enum pumice_rt_level */
	struct uniforms parts;	/* only the offsets */
};

/* The macro of programs that read what other cores have stored in the same launch. */
static const char *drop_lines(const struct pumice_device *dev)
{
	if (dev->info.version < VERSION_CACHES)
		return ".macro drop_lines\n.endm\n";
	return ".macro drop_lines\n\tcache_invalidate core\n.endm\n";
}

/* Assemble a program. Its work-groups have 32 instances: their number changes nothing else. */
static int assemble(struct pumice_device *dev, enum rays_program p,
		    struct pumice_program **program)
{
	char error[PUMICE_ERROR_BYTES];
	char *text;
	int err;

	if (asprintf(&text, "%s%s%s", common_text, drop_lines(dev), programs[p].text) < 0)
		return fail(dev, ENOMEM, "rays: out of memory");
	err = program_assemble(programs[p].name, text, device_warnings(dev), program, error,
			       sizeof(error));
	free(text);
	return err ? fail(dev, -err, "%s", error) : 0;
}

/* Return the unified registers of an instance of the largest program. */
static u32 most_registers(struct pumice_program *const program[PROGRAMS])
{
	u32 most = 0;

	for (enum rays_program p = 0; p < PROGRAMS; p++) {
		const struct pumice_program_header *h = &program[p]->header;
		const u32 registers = (u32)h->temps + h->attrs;

		most = registers > most ? registers : most;
	}
	return most;
}

/* The instances of a work-group: at most as many as a USC has waves and registers for. */
static u32 group_size(const struct pumice_device_info *info, u32 registers)
{
	const u32 waves = info->unified_bytes / (registers * PUMICE_LANES * (u32)sizeof(u32));
	u32 group = MAX_GROUP;

	if (group > info->max_group_instances)
		group = info->max_group_instances;
	if (group > waves * PUMICE_LANES)
		group = waves * PUMICE_LANES;
	return group ? group : PUMICE_LANES;
}

/* Assemble all programs, and place them in the VM with the same work-groups. */
static int create_kernels(struct pumice_rays *r)
{
	struct pumice_program *program[PROGRAMS] = { NULL };
	enum rays_program p;
	int err = 0;

	for (p = 0; !err && p < PROGRAMS; p++)
		err = assemble(r->vm->dev, p, &program[p]);
	if (!err)
		r->group = group_size(&r->vm->dev->info, most_registers(program));
	for (p = 0; !err && p < PROGRAMS; p++) {
		program[p]->header.size_x = (u16)r->group;
		err = pumice_kernel_create(r->vm, program[p], &r->kernel[p]);
	}
	for (p = 0; p < PROGRAMS; p++)
		pumice_program_destroy(program[p]);
	return err;
}

int pumice_rays_create(struct pumice_vm *vm, struct pumice_rays **rays)
{
	struct pumice_rays *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return fail(vm->dev, ENOMEM, "rays: out of memory");
	r->vm = vm;
	err = create_kernels(r);
	if (err)
		pumice_rays_destroy(r);
	else
		*rays = r;
	return err;
}

void pumice_rays_destroy(struct pumice_rays *rays)
{
	if (!rays)
		return;
	for (enum rays_program p = 0; p < PROGRAMS; p++)
		pumice_kernel_destroy(rays->kernel[p]);
	free(rays);
}

static u32 padded_keys(u32 leaves)
{
	u32 padded = MIN_LEAVES;

	while (padded < leaves)
		padded *= 2;
	return padded;
}

/* Allocate bytes of the buffer. */
static u32 part(u64 *used, u64 bytes)
{
	u64 at = *used;

	*used += (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
	return (u32)at;
}

/* Set the offsets of the parts for this number of leaves; returns the bytes of all. */
static u64 place_parts(struct uniforms *u, u32 capacity)
{
	const u64 leaves = capacity < MIN_LEAVES ? MIN_LEAVES : capacity, inner = leaves - 1;
	u64 used = 0;

	part(&used, PUMICE_RT_HEADER_WORDS * sizeof(u32));
	u->nodes = part(&used, inner * PUMICE_RT_NODE_WORDS * sizeof(u32));
	u->records = part(&used, leaves * PUMICE_RT_TRIANGLE_WORDS * sizeof(u32));
	u->keys = part(&used, (u64)padded_keys(capacity) * PAIR_BYTES);
	u->bounds = part(&used, leaves * BOX_BYTES);
	u->boxes = part(&used, (leaves + inner) * BOX_BYTES);
	u->parents = part(&used, (leaves + inner) * sizeof(u32));
	u->children = part(&used, inner * PAIR_BYTES);
	u->counters = part(&used, leaves * sizeof(u32));
	u->scene = part(&used, SCENE_WORDS * sizeof(u32));
	return used;
}

int pumice_ray_structure_create(struct pumice_rays *rays, uint32_t leaves,
				struct pumice_ray_structure **structure)
{
	struct pumice_device *dev = rays->vm->dev;
	struct pumice_ray_structure *s;
	int err;

	if (!leaves || leaves > PUMICE_RAYS_MAX_LEAVES)
		return fail(dev, EINVAL, "ray structure: leaves %u is not 1 to %u", leaves,
			    PUMICE_RAYS_MAX_LEAVES);
	s = calloc(1, sizeof(*s));
	if (!s)
		return fail(dev, ENOMEM, "ray structure: out of memory");
	s->rays = rays;
	s->capacity = leaves;
	err = pumice_buffer_create(rays->vm, place_parts(&s->parts, leaves), &s->buffer);
	if (err)
		pumice_ray_structure_destroy(s);
	else
		*structure = s;
	return err;
}

void pumice_ray_structure_destroy(struct pumice_ray_structure *structure)
{
	if (!structure)
		return;
	pumice_buffer_destroy(&structure->buffer);
	free(structure);
}

uint64_t pumice_ray_structure_va(const struct pumice_ray_structure *structure)
{
	return structure->buffer.va;
}

void pumice_ray_mesh_init(struct pumice_ray_mesh *mesh, uint64_t vertices, uint32_t triangles)
{
	*mesh = (struct pumice_ray_mesh){
		.vertices = vertices, .stride = 3 * sizeof(float), .triangles = triangles,
	};
}

void pumice_ray_instance_init(struct pumice_ray_instance *instance, uint64_t structure,
			      uint32_t id)
{
	*instance = (struct pumice_ray_instance){
		.to_world = { [0] = 1, [5] = 1, [10] = 1 }, .structure = structure, .id = id,
	};
}

static void set_address(u32 *words, u64 va)
{
	words[0] = (u32)va;
	words[1] = (u32)(va >> 32);
}

/* The first words of the header, and references, for this number of leaves. */
static void set_formats(struct uniforms *u, const struct pumice_ray_structure *s, u32 level)
{
	const struct pumice_rt_child_ref node = { .kind = PUMICE_RT_CHILD_NODE },
					 leaf = { .kind = PUMICE_RT_CHILD_LEAF };
	const struct pumice_rt_header header = {
		.level = (u8)level, .nodes = u->leaves - 1, .leaves = u->leaves,
		.node_addr = s->buffer.va + u->nodes, .leaf_addr = s->buffer.va + u->records,
	};
	u32 words[PUMICE_RT_HEADER_WORDS];

	pumice_rt_header_pack(words, &header);
	memcpy(u->header, words, sizeof(u->header));
	pumice_rt_child_ref_pack(&u->node_ref, &node);
	pumice_rt_child_ref_pack(&u->leaf_ref, &leaf);
}

/* Add a launch of one of the programs, after those before it. */
static int launch(struct pumice_stream *stream, const struct pumice_ray_structure *s,
		  enum rays_program p, u32 instances, const struct uniforms *u)
{
	struct pumice_dispatch dispatch;
	int err = pumice_stream_fence(stream);

	if (err)
		return err;
	pumice_dispatch_init(&dispatch, s->rays->kernel[p]);
	dispatch.groups[0] = (instances + s->rays->group - 1) / s->rays->group;
	dispatch.uniforms = (const u32 *)(const void *)u;
	dispatch.uniform_words = UNIFORM_WORDS;
	return pumice_stream_dispatch(stream, &dispatch);
}

static int sort(struct pumice_stream *stream, const struct pumice_ray_structure *s,
		struct uniforms *u)
{
	int err = launch(stream, s, KEYS, u->padded, u);

	for (u->size = 2; !err && u->size <= u->padded; u->size *= 2) {
		for (u->step = u->size / 2; !err && u->step; u->step /= 2)
			err = launch(stream, s, SORT, u->padded / 2, u);
	}
	return err ? err : launch(stream, s, TREE, u->leaves - 1, u);
}

/* Check what both kinds of structures have in common. */
static int check(const struct pumice_stream *stream, const struct pumice_ray_structure *s,
		 u32 level, u32 sources, u32 flags)
{
	struct pumice_device *dev = stream_vm(stream)->dev;

	if (!s)
		return fail_null(dev, "ray structure", "structure");
	if (stream_vm(stream) != s->rays->vm)
		return fail(dev, EINVAL, "ray structure: the stream is of another VM");
	if (flags & ~PUMICE_RAYS_REFIT)
		return fail(dev, EINVAL, "ray structure: unknown flags %#x; accepted: %#x", flags,
			    PUMICE_RAYS_REFIT);
	if (!sources || sources > s->capacity)
		return fail(dev, EINVAL, "ray structure: %u leaves are not 1 to %u, its capacity",
			    sources, s->capacity);
	if ((flags & PUMICE_RAYS_REFIT) && (sources != s->built || level != s->level))
		return fail(dev, EINVAL,
			    "ray structure: a refit of %u leaves does not match the last build; build it again",
			    sources);
	return 0;
}

/* Check the address of triangles or instances. */
static int check_source(struct pumice_stream *stream, const char *what, u64 va, u64 align)
{
	if (!va)
		return fail(stream_vm(stream)->dev, EINVAL, "%s is 0; set it to their GPU address",
			    what);
	return stream_check_va(stream, what, va, align);
}

static int build(struct pumice_stream *stream, struct pumice_ray_structure *s,
		 struct uniforms *u, u32 level, u32 sources, u32 flags)
{
	const bool refit = flags & PUMICE_RAYS_REFIT;
	int err;

	set_address(u->base, s->buffer.va);
	u->sources = sources;
	u->leaves = sources < MIN_LEAVES ? MIN_LEAVES : sources;
	u->padded = padded_keys(u->leaves);
	set_formats(u, s, level);
	u->size = refit ? SCENE_WORDS - 1 : SCENE_WORDS;
	err = launch(stream, s, CLEAR, u->leaves, u);
	if (!err)
		err = launch(stream, s, level == PUMICE_RT_LEVEL_TOP ? INSTANCES : TRIANGLES,
			     u->leaves, u);
	if (!err && !refit)
		err = sort(stream, s, u);
	if (!err)
		err = launch(stream, s, BOXES, u->leaves, u);
	u->step = refit;
	if (!err)
		err = launch(stream, s, NODES, u->leaves - 1, u);
	if (!err)
		err = pumice_stream_fence(stream);
	s->built = err ? 0 : sources;
	s->level = level;
	return err;
}

int pumice_stream_rays_mesh(struct pumice_stream *stream, struct pumice_ray_structure *structure,
			    const struct pumice_ray_mesh *mesh, uint32_t flags)
{
	struct uniforms u;
	int err;

	if (!mesh)
		return fail_null(stream_vm(stream)->dev, "ray structure", "mesh");
	err = check(stream, structure, PUMICE_RT_LEVEL_BOTTOM, mesh->triangles, flags);
	if (!err)
		err = check_source(stream, "ray structure: vertices", mesh->vertices, 4);
	if (!err)
		err = stream_check_va(stream, "ray structure: indices", mesh->indices, 4);
	if (err)
		return err;
	if (!mesh->stride || mesh->stride % 4)
		return fail(stream_vm(stream)->dev, EINVAL,
			    "ray structure: stride %u is not a positive multiple of 4; begin with pumice_ray_mesh_init()",
			    mesh->stride);
	if (!mesh->indices && (3ull * mesh->triangles - 1) * mesh->stride > MAX_OFFSET)
		return fail(stream_vm(stream)->dev, EINVAL,
			    "ray structure: %u vertices with stride %u exceed 4 GiB; divide them into structures",
			    3 * mesh->triangles, mesh->stride);
	u = structure->parts;
	set_address(u.source, mesh->vertices);
	u.stride = mesh->stride;
	set_address(u.indices, mesh->indices);
	u.indexed = mesh->indices != 0;
	return build(stream, structure, &u, PUMICE_RT_LEVEL_BOTTOM, mesh->triangles, flags);
}

int pumice_stream_rays_instances(struct pumice_stream *stream,
				 struct pumice_ray_structure *structure, uint64_t instances,
				 uint32_t count, uint32_t flags)
{
	struct uniforms u;
	int err = check(stream, structure, PUMICE_RT_LEVEL_TOP, count, flags);

	if (!err)
		err = check_source(stream, "ray structure: instances", instances, 16);
	if (err)
		return err;
	u = structure->parts;
	set_address(u.source, instances);
	return build(stream, structure, &u, PUMICE_RT_LEVEL_TOP, count, flags);
}
