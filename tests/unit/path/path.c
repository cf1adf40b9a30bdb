// SPDX-License-Identifier: MIT
/* Fixture of the tests of the whole path: see path.h. */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>

#include "store.pasm.h"

#define OUT_BYTES	(1u << 20)
#define STREAM_BYTES	65536u

void path_open(struct path *p)
{
	char name[96], error[PUMICE_ERROR_BYTES] = "";
	void *cpu;

	if (p->preset)
		snprintf(name, sizeof(name), "inproc:preset=%s,threads=%u,ram=256", p->preset,
			 p->threads);
	else
		snprintf(name, sizeof(name), "inproc:cores=%u,threads=%u,ram=256", p->cores,
			 p->threads);
	print_message("%s\n", name);
	if (pumice_device_open(name, &p->dev, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_vm_create(p->dev, &p->vm), 0);
	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_NORMAL, &p->context), 0);
	assert_int_equal(pumice_stream_create(p->vm, STREAM_BYTES, &p->stream), 0);
	assert_int_equal(pumice_bo_create(p->dev, OUT_BYTES, NULL, &p->out), 0);
	assert_int_equal(pumice_bo_map(p->out, &cpu), 0);
	assert_int_equal(pumice_vm_place(p->vm, p->out, PUMICE_BIND_NOEXEC, &p->out_va), 0);
	p->out_cpu = cpu;
	p->out_bytes = OUT_BYTES;
}

void path_close(struct path *p)
{
	pumice_stream_destroy(p->stream);
	pumice_context_destroy(p->context);
	assert_int_equal(pumice_vm_remove(p->vm, p->out_va), 0);
	pumice_bo_destroy(p->out);
	pumice_vm_destroy(p->vm);
	pumice_device_close(p->dev);
}

void path_one(unsigned int cores, unsigned int threads, void (*fn)(struct path *p))
{
	struct path p = { .cores = cores, .threads = threads };

	path_open(&p);
	fn(&p);
	path_close(&p);
}

void path_each(void (*fn)(struct path *p))
{
	static const unsigned int cores[] = { 16, 2, 4, 1 };
	const unsigned int count = FIRST_THREADS ? 2 : sizeof(cores) / sizeof(cores[0]);
	unsigned int c, threads;

	for (c = 0; c < count; c++)
		for (threads = FIRST_THREADS; threads < 3; threads++)
			path_one(cores[c], threads, fn);
}

void path_each_preset(void (*fn)(struct path *p))
{
	static const char *const presets[] = {
		"default", "volcanic", "waves", "sgx543mp4", "videocore4",
	};
	unsigned int i;

	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		struct path p = { .preset = presets[i], .threads = i % 3 };

		path_open(&p);
		fn(&p);
		path_close(&p);
	}
}

struct pumice_kernel *path_kernel(struct path *p, const void *file, size_t bytes)
{
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	char error[PUMICE_ERROR_BYTES];

	if (pumice_program_parse(file, bytes, &program, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_kernel_create(p->vm, program, &kernel), 0);
	pumice_program_destroy(program);
	return kernel;
}

static int dispatch(struct path *p, const struct pumice_kernel *k, uint32_t groups,
		    const uint32_t *uniforms, uint32_t words)
{
	const struct pumice_dispatch d = {
		.kernel = k, .groups = { groups, 1, 1 },
		.uniforms = uniforms, .uniform_words = words,
	};

	return pumice_stream_dispatch(p->stream, &d);
}

void path_dispatch(struct path *p, const struct pumice_kernel *k, uint32_t groups,
		   const uint32_t *uniforms, uint32_t words)
{
	assert_int_equal(dispatch(p, k, groups, uniforms, words), 0);
}

int path_run(struct path *p, struct pumice_context_state *state)
{
	uint64_t va;
	int ret;

	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	ret = pumice_context_run(p->context, va, LONG, state);
	pumice_stream_reset(p->stream);
	return ret;
}

bool path_dispatch_if_it_fits(struct path *p, const struct pumice_kernel *k, uint32_t instances,
			      uint32_t groups, const uint32_t *uniforms, uint32_t words)
{
	const int ret = dispatch(p, k, groups, uniforms, words);
	struct pumice_context_state state;
	struct pumice_device_info info;

	assert_int_equal(pumice_device_info(p->dev, &info), 0);
	if (instances > info.max_group_instances) {
		assert_int_equal(ret, -EINVAL);
		return false;
	}
	assert_int_equal(ret, 0);
	if (path_run(p, &state))
		fail_msg("%s", pumice_device_error(p->dev));
	return true;
}

void path_run_briefly(struct path *p)
{
	struct pumice_sync *never;
	struct pumice_wait wait = { 0 };

	assert_int_equal(pumice_sync_create(p->dev, 0, &never), 0);
	wait.sync = never;
	assert_int_equal(pumice_sync_wait(&wait, 1, PUMICE_WAIT_SUBMIT, SECOND / 1000), -ETIME);
	pumice_sync_destroy(never);
}

void path_assert_works(struct path *p, struct pumice_context *context)
{
	static uint32_t value = 1000;
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va), ++value };
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_context *own = p->context;
	uint32_t i;

	memset(p->out_cpu, 0, 256 * 4);
	path_dispatch(p, k, 4, uniforms, 3);
	p->context = context;
	if (path_run(p, NULL))
		fail_msg("%s", pumice_device_error(p->dev));
	p->context = own;
	for (i = 0; i < 256; i++)
		assert_int_equal(p->out_cpu[i], value + i);
	pumice_kernel_destroy(k);
}
