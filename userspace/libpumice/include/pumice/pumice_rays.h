/* SPDX-License-Identifier: MIT */
/*
 * libpumice, ray tracing: builds acceleration structures, and launches rays through them.
 *
 * A structure of the bottom level has triangles, one of the top level instances of such
 * structures. Compute programs of the library build them: the calls add their launches to a stream
 * of a compute context, so a structure can be built, refitted and used in one job.
 *
 * Any program can trace rays with ray_query. A launch, on a context of type PUMICE_CONTEXT_RAYS,
 * has its rays traced in parallel with the cores, and runs programs for those that hit and for
 * those that do not. Its programs are of stage rays (.stage rays).
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_RAYS_H
#define PUMICE_PUMICE_RAYS_H

#include "pumice.h"
#include "pumice_gfx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pumice_rays;
struct pumice_ray_structure;

/** PUMICE_RAYS_MAX_LEAVES - maximum number of triangles or instances of a structure. */
#define PUMICE_RAYS_MAX_LEAVES	(1u << 20)
/** PUMICE_RAYS_STREAM_BYTES - memory of a stream that a build needs at most. */
#define PUMICE_RAYS_STREAM_BYTES	(256u << 10)

/**
 * pumice_rays_create - make the programs that build structures.
 * @vm: address space of the structures and of the jobs that build them
 * @rays: out
 *
 * Return: 0 or a negative errno.
 */
int pumice_rays_create(struct pumice_vm *vm, struct pumice_rays **rays);

/** pumice_rays_destroy - destroy it, after its structures; jobs that use it must have ended. */
void pumice_rays_destroy(struct pumice_rays *rays);

/**
 * pumice_ray_structure_create - allocate memory of a structure. Nothing may trace rays through it
 * before it is built.
 * @leaves: maximum number of triangles or instances, 1 to PUMICE_RAYS_MAX_LEAVES; each takes
 *   some 330 bytes
 * @structure: out
 *
 * Return: 0, -EINVAL, or as pumice_buffer_create().
 */
int pumice_ray_structure_create(struct pumice_rays *rays, uint32_t leaves,
				struct pumice_ray_structure **structure);

/** pumice_ray_structure_destroy - release it; jobs that use it must have ended. */
void pumice_ray_structure_destroy(struct pumice_ray_structure *structure);

/** pumice_ray_structure_va - return its GPU virtual address, for ray_query and instances. */
uint64_t pumice_ray_structure_va(const struct pumice_ray_structure *structure);

/** struct pumice_ray_mesh - triangles in memory. */
struct pumice_ray_mesh {
	/** @vertices: GPU virtual address of x, y and z of the first vertex, f32; 4-byte aligned.
	 * All vertices are within 4 GiB from it: offsets have 32 bits, those that @indices select
	 * too */
	uint64_t vertices;
	/** @indices: GPU virtual address of three u32 for each triangle; 4-byte aligned; or 0:
	 * vertices are used in order */
	uint64_t indices;
	/** @stride: bytes from one vertex to the next, a multiple of 4, not 0 */
	uint32_t stride;
	/** @triangles: their number; triangle n is primitive n of a hit */
	uint32_t triangles;
};

/** pumice_ray_mesh_init - initialise to triangles without indices, of vertices of 12 bytes. */
void pumice_ray_mesh_init(struct pumice_ray_mesh *mesh, uint64_t vertices, uint32_t triangles);

/** struct pumice_ray_instance - an instance in memory, which the GPU reads. */
struct pumice_ray_instance {
	/** @to_world: three rows of a transformation that can be inverted; the last number of each
	 * is the translation */
	float to_world[12];
	/** @structure: pumice_ray_structure_va() of a built structure of triangles */
	uint64_t structure;
	/** @id: number that a hit reports */
	uint32_t id;
	/** @reserved: 0 */
	uint32_t reserved;
};

/**
 * pumice_ray_instance_init - initialise to a structure at its own place: without transformation.
 */
void pumice_ray_instance_init(struct pumice_ray_instance *instance, uint64_t structure,
			      uint32_t id);

