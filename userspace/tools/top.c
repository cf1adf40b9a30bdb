// SPDX-License-Identifier: MIT
/*
 * pumice-top: live view of the activity of a GPU.
 *
 * Utilisation is the fraction of the time between two samples
 * in which a data master had a job, and the USCs ran waves.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <unistd.h>

#include <pumice/pumice.h>

#include "command.h"
#include "counts.h"

#define BAR 30

static const char notes[] =
	"DEVICE pid:PID is the GPU in a process of the same user that was started with\n"
	"PUMICE_DEVICE=inproc:attach=1.\n";

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static void look(struct pumice_device *dev, struct pumice_device_stats *stats)
{
	if (!pumice_device_stats(dev, stats, sizeof(*stats)))
		return;
	fprintf(stderr, "pumice-top: %s\n", pumice_device_error(dev));
	exit(1);
}

/* Return the percentage of whole; counters read one after the other may exceed it slightly. */
static double percent(uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0.0;

	return share > 100.0 ? 100.0 : share;
}

struct view {
	double seconds, compute, geometry, fragment, transfer, rays, usc;
	uint64_t jobs, faults, switches, partials;
};

static struct view compare(const struct pumice_device_stats *a,
			   const struct pumice_device_stats *b,
			   const struct pumice_device_info *info)
{
	const uint64_t ticks = b->time - a->time;
	const double seconds = (double)ticks / (double)info->clock_hz;
	const uint64_t ns = (uint64_t)(seconds * 1e9) * info->cores * info->uscs_per_core;

	return (struct view){
		.seconds = seconds,
		.compute = percent(b->compute_busy - a->compute_busy, ticks),
		.geometry = percent(b->geometry_busy - a->geometry_busy, ticks),
		.fragment = percent(b->fragment_busy - a->fragment_busy, ticks),
		.transfer = percent(b->transfer_busy - a->transfer_busy, ticks),
		.rays = percent(b->rays_busy - a->rays_busy, ticks),
		.usc = percent(b->usc_busy - a->usc_busy, ns),
		.jobs = b->jobs_done - a->jobs_done,
		.faults = b->mmu_faults - a->mmu_faults,
		.switches = b->switches - a->switches,
		.partials = b->partial_renders - a->partial_renders,
	};
}

static void print_bar(const char *name, double share)
{
	int filled = (int)(share * BAR / 100.0 + 0.5);

	printf("%-18s [", name);
	for (int i = 0; i < BAR; i++)
		putchar(i < filled ? '#' : ' ');
	printf("] %5.1f %%\n", share);
}

static void print_screen(const struct pumice_device_info *info,
			 const struct pumice_device_stats *now, const struct view *v)
{
	printf("\033[H\033[J%s, %u cores of %u USCs, firmware %s\n\n", info->backend, info->cores,
	       info->uscs_per_core, info->fw_build_id);
	print_bar("compute (CDM)", v->compute);
	print_bar("geometry (VDM)", v->geometry);
	print_bar("fragments (PDM)", v->fragment);
	print_bar("transfers (TDM)", v->transfer);
	print_bar("rays (RDM)", v->rays);
	print_bar("USCs, on average", v->usc);
	printf("\njobs               %10.1f a second, %" PRIu64 " done, %" PRIu64 " faulted\n",
	       (double)v->jobs / v->seconds, now->jobs_done, now->jobs_faulted);
	printf("queues             %10u wait, %u with the firmware\n", now->jobs_queued,
	       now->jobs_firmware);
	printf("contexts           %10u, %u of them busy\n", now->contexts, now->contexts_busy);
	printf("tasks, waves       %10u, %u in flight\n", now->tasks, now->waves);
	printf("switched out       %10" PRIu64 " jobs, %.1f a second\n", now->switches,
	       (double)v->switches / v->seconds);
	printf("partial renders    %10" PRIu64 ", %.1f a second\n", now->partial_renders,
	       (double)v->partials / v->seconds);
	printf("MMU faults         %10" PRIu64 ", %" PRIu64 " since the last look\n",
	       now->mmu_faults, v->faults);
	printf("GPU resets         %10" PRIu64 "\n", now->resets);
}

