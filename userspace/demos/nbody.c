// SPDX-License-Identifier: MIT
/*
 * pumice-demo-nbody: two small colliding galaxies, as an animation.
 *
 * Each step is one job in which every body reads every other. The first steps
 * are compared with the CPU's in double precision; after that, because such a
 * system is chaotic, only the total momentum is checked to be constant.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "animation.h"
#include "demo.h"
#include "nbody.pasm.h"

#define NAME	"pumice-demo-nbody"
#define TILE	64u		/* bodies of a work-group */
#define SIDE	384		/* pixels */
#define EXTENT	1.6		/* of the picture, from its centre to an edge */
#define STEP	0.012f		/* time */
#define SOFT	0.0025		/* as in nbody.pasm */
#define COMPARED 3u		/* steps */
#define MAX_ERROR 1e-5		/* of a position after them */
#define MAX_DRIFT 1e-4		/* of the momentum of all bodies, each of mass 1/n */
#define SHOWN	2u		/* steps per frame */
#define DISC	0.6		/* radius of a galaxy */

struct body {
	float x, y, z, mass;
};

struct exact {
	double x[3], v[3], mass;
};

/* Generate one of two rotating discs. */
static void place(struct body *body, struct body *velocity, uint32_t n, bool second,
		  uint32_t *random)
{
	const double radius = DISC * sqrt(demo_random_unit(random));
	const double angle = 6.283185307 * demo_random_unit(random);
	/* orbit around half of the mass, evenly distributed over the disc */
	const double speed = sqrt(0.5 * radius / (DISC * DISC));
	const double side = second ? 1.0 : -1.0;

	*body = (struct body){
		.x = (float)(side * 0.75 + radius * cos(angle)),
		.y = (float)(side * 0.3 + radius * sin(angle)),
		.z = (float)(0.1 * (demo_random_unit(random) - 0.5)),
		.mass = 1.0f / (float)n,
	};
	*velocity = (struct body){
		.x = (float)(-side * 0.3 - speed * sin(angle)),
		.y = (float)(speed * cos(angle)),
	};
}

static void begin(struct body *bodies, struct body *velocities, uint32_t n)
{
	uint32_t random = 99;

	for (uint32_t i = 0; i < n; i++)
		place(&bodies[i], &velocities[i], n, i % 2, &random);
}

static struct exact *exact_from(const struct body *bodies, const struct body *velocities,
				uint32_t n)
{
	struct exact *e = calloc(n, sizeof(*e));

	if (!e)
		demo_fail(NAME, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		e[i] = (struct exact){
			.x = { bodies[i].x, bodies[i].y, bodies[i].z },
			.v = { velocities[i].x, velocities[i].y, velocities[i].z },
			.mass = bodies[i].mass,
		};
	return e;
}

static void exact_pull(struct exact *body, const struct exact *all, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		double d[3], near = SOFT;

		for (int k = 0; k < 3; k++) {
			d[k] = all[j].x[k] - body->x[k];
			near += d[k] * d[k];
		}
		near = all[j].mass / (near * sqrt(near));
		for (int k = 0; k < 3; k++)
			body->v[k] += d[k] * near * (double)STEP;
	}
}

static void exact_step(struct exact *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		exact_pull(&all[i], all, n);
	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < 3; k++)
			all[i].x[k] += all[i].v[k] * (double)STEP;
}

/* Compute the largest error of a coordinate. */
static double error_of(const struct body *bodies, const struct exact *want, uint32_t n)
{
	double most = 0.0;

	for (uint32_t i = 0; i < n; i++) {
		const double d[3] = { bodies[i].x - want[i].x[0], bodies[i].y - want[i].x[1],
				      bodies[i].z - want[i].x[2] };

		for (int k = 0; k < 3; k++)
			most = fmax(most, isnan(d[k]) ? INFINITY : fabs(d[k]));
	}
	return most;
}

static void momentum(const struct body *velocities, uint32_t n, double sum[3])
{
	sum[0] = sum[1] = sum[2] = 0.0;
	for (uint32_t i = 0; i < n; i++) {
		sum[0] += velocities[i].x / n;
		sum[1] += velocities[i].y / n;
		sum[2] += velocities[i].z / n;
	}
}

/* Add light. */
static void shine(uint8_t *at, unsigned int light)
{
	*at = (uint8_t)(*at + light > 255 ? 255 : *at + light);
}