/* Keep the order of the last build of this structure: faster, for triangles or instances that moved
 * a little. Rays are slower the more they moved; then build again. If no build of as many was
 * completed on the GPU, because its job failed or was not submitted, rays fault with rtu-header. */
#define PUMICE_RAYS_REFIT	(1u << 0)

/**
 * pumice_stream_rays_mesh - add launches that build or refit a structure of triangles.
 * @mesh: read when the launches run, also for a refit
 * @flags: PUMICE_RAYS_*
 *
 * Later launches of the stream may use the structure.
 *
 * Return: 0; -EINVAL for an address that is 0 or not aligned, a stride of 0, no triangles or more
 * than the structure has room for, vertices without indices that exceed 4 GiB, a refit with another
 * number than in the last build, unknown flags or a stream of another VM; -ENOSPC.
 */
int pumice_stream_rays_mesh(struct pumice_stream *stream, struct pumice_ray_structure *structure,
			    const struct pumice_ray_mesh *mesh, uint32_t flags);

/**
 * pumice_stream_rays_instances - add launches that build or refit a structure of instances.
 * @instances: GPU virtual address of @count struct pumice_ray_instance, 16-byte aligned
 * @flags: PUMICE_RAYS_*
 *
 * Their structures must have been built by earlier launches of the stream or earlier jobs.
 *
 * Return: as pumice_stream_rays_mesh().
 */
int pumice_stream_rays_instances(struct pumice_stream *stream,
				 struct pumice_ray_structure *structure, uint64_t instances,
				 uint32_t count, uint32_t flags);

/* A ray ends with the first hit that is found, which may not be the nearest: for shadows. */
#define PUMICE_RAYS_ANY		(1u << 0)

/**
 * struct pumice_ray_launch - rays, and the programs that they run. Inputs of stages are uniforms,
 * textures, and sources: pumice_pds_source RAY_INDEX, RAY_X and RAY_Y, and for hits and misses all
 * others that begin with RAY.
 */
struct pumice_ray_launch {
	/** @structure: pumice_ray_structure_va() of a built structure */
	uint64_t structure;
	/** @generate: program that writes a ray to vo0 to vo7, to all of them (origin, smallest t,
	 * direction, greatest t); or NULL */
	const struct pumice_stage_desc *generate;
	/** @rays: without it: GPU virtual address of a pumice_rdm_ray for each ray; 4-byte
	 * aligned */
	uint64_t rays;
	/** @hit: program of rays that hit, or NULL */
	const struct pumice_stage_desc *hit;
	/** @miss: program of rays that hit nothing, or NULL */
	const struct pumice_stage_desc *miss;
	/** @width: rays of a row */
	uint32_t width;
	/** @height: rows; fewer than 2^32 rays in all */
	uint32_t height;
	/** @flags: PUMICE_RAYS_ANY or 0 */
	uint32_t flags;
	/** @uniform_words: words of the uniform stream of all programs, at most 16384 */
	uint32_t uniform_words;
	/** @uniforms: its GPU virtual address, 256-byte aligned */
	uint64_t uniforms;
};

/** pumice_ray_launch_init - initialise to rays of no source and without programs. */
void pumice_ray_launch_init(struct pumice_ray_launch *launch, uint64_t structure, uint32_t width,
			    uint32_t height);

/**
 * pumice_stream_rays_launch - add STATE and LAUNCH of a ray control stream.
 * @launch: rays and programs
 *
 * The job is of a context of type PUMICE_CONTEXT_RAYS, and its stream ends with
 * pumice_stream_end(). pumice_stream_fence(), _flush(), _link(), _timestamp() and _marker() are as
 * in compute streams, except that devices with a register map before 2.9 have no flush. Programs
 * run in any order.
 *
 * Return: 0; -EINVAL for a stage that is not of a program of stage rays or writes more or fewer
 * vertex outputs, 2^32 rays or more, both or none of generate and rays, unknown flags, structure 0,
 * or an address that is not aligned; -ENOSPC; -EOPNOTSUPP after a flush that the device does not
 * have.
 */
int pumice_stream_rays_launch(struct pumice_stream *stream, const struct pumice_ray_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
