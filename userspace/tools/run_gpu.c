// SPDX-License-Identifier: MIT
/*
 * pumice-run: the GPU side. Loads or assembles the shader,
 * places buffers, builds the uniform block from the
 * arguments in order, launches, and reads back outputs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pumice/pumice.h>

#include "asm.h"
#include "check.h"
#include "command.h"
#include "file.h"
#include "perfetto.h"
#include "pumice_formats.h"
#include "run.h"

#define STREAM_BYTES	(1u << 20)
#define TRACE_ENTRIES	(1u << 18)	/* events stored for one run */
#define TRACE_BATCH	256u
#define TEXT_BYTES	8192u		/* of the description of a failed job */
#define PAGE_BYTES	4096u
#define LARGE_PAGE	(2u << 20)
#define END_ALIGN	4u		/* of a buffer's address: data accesses need no more */
#define FILL		0xa5		/* fill pattern of memory around a buffer */

/* All state of a running kernel. */
struct run_gpu {
	struct run_options *o;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_sync *done;
	struct pumice_bo *bos[RUN_MAX_ARGS];
	uint64_t vas[RUN_MAX_ARGS];	/* addresses, with unbound pages on both sides */
	uint64_t guards[RUN_MAX_ARGS];	/* bytes of these on each side */
	uint64_t offsets[RUN_MAX_ARGS];	/* of the buffer in its bo */
	uint32_t uniforms[2 * RUN_MAX_ARGS];
	uint32_t uniform_words;
	uint64_t stream_va;

	struct pumice_perfmon *perfmon;
	uint32_t counters[RUN_MAX_PERF];
	uint32_t counter_count;

	struct counts *counts;		/* before the first run, or NULL */

	struct pumice_trace *trace;
	struct perfetto *trace_file;
	uint64_t lost;			/* events of the trace */
	uint64_t trace_time;		/* of its last event */
};

static bool gpu_error(struct run_gpu *g)
{
	return run_error("%s", pumice_device_error(g->dev));
}

static void report(void *data, const char *text)
{
	(void)data;
	fputs(text, stderr);
}

/* Load a program file, or assemble a text. */
static bool load_program(struct run_gpu *g)
{
	const uint32_t magic = PUMICE_PROGRAM_HEADER__MAGIC__VALUE;
	const char *path = g->o->shader;
	char error[PUMICE_ERROR_BYTES];
	uint8_t *made = NULL;
	size_t bytes;
	char *file = file_read("pumice-run", path, &bytes);
	struct file_dirs dirs = { 0 };
	const struct pumice_asm_options options = { .report = report, .include = file_include,
						    .data = &dirs, .lines = true };
	bool ok = false;

	if (!file)
		return false;
	if (bytes >= sizeof(magic) && !memcmp(file, &magic, sizeof(magic)))
		ok = !pumice_program_parse(file, bytes, &g->program, error, sizeof(error)) ||
		     run_error("%s: %s", path, error);
	else if (!bytes || strlen(file) != bytes)
		run_error("%s: neither a program file nor assembly text; assemble it by pumice-as",
			  path);
	else if (!pumice_assemble_with(path, file, &options, &made, &bytes))
		ok = !pumice_program_parse(made, bytes, &g->program, error, sizeof(error)) ||
		     run_error("%s: %s", path, error);
	if (ok && !g->o->no_warnings)
		pumice_check(path, made ? (const void *)made : file, bytes, report, NULL);
	free(made);
	free(file);
	return ok;
}

static bool open_gpu(struct run_gpu *g)
{
	g->dev = command_device_open("pumice-run", g->o->device);
	if (pumice_vm_create(g->dev, &g->vm) ||
	    pumice_context_create(g->vm, PUMICE_PRIORITY_NORMAL, &g->context) ||
	    pumice_kernel_create(g->vm, g->program, &g->kernel) ||
	    pumice_stream_create(g->vm, STREAM_BYTES, &g->stream) ||
	    pumice_sync_create(g->dev, 0, &g->done))
		return gpu_error(g);
	return true;
}

