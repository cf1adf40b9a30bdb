/* SPDX-License-Identifier: MIT */
/*
 * libpumice, ray tracing: builds the acceleration structures that ray_query walks.
 *
 * A structure of the bottom level has triangles, one of the top level instances of such
 * structures. Compute programs of the library build them: the calls add their launches to a stream
 * of a compute context, so a structure can be built, refitted and used in one job.
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_RAYS_H
#define PUMICE_PUMICE_RAYS_H

#include "pumice.h"

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
	/** @vertices: GPU virtual address of x, y and z of the first vertex, f32; 4-byte aligned. All
	 * vertices are within 4 GiB from it: offsets have 32 bits, those that @indices select too */
	uint64_t vertices;
	/** @indices: GPU virtual address of three u32 for each triangle; 4-byte aligned; or 0: vertices
	 * are used in order */
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

/** pumice_ray_instance_init - initialise to a structure at its own place: without transformation. */
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
 * Return: 0; -EINVAL for an address that is 0 or not aligned, a stride of 0, no triangles or more than
 * the structure has room for, vertices without indices that exceed 4 GiB, a refit with another number
 * than in the last build, unknown flags or a stream of another VM; -ENOSPC.
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

#ifdef __cplusplus
}
#endif

#endif