static void print_line(const struct pumice_device_stats *now, const struct view *v)
{
	printf("compute %5.1f %%  geometry %5.1f %%  fragment %5.1f %%  transfer %5.1f %%  "
	       "rays %5.1f %%  usc %5.1f %%  jobs/s %8.1f  queued %3u  firmware %3u  waves %4u  ",
	       v->compute, v->geometry, v->fragment, v->transfer, v->rays, v->usc,
	       (double)v->jobs / v->seconds, now->jobs_queued, now->jobs_firmware, now->waves);
	printf("switches %" PRIu64 "  partial-renders %" PRIu64 "  mmu-faults %" PRIu64
	       "  faulted %" PRIu64 "  resets %" PRIu64 "\n", now->switches, now->partial_renders,
	       now->mmu_faults, now->jobs_faulted, now->resets);
}

static void pause_for(double seconds)
{
	struct timespec ts = { .tv_sec = (time_t)seconds };

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	while (!interrupted && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* A GPU in this process has no jobs: that of another process or of the driver is required. */
static void refuse_own_gpu(struct pumice_device *dev, const struct pumice_device_info *info)
{
	if (!command_device_is_own(dev))
		return;
	fprintf(stderr, "pumice-top: %s: a GPU inside pumice-top has no other users: observe that of "
		"a process (-d pid:PID) or of the kernel driver (-d drm)\n", info->backend);
	exit(1);
}

static struct counts *look_at_counts(struct pumice_device *dev)
{
	char error[PUMICE_ERROR_BYTES];
	struct counts *c = counts_read(dev, error, sizeof(error));

	if (c)
		return c;
	fprintf(stderr, "pumice-top: %s\n", error);
	exit(1);
}

/* Print the counts since those before, which the present ones replace. */
static void print_counts(struct pumice_device *dev, struct counts **before)
{
	struct counts *now = look_at_counts(dev), *since = counts_between(*before, now);

	putchar('\n');
	if (since && counts_any(since))
		counts_print(stdout, since);
	else
		puts("no requests to the memory hierarchy; the mode must be counted");
	free(since);
	free(*before);
	*before = now;
}

static void watch(struct pumice_device *dev, double seconds, uint32_t looks, bool batch,
		  bool counted)
{
	struct pumice_device_stats before, now;
	struct pumice_device_info info;
	struct counts *counts = NULL;

	if (pumice_device_info(dev, &info)) {
		fprintf(stderr, "pumice-top: %s\n", pumice_device_error(dev));
		exit(1);
	}
	refuse_own_gpu(dev, &info);
	look(dev, &before);
	if (counted)
		counts = look_at_counts(dev);
	for (uint32_t i = 0; !interrupted && !ferror(stdout) && (!looks || i < looks); i++) {
		struct view view;

		pause_for(seconds);
		look(dev, &now);
		view = compare(&before, &now, &info);
		before = now;
		if (!(view.seconds > 0.0))
			continue;
		if (batch)
			print_line(&now, &view);
		else
			print_screen(&info, &now, &view);
		if (counted)
			print_counts(dev, &counts);
		fflush(stdout);
	}
	free(counts);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct pumice_device *dev;
	const char *device = NULL;
	bool batch = !isatty(STDOUT_FILENO), counted = false;
	double seconds = 1.0;
	uint32_t looks = 0;
	const struct command_option options[] = {
		COMMAND_DEVICE(&device),
		{ 'i', "interval", "SECONDS", "time between two samples, 0.01 to 3600 (default 1)",
		  .real = &seconds, .min = 0.01, .max = 3600 },
		{ 'n', "samples", "N", "end after N samples", .number = &looks,
		  .min = 1, .max = 1e9 },
		{ 'b', "batch", NULL, "a line for each sample, without clearing the screen;\n"
		  "the default if the output is not a terminal", .flag = &batch },
		{ 'c', "counted", NULL, "show the counts of the memory hierarchy between two samples;\n"
		  "the GPU must be in mode counted", .flag = &counted },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-top",
		.purpose = "Shows the activity of a Pumice GPU until it is interrupted.\n",
		.options = options,
		.notes = notes,
		.versions = COMMAND_VERSION_GPU,
	};

	command_line(&command, argc, argv);
	dev = command_device_open(command.name, device);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	watch(dev, seconds, looks, batch, counted);
	pumice_device_close(dev);
	return 0;
}