/* Append the words of an argument to the uniform block. */
static void add_words(struct run_gpu *g, uint64_t value, unsigned int words)
{
	g->uniforms[g->uniform_words++] = (uint32_t)value;
	if (words > 1)
		g->uniforms[g->uniform_words++] = (uint32_t)(value >> 32);
}

/*
 * Bind a buffer so that an access past its end, or before its pages, faults: it is
 * surrounded by unbound pages. The buffer is at the end of its pages, aligned to END_ALIGN.
 */
static bool bind_buffer(struct run_gpu *g, unsigned int i)
{
	const uint64_t size = pumice_bo_size(g->bos[i]);
	struct pumice_bind op = { .bo = g->bos[i], .size = size, .flags = PUMICE_BIND_NOEXEC };

	g->guards[i] = size < LARGE_PAGE ? PAGE_BYTES : LARGE_PAGE;
	if (pumice_vm_va_alloc(g->vm, size + 2 * g->guards[i], g->guards[i], &g->vas[i]))
		return gpu_error(g);
	op.va = g->vas[i] + g->guards[i];
	return !pumice_vm_bind(g->vm, &op, 1, NULL) || gpu_error(g);
}

static void label_buffer(struct run_gpu *g, unsigned int i)
{
	const struct run_arg *arg = &g->o->args[i];
	char label[PUMICE_LABEL_BYTES];

	if (*arg->name)
		snprintf(label, sizeof(label), "%s, argument %u", arg->name, i);
	else
		snprintf(label, sizeof(label), "argument %u", i);
	/* For texts and dumps only: errors are ignored. */
	pumice_bo_set_label(g->bos[i], label);
	pumice_bo_set_extent(g->bos[i], g->offsets[i], arg->data.count * arg->data.type->bytes);
}

static bool place_buffer(struct run_gpu *g, unsigned int i)
{
	const struct run_arg *arg = &g->o->args[i];
	const uint64_t bytes = arg->data.count * arg->data.type->bytes;
	/* The end of the pages is used. */
	const uint64_t size = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	void *cpu;

	if (pumice_bo_create(g->dev, size, g->vm, &g->bos[i]) ||
	    pumice_bo_map(g->bos[i], &cpu))
		return gpu_error(g);
	if (!bind_buffer(g, i))
		return false;
	g->offsets[i] = (pumice_bo_size(g->bos[i]) - bytes) / END_ALIGN * END_ALIGN;
	label_buffer(g, i);
	memset(cpu, FILL, pumice_bo_size(g->bos[i]));
	memcpy((char *)cpu + g->offsets[i], arg->data.bytes, bytes);
	add_words(g, g->vas[i] + g->guards[i] + g->offsets[i], 2);
	return true;
}

/* Return whether the bytes of a page before a buffer, or after it, are unmodified. */
static bool check_around(const struct run_gpu *g, unsigned int i, const uint8_t *from,
			 uint64_t bytes, bool after)
{
	const struct run_arg *arg = &g->o->args[i];
	const int64_t size = (int64_t)arg->data.type->bytes;
	int64_t first = 0, last = (int64_t)bytes, origin = after ? (int64_t)arg->data.count : 0;
	char elements[64];

	while (first < last && from[first] == FILL)
		first++;
	if (first == last)
		return true;
	while (from[last - 1] == FILL)
		last--;
	if (!after) {
		first -= (int64_t)bytes;
		last -= (int64_t)bytes;
	}
	/* Whole elements: a byte of one may be equal to the pattern. */
	first = first < 0 ? -((size - 1 - first) / size) : first / size;
	last = last < 0 ? -(-last / size) : (last + size - 1) / size;
	if (last - first == 1)
		snprintf(elements, sizeof(elements), "element %" PRId64, origin + first);
	else
		snprintf(elements, sizeof(elements), "elements %" PRId64 " to %" PRId64,
			 origin + first, origin + last - 1);
	bytes = (uint64_t)((after ? last : -first) * size);
	return run_error("argument %u%s%s: the kernel wrote %" PRIu64 " byte%s %s (%s)", i,
			 *arg->name ? ", " : "", arg->name, bytes, bytes == 1 ? "" : "s",
			 after ? "past its end" : "before its beginning", elements);
}

