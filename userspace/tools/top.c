// SPDX-License-Identifier: MIT
/*
 * pumice-top: live view of the activity of a GPU.
 *
 * Utilisation is the fraction of the time between two samples
 * in which a data master had a job, and the USCs ran waves.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <unistd.h>

#include <pumice/pumice.h>

#define BAR 30

static const char usage[] =
	"usage: pumice-top [-d DEVICE] [-i SECONDS] [-n LOOKS] [-b]\n"
	"Shows what a Pumice GPU does until it is interrupted.\n"
	"  -d DEVICE   drm, drm:/dev/dri/renderD128 … (default: $PUMICE_DEVICE, else drm)\n"
	"  -i SECONDS  between two looks, 0.01 to 3600 (default 1)\n"
	"  -n LOOKS    end after so many\n"
	"  -b          batch: a line for each look, without clearing the screen\n";

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

/* Percent of whole; counters read one after the other may exceed it slightly. */
static double percent(uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0.0;

	return share > 100.0 ? 100.0 : share;
}

struct view {
	double seconds, compute, geometry, fragment, transfer, usc;
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
	       "usc %5.1f %%  jobs/s %8.1f  queued %3u  firmware %3u  waves %4u  ",
	       v->compute, v->geometry, v->fragment, v->transfer, v->usc,
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

static double number(const char *text, double min, double max)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= min && value <= max)
		return value;
	fprintf(stderr, "pumice-top: %s is not a number from %g to %g\n", text, min, max);
	exit(1);
}

static void watch(struct pumice_device *dev, double seconds, unsigned long looks, bool batch)
{
	struct pumice_device_stats before, now;
	struct pumice_device_info info;

	if (pumice_device_info(dev, &info)) {
		fprintf(stderr, "pumice-top: %s\n", pumice_device_error(dev));
		exit(1);
	}
	look(dev, &before);
	for (unsigned long i = 0; !interrupted && (!looks || i < looks); i++) {
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
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *dev;
	const char *device = NULL;
	unsigned long looks = 0;
	bool batch = !isatty(STDOUT_FILENO);
	double seconds = 1.0;
	int option;

	while ((option = getopt(argc, argv, "d:i:n:bh")) != -1) {
		if (option == 'd')
			device = optarg;
		else if (option == 'i')
			seconds = number(optarg, 0.01, 3600.0);
		else if (option == 'n')
			looks = (unsigned long)number(optarg, 1.0, 1e9);
		else if (option == 'b')
			batch = true;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	if (optind < argc)
		return fputs(usage, stderr), 1;
	if (pumice_device_open(device, &dev, error, sizeof(error))) {
		fprintf(stderr, "pumice-top: %s\n", error);
		return 1;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	watch(dev, seconds, looks, batch);
	pumice_device_close(dev);
	return 0;
}