/* Draw bodies as points of light with a halo and a trail. */
static void show(struct animation *film, const struct body *bodies, uint32_t n)
{
	static uint8_t light[SIDE * SIDE];

	for (uint32_t i = 0; i < sizeof(light); i++)
		light[i] = (uint8_t)(light[i] * 3 / 5);
	for (uint32_t i = 0; i < n; i++) {
		const double scale = SIDE / (2.0 * EXTENT);
		const double x = SIDE / 2.0 + bodies[i].x * scale;
		const double y = SIDE / 2.0 - bodies[i].y * scale;
		uint8_t *at;

		if (!(x >= 1.0 && x < SIDE - 1 && y >= 1.0 && y < SIDE - 1))
			continue;
		at = &light[(int)y * SIDE + (int)x];
		shine(at, 150);
		shine(at - 1, 60);
		shine(at + 1, 60);
		shine(at - SIDE, 60);
		shine(at + SIDE, 60);
	}
	if (!animation_frame(film, light, 4))
		demo_fail(NAME, "the animation cannot be written: %s", strerror(errno));
}

struct system {
	uint32_t n;
	struct pumice_buffer bodies[2], velocities;
};

static void step(struct demo *demo, const struct system *s, uint32_t number)
{
	const uint32_t groups[3] = { s->n / TILE, 1, 1 };
	uint32_t uniforms[8];

	demo_address(uniforms, s->bodies[number % 2].va);
	demo_address(uniforms + 2, s->bodies[(number + 1) % 2].va);
	demo_address(uniforms + 4, s->velocities.va);
	uniforms[6] = s->n / TILE;
	uniforms[7] = PUMICE_WORD_F32(STEP);
	demo_run(demo, groups, uniforms, 8);
}

/* Run all steps and report the checks' result. Return: the exit status. */
static int run(struct demo *demo, const struct system *s, uint32_t steps, struct animation *film)
{
	struct exact *exact;
	uint64_t device_ns = 0, wall_ns = 0;
	double before[3], after[3], error = 0.0, drift = 0.0;

	begin(s->bodies[0].cpu, s->velocities.cpu, s->n);
	momentum(s->velocities.cpu, s->n, before);
	exact = exact_from(s->bodies[0].cpu, s->velocities.cpu, s->n);
	for (uint32_t i = 0; i < steps; i++) {
		if (i % SHOWN == 0)
			show(film, s->bodies[i % 2].cpu, s->n);
		step(demo, s, i);
		device_ns += demo->device_ns;
		wall_ns += demo->wall_ns;
		if (i < COMPARED) {
			exact_step(exact, s->n);
			error = fmax(error, error_of(s->bodies[(i + 1) % 2].cpu, exact, s->n));
		}
	}
	free(exact);
	momentum(s->velocities.cpu, s->n, after);
	for (int k = 0; k < 3; k++)
		drift = fmax(drift, fabs(after[k] - before[k]));
	demo->device_ns = device_ns;
	demo->wall_ns = wall_ns;
	return demo_result(NAME, error <= MAX_ERROR && drift <= MAX_DRIFT, "%u bodies, %u steps: at "
			   "most %.2g from the CPU's positions, momentum %.2g", s->n, steps, error,
			   drift);
}

int main(int argc, char **argv)
{
	static const uint8_t star[3] = { 160, 200, 255 };
	const char *device, *path = "nbody.gif";
	struct system s = { .n = 1024 };
	struct animation *film;
	uint32_t steps = 200;
	struct demo demo;
	int status;
	const struct command_option own[] = {
		{ 'n', "bodies", "N", "bodies, 64 to 65536, rounded down to a multiple of 64\n"
		  "(default 1024)", .number = &s.n, .min = TILE, .max = 1u << 16 },
		{ 't', "steps", "STEPS", "steps, 1 to 1048576 (default 200)", .number = &steps,
		  .min = 1, .max = 1u << 20 },
		COMMAND_OUTPUT(&path, "FILE.gif", "the animation (default nbody.gif)"),
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Moves bodies by the gravity of all others and compares the first steps\n"
				"with the CPU's.\n", own, argc, argv);
	s.n = s.n / TILE * TILE;
	film = animation_open(path, SIDE, SIDE, star);
	if (!film)
		demo_fail(NAME, "%s: cannot be written: %s", path, strerror(errno));
	demo_open(&demo, NAME, device, nbody_program, sizeof(nbody_program));
	demo_buffer(&demo, s.n * sizeof(struct body), &s.bodies[0]);
	demo_buffer(&demo, s.n * sizeof(struct body), &s.bodies[1]);
	demo_buffer(&demo, s.n * sizeof(struct body), &s.velocities);
	status = run(&demo, &s, steps, film);
	demo_report(&demo);
	demo_write_animation(NAME, path, film);
	pumice_buffer_destroy(&s.bodies[0]);
	pumice_buffer_destroy(&s.bodies[1]);
	pumice_buffer_destroy(&s.velocities);
	demo_close(&demo);
	return status;
}