/* Check the bytes around the buffers that the GPU can access, as they are in their pages. */
static bool check_bounds(struct run_gpu *g)
{
	bool ok = true;

	for (unsigned int i = 0; i < g->o->arg_count; i++) {
		const struct run_arg *arg = &g->o->args[i];
		uint64_t end = g->offsets[i] + arg->data.count * arg->data.type->bytes;
		void *cpu;

		if (!arg->buffer)
			continue;
		if (pumice_bo_map(g->bos[i], &cpu))
			return gpu_error(g);
		ok &= check_around(g, i, cpu, g->offsets[i], false);
		ok &= check_around(g, i, (uint8_t *)cpu + end, pumice_bo_size(g->bos[i]) - end,
				   true);
	}
	return ok;
}

static bool place_arguments(struct run_gpu *g)
{
	struct pumice_program_info info;

	for (unsigned int i = 0; i < g->o->arg_count; i++) {
		const struct run_arg *arg = &g->o->args[i];
		uint64_t value = 0;

		if (arg->buffer) {
			if (!place_buffer(g, i))
				return false;
			continue;
		}
		memcpy(&value, arg->data.bytes, arg->data.type->bytes);
		add_words(g, value, (unsigned int)arg->data.type->bytes / 4);
	}
	pumice_program_info(g->program, &info);
	if (info.uniform_words == g->uniform_words)
		return true;
	return run_error("%s takes %u uniform words, but the arguments make %u (a buffer two, "
			 "a scalar of 32 bits one); write an --arg for each argument, in their order",
			 g->o->shader, info.uniform_words, g->uniform_words);
}

/* Parse counters from "name,name". */
static bool make_perfmon(struct run_gpu *g)
{
	const char *at = g->o->perf;

	while (at && *at) {
		size_t length = strcspn(at, ",");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (g->counter_count == RUN_MAX_PERF)
			return run_error("--perf %s: more than %u counters", g->o->perf,
					 RUN_MAX_PERF);
		if (pumice_perf_counter_find(g->dev, name, &g->counters[g->counter_count]))
			return gpu_error(g);
		g->counter_count++;
		at += length + (at[length] == ',');
	}
	if (!g->counter_count)
		return true;
	if (pumice_perfmon_create(g->dev, g->counters, g->counter_count, &g->perfmon))
		return gpu_error(g);
	return true;
}

static bool build_stream(struct run_gpu *g)
{
	struct pumice_dispatch d = {
		.kernel = g->kernel,
		.uniforms = g->uniforms,
		.uniform_words = g->uniform_words,
	};

	memcpy(d.groups, g->o->groups, sizeof(d.groups));
	if (pumice_stream_dispatch(g->stream, &d) || pumice_stream_end(g->stream, &g->stream_va))
		return gpu_error(g);
	return true;
}

/* Add the words in which the kernel receives its arguments to a text. */
static void put_arguments(const struct run_gpu *g, char *text, size_t bytes)
{
	size_t used = strlen(text);
	uint32_t word = 0;

	for (unsigned int i = 0; i < g->o->arg_count && used < bytes; i++) {
		const struct run_arg *arg = &g->o->args[i];

		used += (size_t)snprintf(text + used, bytes - used, "%s%u %s%sargument %u",
					 i ? "; " : "\n  the uniform words are: ", word, arg->name,
					 *arg->name ? ", " : "", i);
		word += arg->buffer ? 2 : (uint32_t)arg->data.type->bytes / 4;
	}
}

