// SPDX-License-Identifier: MIT
/*
 * pumice-growth: time of work as one size of it grows, of the GPU in this process on one thread.
 *
 * Writes a list of JSON objects, one for each size of each curve: {curve, size, seconds, cpu}.
 * cpu is the time of processors, which shows that a time grew by other load on the host alone.
 * scripts/bench_growth.py fits the exponents and draws the plots. Each size is measured once in
 * each round, on a new GPU, and its best time is used: other load on the host comes in
 * phases, which would change the slope of a curve whose sizes are measured one after the other.
 */
#include "growth.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* A size is measured again in the same round until this is over, in seconds. */
#define ENOUGH_S	0.02

static const char usage[] =
	"usage: pumice-growth [-o FILE] [-r ROUNDS] [-c COUNT] [-n NAME]\n"
	"  -o FILE     output file of the rows (default: standard output)\n"
	"  -r ROUNDS   of which the best is used (default 5)\n"
	"  -c COUNT    only the smallest sizes of each curve, at most this number\n"
	"  -n NAME     only the curve of this name\n";

struct options {
	FILE *json;
	unsigned int rounds, count;
	const char *name;
	unsigned int rows;	/* written so far */
};

/* Fill the sizes of a curve; return their number. */
static unsigned int list_sizes(const struct growth_curve *curve, uint32_t size[GROWTH_SIZES])
{
	unsigned int count = 0;
	uint32_t next = curve->first;

	if (curve->sizes) {
		while (count < GROWTH_SIZES && curve->sizes[count]) {
			size[count] = curve->sizes[count];
			count++;
		}
		return count;
	}
	for (; count < GROWTH_SIZES && next <= curve->last; next *= 2)
		size[count++] = next;
	return count;
}

/* The best times of a size, seconds; 0 before the first run. */
struct best {
	double seconds, cpu;
};

static void keep_best(double *best, double value)
{
	if (!*best || value < *best)
		*best = value;
}

/* Run a size until it was measured for long enough, after a run that is not measured. */
static void measure(const struct growth_curve *curve, uint32_t size, struct best *best)
{
	struct growth *g = calloc(1, sizeof(*g));
	unsigned int runs = 0;
	double total = 0, cpu;

	if (!g)
		bench_fail("out of memory");
	g->size = size;
	curve->open(g);
	curve->run(g);
	cpu = bench_cpu();
	for (; total < ENOUGH_S; runs++) {
		const double start = bench_now();
		double seconds;

		curve->run(g);
		seconds = bench_now() - start;
		total += seconds;
		keep_best(&best->seconds, seconds);
	}
	/* The mean, since the clock may be late by a tick. */
	keep_best(&best->cpu, (bench_cpu() - cpu) / runs);
	curve->close(g);
	free(g);
}

static void measure_curve(struct options *o, const struct growth_curve *curve)
{
	uint32_t size[GROWTH_SIZES];
	struct best best[GROWTH_SIZES] = { 0 };
	unsigned int count = list_sizes(curve, size);

	if (count > o->count)
		count = o->count;
	fprintf(stderr, "  … %s\n", curve->name);
	for (unsigned int round = 0; round < o->rounds; round++)
		for (unsigned int i = 0; i < count; i++)
			measure(curve, size[i], &best[i]);
	for (unsigned int i = 0; i < count; i++) {
		fprintf(o->json, "%s  {\"curve\": \"%s\", \"size\": %u, ",
			o->rows++ ? ",\n" : "", curve->name, size[i]);
		fprintf(o->json, "\"seconds\": %.5g, \"cpu\": %.5g}", best[i].seconds,
			best[i].cpu);
	}
	fflush(o->json);
}

static void measure_curves(struct options *o)
{
	const struct growth_curve *curve;
	bool found = false;

	fputs("[\n", o->json);
	for (curve = growth_curves; curve->name; curve++) {
		if (o->name && strcmp(o->name, curve->name))
			continue;
		measure_curve(o, curve);
		found = true;
	}
	fputs("\n]\n", o->json);
	if (!found)
		bench_fail("%s is not a curve", o->name);
}

int main(int argc, char **argv)
{
	struct options o = { .rounds = 5, .count = GROWTH_SIZES };
	const char *path = NULL;
	int option;

	while ((option = getopt(argc, argv, "o:r:c:n:h")) != -1) {
		if (option == 'o')
			path = optarg;
		else if (option == 'r')
			o.rounds = bench_number(optarg);
		else if (option == 'c')
			o.count = bench_number(optarg);
		else if (option == 'n')
			o.name = optarg;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	o.json = path ? fopen(path, "w") : stdout;
	if (!o.json)
		bench_fail("%s: cannot be written", path);
	measure_curves(&o);
	if (fclose(o.json))
		bench_fail("the rows cannot be written");
	return 0;
}
