// SPDX-License-Identifier: MIT
/*
 * pumice-bench: figures of the GPU in this process, compared with PoCL, llvmpipe, Embree and
 * memcpy(), and with itself on fewer threads.
 *
 * Writes its rows as a list of JSON objects; scripts/bench.py joins them with
 * those of the guest and prints the table. See README.md for the rules.
 */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rounds of which the best is used continue for as long, or up to as many times their number: other
 * load on the host comes in phases, and all rounds of some milliseconds would be in one of them.
 */
#define MEASURED_S	1.0
#define MORE_ROUNDS	32u

static const char usage[] =
	"usage: pumice-bench [-o FILE] [-r ROUNDS] [-t THREADS] [-n NAME]\n"
	"  -o FILE     output file of the rows (default: standard output)\n"
	"  -r ROUNDS   of which the best is used, at least (default 9)\n"
	"  -t THREADS  host threads of the GPU (default 2)\n"
	"  -n NAME     only rows with this in their name\n";

void bench_fill(float *values, uint32_t count, uint32_t seed)
{
	uint32_t state = seed;

	for (uint32_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		values[i] = (float)(state >> 28) - 8.0f;
	}
}

/* Run a round of one side; return the mean of its runs, seconds. */
static double time_runs(const struct bench_contest *c, void (*run)(void *), void *data)
{
	double start = bench_now();

	if (c->measure)
		return c->measure(data);
	for (unsigned int i = 0; i < c->repeats; i++)
		run(data);
	return (bench_now() - start) / c->repeats;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double figure(const struct bench_contest *c, double seconds)
{
	return c->figure == BENCH_RATE ? c->scale / seconds : c->scale * seconds;
}

/* Write a number of a row; 0: none. */
static void put_number(struct bench *bench, const char *name, double number)
{
	if (number > 0)
		fprintf(bench->json, "\"%s\": %g, ", name, number);
	else
		fprintf(bench->json, "\"%s\": null, ", name);
}

static void write_row(struct bench *bench, const struct bench_contest *c, double ours, double peer)
{
	const double ratio = peer / ours;	/* of seconds: how much faster than the peer */
	const bool met = ratio >= c->goal && (c->limit <= 0 || figure(c, ours) <= c->limit);

	fprintf(bench->json, "%s  {\"name\": \"%s\", \"unit\": \"%s\", ",
		bench->rows++ ? ",\n" : "", c->name, c->unit);
	fprintf(bench->json, "\"ours\": %.5g, \"peer\": %.5g, \"peer_name\": \"%s\", ",
		figure(c, ours), figure(c, peer), c->peer_name);
	fprintf(bench->json, "\"ratio\": %.4g, ", ratio);
	put_number(bench, "goal", c->goal);
	put_number(bench, "limit", c->limit);
	fprintf(bench->json, "\"met\": %s}",
		c->goal <= 0 && c->limit <= 0 ? "null" : met ? "true" : "false");
	fflush(bench->json);
}

void bench_contest(struct bench *bench, const struct bench_contest *contest)
{
	const unsigned int fewest = bench->rounds * (contest->median_of ? contest->median_of : 1);
	const unsigned int most = fewest * (contest->median_of ? 1 : MORE_ROUNDS);
	const double end = bench_now() + MEASURED_S;
	unsigned int rounds = 0, chosen;
	double *ours, *peer;

	if (bench->only && !strstr(contest->name, bench->only))
		return;
	fprintf(stderr, "  … %s\n", contest->name);
	ours = calloc(2 * most, sizeof(*ours));
	if (!ours)
		bench_fail("out of memory");
	peer = ours + most;
	for (; rounds < fewest || (rounds < most && bench_now() < end); rounds++) {
		ours[rounds] = time_runs(contest, contest->ours, contest->our_data);
		peer[rounds] = time_runs(contest, contest->peer, contest->peer_data);
	}
	chosen = contest->median_of ? rounds / 2 : 0;
	qsort(ours, rounds, sizeof(*ours), compare);
	qsort(peer, rounds, sizeof(*peer), compare);
	write_row(bench, contest, ours[chosen], peer[chosen]);
	free(ours);
}

static void run_rows(struct bench *bench)
{
	gpu_open(&bench->gpu, bench->threads);
	gpu_open(&bench->single, 1);
	pocl_open(&bench->pocl);
	fputs("[\n", bench->json);
	bench_matmul(bench);
	bench_mandelbrot(bench);
	bench_saxpy(bench);
	bench_launch(bench);
	bench_costs(bench);
	bench_pds(bench);
	bench_scenes(bench);
	bench_rays(bench);
	bench_transfer(bench);
	bench_stall(bench);
	bench_modes(bench);
	fputs("\n]\n", bench->json);
	pocl_close(&bench->pocl);
	gpu_close(&bench->single);
	gpu_close(&bench->gpu);
}

int main(int argc, char **argv)
{
	static struct bench bench = { .rounds = 9, .threads = 2 };
	const char *path = NULL;
	int option;

	while ((option = getopt(argc, argv, "o:r:t:n:h")) != -1) {
		if (option == 'o')
			path = optarg;
		else if (option == 'r')
			bench.rounds = bench_number(optarg);
		else if (option == 't')
			bench.threads = bench_number(optarg);
		else if (option == 'n')
			bench.only = optarg;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	bench.json = path ? fopen(path, "w") : stdout;
	if (!bench.json)
		bench_fail("%s: cannot be written", path);
	run_rows(&bench);
	if (fclose(bench.json))
		bench_fail("the rows cannot be written");
	return 0;
}