/* Report @what and how the job failed, in the library's text. */
static bool report_job(struct run_gpu *g, const char *what)
{
	char text[TEXT_BYTES];
	size_t length;

	if (pumice_context_describe_job(g->context, pumice_context_jobs(g->context), text,
					sizeof(text)))
		return run_error("%s", what);
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	if (strstr(text, "not near any buffer"))
		put_arguments(g, text, sizeof(text));
	return run_error("%sthe %s", what, text);
}

/*
 * Kill the job, to see its location. In process only: the kernel driver
 * kills it at its own time-out, which is usually shorter than the tool's.
 */
static bool report_endless(struct run_gpu *g)
{
	char what[64];

	snprintf(what, sizeof(what), "the job did not complete within %.3f s: ",
		 (double)g->o->timeout_ns / 1e9);
	if (pumice_context_kill(g->context))
		return run_error("%s%s", what, pumice_device_error(g->dev));
	return report_job(g, what);
}

/* Submit the stream once and wait; store its result in @result. */
static bool run_once(struct run_gpu *g, struct pumice_job_result *result)
{
	const struct pumice_job_sync signal = { .sync = g->done, .signal = true };
	const struct pumice_job job = {
		.context = g->context, .stream = g->stream_va, .syncs = &signal, .sync_count = 1,
		.perfmon = g->perfmon ? pumice_perfmon_id(g->perfmon) : 0,
	};
	const struct pumice_wait wait = { .sync = g->done };
	int err = pumice_submit(g->dev, &job, 1, NULL);

	if (!err)
		err = pumice_sync_wait(&wait, 1, 0, g->o->timeout_ns);
	if (err == -ETIME)
		return report_endless(g);
	if (err || pumice_context_get_job_result(g->context, 0, result, sizeof(*result)))
		return gpu_error(g);
	if (!result->error)
		return true;
	return report_job(g, "");
}

static bool begin_trace(struct run_gpu *g)
{
	struct pumice_device_info info;

	if (!g->o->trace)
		return true;
	pumice_device_info(g->dev, &info);
	g->trace_file = perfetto_open(g->o->trace, info.clock_hz);
	if (!g->trace_file)
		return run_error("%s: %s", g->o->trace, strerror(errno));
	perfetto_owner(g->trace_file, PERFETTO_ANY_CONTEXT, 0, (uint32_t)getpid(), "pumice-run");
	if (pumice_trace_open(g->dev, PUMICE_EVENTS_ALL, TRACE_ENTRIES, &g->trace))
		return gpu_error(g);
	return true;
}

/* Read the available events. */
static bool drain_trace(struct run_gpu *g)
{
	struct pumice_event_record records[TRACE_BATCH];
	uint64_t lost;
	uint32_t count;

	do {
		if (pumice_trace_read(g->trace, records, TRACE_BATCH, &count, &lost))
			return gpu_error(g);
		if (lost)
			perfetto_lost(g->trace_file, count ? records[0].time : g->trace_time, lost);
		if (count)
			g->trace_time = records[count - 1].time;
		g->lost += lost;
		for (uint32_t i = 0; i < count; i++)
			perfetto_event(g->trace_file, &records[i]);
	} while (count);
	return true;
}

static bool end_trace(struct run_gpu *g)
{
	uint64_t dropped = 0;
	bool whole = true;

	if (g->trace)
		whole = perfetto_close(g->trace_file, &dropped);
	else if (g->trace_file)
		perfetto_discard(g->trace_file);
	g->lost += dropped;
	pumice_trace_close(g->trace);
	if (!whole)
		return run_error("%s: %s", g->o->trace, strerror(errno));
	if (g->lost)
		run_error("%s: %" PRIu64 " events were lost: trace a smaller grid",
			  g->o->trace, g->lost);
	return true;
}

