// SPDX-License-Identifier: MIT
/* Presents: the command, jobs with flips, and waits for these. */
#include <errno.h>

#include "gfx.h"
#include "pumice/pumice_present.h"

int pumice_stream_present(struct pumice_stream *s, const struct pumice_image *src,
			  const struct pumice_image *dst, const struct pumice_tdm_present *desc)
{
	struct pumice_tdm_present present;
	u32 words[PUMICE_TDM_PRESENT_WORDS];
	int err;

	if (!desc)
		return fail_null(stream_vm(s)->dev, "present", "present");
	present = *desc;
	err = transfer_put_texture(s, src, &present.src);
	if (!err)
		err = transfer_put_texture(s, dst, &present.dst);
	pumice_tdm_present_pack(words, &present);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_PRESENT_WORDS);
}

static int check_present(const struct pumice_present_job *job)
{
	struct pumice_device *dev = job->context->dev;

	if (job->context->type != PUMICE_CONTEXT_TRANSFER)
		return fail(dev, EINVAL, "present: the context is of type %u; accepted: 3 (transfer)",
			    job->context->type);
	if (!job->presents || job->presents > PUMICE_MAX_PRESENTS)
		return fail(dev, job->presents ? E2BIG : EINVAL,
			    "present: a job has 1 to %u presents, not %u",
			    PUMICE_MAX_PRESENTS, job->presents);
	if (job->reserved)
		return fail(dev, EINVAL, "present: reserved is %#x; set it to 0", job->reserved);
	return 0;
}

int pumice_submit_present(const struct pumice_present_job *job)
{
	struct pumice_gfx_job plain;
	u32 failed;
	int err;

	if (!job || !job->context)
		return -EINVAL;
	err = check_present(job);
	if (err)
		return err;
	pumice_gfx_job_init(&plain, job->context, job->stream);
	plain.syncs = job->syncs;
	plain.sync_count = job->sync_count;
	plain.perfmon = job->perfmon;
	return queue_submit(job->context->dev, &plain, 1, job, &failed);
}

int pumice_wait_flip(struct pumice_device *dev, uint64_t timeout_ns, struct pumice_flip *flip,
		     size_t bytes)
{
	struct pumice_flip all = { 0 };
	int err;

	if (!flip)
		return fail_null(dev, "wait for a flip", "flip");
	if (!dev->ops->wait_flip)
		return fail(dev, EOPNOTSUPP, "wait for a flip: the device only observes another process");
	err = dev->ops->wait_flip(dev, timeout_ns, &all);
	if (err == -ETIME)
		return fail_wait_timeout(dev, timeout_ns);
	if (!err)
		put_sized(flip, bytes, &all, sizeof(all));
	return err;
}

int fail_no_flip_space(struct pumice_device *dev)
{
	return fail(dev, ENOSPC,
		    "present: at most %u flips are announced or not returned; call pumice_wait_flip() first",
		    PUMICE_MAX_FLIPS);
}