static bool launch(struct run_gpu *g)
{
	struct pumice_job_result result;
	struct pumice_device_info info;
	uint64_t before, after;
	bool good;

	pumice_device_info(g->dev, &info);
	for (unsigned int i = 0; i < g->o->repeat; i++) {
		if (pumice_device_timestamp(g->dev, NULL, &before))
			return gpu_error(g);
		good = run_once(g, &result);
		/* The events of a job that failed are those that are needed most. */
		if ((g->trace && !drain_trace(g)) || !good)
			return false;
		if (pumice_device_timestamp(g->dev, NULL, &after))
			return gpu_error(g);
		if (g->o->time)
			printf("run %u: %.3f ms on the GPU, %.3f ms in all\n", i,
			       (double)result.run_ticks * 1e3 / (double)info.clock_hz,
			       (double)(after - before) / 1e6);
	}
	return true;
}

static bool print_counters(struct run_gpu *g)
{
	uint64_t values[RUN_MAX_PERF];
	struct pumice_perf_info info;

	if (!g->perfmon)
		return true;
	if (pumice_perfmon_read(g->perfmon, 0, values))
		return gpu_error(g);
	for (uint32_t i = 0; i < g->counter_count; i++) {
		if (pumice_perf_counter_get(g->dev, g->counters[i], &info))
			return gpu_error(g);
		printf("%s: %" PRIu64 " %s\n", info.name, values[i], info.unit);
	}
	return true;
}

static bool begin_counts(struct run_gpu *g)
{
	if (!g->o->counted)
		return true;
	g->counts = run_counts_read(g->dev);
	return g->counts;
}

static bool print_counts(struct run_gpu *g)
{
	struct counts *now;
	bool ok;

	if (!g->counts)
		return true;
	now = run_counts_read(g->dev);
	ok = now && run_counts_print(stdout, g->counts, now);
	free(now);
	return ok;
}

static bool store_outputs(struct run_gpu *g)
{
	for (unsigned int i = 0; i < g->o->arg_count; i++) {
		struct run_arg *arg = &g->o->args[i];
		void *cpu;

		if (!arg->output)
			continue;
		if (pumice_bo_map(g->bos[i], &cpu))
			return gpu_error(g);
		memcpy(arg->data.bytes, (char *)cpu + g->offsets[i],
		       arg->data.count * arg->data.type->bytes);
	}
	return true;
}

static void close_buffer(struct run_gpu *g, unsigned int i)
{
	struct pumice_bind op = { .va = g->vas[i] + g->guards[i] };

	if (g->vas[i]) {
		op.size = pumice_bo_size(g->bos[i]);
		pumice_vm_bind(g->vm, &op, 1, NULL);
		pumice_vm_va_free(g->vm, g->vas[i]);
	}
	pumice_bo_destroy(g->bos[i]);
}

static void close_gpu(struct run_gpu *g)
{
	/* Destroy the context first: it kills a job that timed out. */
	pumice_context_destroy(g->context);
	pumice_perfmon_destroy(g->perfmon);
	free(g->counts);
	pumice_sync_destroy(g->done);
	pumice_stream_destroy(g->stream);
	pumice_kernel_destroy(g->kernel);
	for (unsigned int i = 0; i < g->o->arg_count; i++) {
		close_buffer(g, i);
	}
	pumice_vm_destroy(g->vm);
	pumice_program_destroy(g->program);
	pumice_device_close(g->dev);
}

bool run_on_gpu(struct run_options *options)
{
	struct run_gpu *g = calloc(1, sizeof(*g));
	bool ok;

	if (!g)
		return run_error("out of memory");
	g->o = options;
	ok = load_program(g) && open_gpu(g) && place_arguments(g) && make_perfmon(g) &&
	     build_stream(g) && begin_trace(g) && begin_counts(g) && launch(g) &&
	     print_counters(g) && print_counts(g) && check_bounds(g) && store_outputs(g);
	ok &= end_trace(g);
	close_gpu(g);
	free(g);
	return ok;
}
