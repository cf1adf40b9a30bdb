// SPDX-License-Identifier: MIT
/*
 * The backend that observes the in-process device of another process: "pid:PID", or
 * "pid:PID/N" for device N of the process. See attach.h.
 *
 * Statistics, clock and event trace only. A reply is checked against the size that it must
 * have before any of it is used; texts in it are terminated here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach.h"

#define REPLY_SECONDS 10	/* the process may be stopped by a debugger */

struct attached_device {
	struct pumice_device base;
	pthread_mutex_t lock;	/* one request at a time */
	int fd;
	struct pumice_process process;
};

struct attached_trace {
	struct pumice_trace base;
	u32 count, next;	/* records read, and index of the next to consume */
	u32 words[ATTACH_RECORDS * PUMICE_TRACE_RECORD_WORDS];
};

static struct attached_device *attached(struct pumice_device *dev)
{
	return (struct attached_device *)dev;
}

/* Send a request. Return: the bytes of data, or a negative errno. */
static ssize_t exchange(int fd, enum attach_op op, u32 value, void *data, size_t room, u64 *lost)
{
	const struct attach_request request = { .magic = ATTACH_MAGIC, .op = op, .value = value };
	struct attach_reply reply;
	struct iovec parts[] = { { &reply, sizeof(reply) }, { data, room } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t bytes;

	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return -errno;
	bytes = recvmsg(fd, &message, 0);
	if (bytes < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (!bytes)
		return -ECONNRESET;
	if (bytes < (ssize_t)sizeof(reply) || message.msg_flags & MSG_TRUNC ||
	    reply.magic != ATTACH_MAGIC || reply.error > 0 || reply.error < -4095)
		return -EPROTO;
	if (reply.error)
		return reply.error;
	if (lost)
		*lost += reply.lost;
	return bytes - (ssize_t)sizeof(reply);
}

/* The same for data of a known size. */
static int request(struct pumice_device *dev, enum attach_op op, u32 value, void *data,
		   size_t bytes)
{
	struct attached_device *a = attached(dev);
	ssize_t got;

	pthread_mutex_lock(&a->lock);
	got = exchange(a->fd, op, value, data, bytes, NULL);
	pthread_mutex_unlock(&a->lock);
	if (got >= 0 && (size_t)got != bytes)
		got = -EPROTO;
	if (got < 0)
		return fail(dev, (int)-got, "process %u: %s", a->process.pid,
			    strerror((int)-got));
	return 0;
}

static int attached_timestamp(struct pumice_device *dev, u64 *gpu_ticks, u64 *cpu_ns)
{
	u64 times[2] = { 0 };
	int err = request(dev, ATTACH_TIMESTAMP, 0, times, sizeof(times));

	*gpu_ticks = times[0];
	*cpu_ns = times[1];
	return err;
}

static int attached_stats(struct pumice_device *dev, struct pumice_device_stats *stats)
{
	return request(dev, ATTACH_STATS, 0, stats, sizeof(*stats));
}

static int attached_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **out)
{
	struct attached_trace *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return fail(dev, ENOMEM, "trace: out of memory");
	t->base.dev = dev;
	err = request(dev, ATTACH_TRACE_OPEN, entries, NULL, 0);
	if (err)
		free(t);
	else
		*out = &t->base;
	return err;
}

static int attached_trace_next(struct pumice_trace *base, u32 *words, bool *have, u64 *lost)
{
	struct attached_trace *t = (struct attached_trace *)base;
	struct attached_device *a = attached(base->dev);
	ssize_t got;

	*have = false;
	if (t->next == t->count) {
		pthread_mutex_lock(&a->lock);
		got = exchange(a->fd, ATTACH_TRACE_READ, ATTACH_RECORDS, t->words,
			       sizeof(t->words), lost);
		pthread_mutex_unlock(&a->lock);
		if (got >= 0 && got % ATTACH_RECORD_BYTES)
			got = -EPROTO;
		if (got < 0)
			return fail(base->dev, (int)-got, "process %u: %s", a->process.pid,
				    strerror((int)-got));
		t->next = 0;
		t->count = (u32)got / ATTACH_RECORD_BYTES;
	}
	if (t->next == t->count)
		return 0;
	memcpy(words, t->words + (size_t)t->next++ * PUMICE_TRACE_RECORD_WORDS,
	       ATTACH_RECORD_BYTES);
	*have = true;
	return 0;
}

static void attached_trace_close(struct pumice_trace *base)
{
	request(base->dev, ATTACH_TRACE_CLOSE, 0, NULL, 0);
	free(base);
}

static void attached_close(struct pumice_device *dev)
{
	struct attached_device *a = attached(dev);

	close(a->fd);
	pthread_mutex_destroy(&a->lock);
	device_fini(dev);
	free(a);
}

/* Operations that only the process itself can do. */

static int refuse(struct pumice_device *dev)
{
	return fail(dev, EOPNOTSUPP,
		    "this device belongs to process %u and can only be observed",
		    attached(dev)->process.pid);
}

static int refuse_counters(struct pumice_device *dev, struct pumice_fw_counters *counters)
{
	(void)counters;
	return refuse(dev);
}

static int refuse_resets(struct pumice_device *dev, struct pumice_device_resets *resets)
{
	(void)resets;
	return refuse(dev);
}

static int refuse_bo(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive,
		     struct pumice_bo **bo)
{
	(void)size;
	(void)exclusive;
	(void)bo;
	return refuse(dev);
}

static int refuse_vm(struct pumice_device *dev, struct pumice_vm **vm)
{
	(void)vm;
	return refuse(dev);
}

static int refuse_sync(struct pumice_device *dev, u32 flags, struct pumice_sync **sync)
{
	(void)flags;
	(void)sync;
	return refuse(dev);
}

static int refuse_counter(struct pumice_device *dev, u32 counter, struct pumice_perf_info *info)
{
	(void)counter;
	(void)info;
	return refuse(dev);
}

static int refuse_perfmon(struct pumice_device *dev, const u32 *counters, u32 count,
			  struct pumice_perfmon **perfmon)
{
	(void)counters;
	(void)count;
	(void)perfmon;
	return refuse(dev);
}

/* Other operations need objects, which cannot be created. */
static const struct backend_ops attached_ops = {
	.close = attached_close,
	.timestamp = attached_timestamp,
	.fw_counters = refuse_counters,
	.drm_fd = refuse,
	.stats = attached_stats,
	.resets = refuse_resets,
	.bo_create = refuse_bo,
	.vm_create = refuse_vm,
	.sync_create = refuse_sync,
	.perf_counter = refuse_counter,
	.perfmon_create = refuse_perfmon,
	.trace_open = attached_trace_open,
	.trace_next = attached_trace_next,
	.trace_close = attached_trace_close,
};

/* "PID" or "PID/N". */
static bool parse(const char *text, u32 *pid, u32 *number)
{
	char *end;
	unsigned long value;

	if (!text || *text < '1' || *text > '9')
		return false;
	value = strtoul(text, &end, 10);
	*pid = (u32)value;
	*number = 0;
	if (value > INT32_MAX || !*end)
		return value <= INT32_MAX;
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return false;
	*number = (u32)strtoul(end + 1, &end, 10);
	return !*end && *number < ATTACH_DEVICES;
}

/* Ask for the description of the device. Return: 0 or a negative errno. */
static int greet(struct attached_device *a)
{
	const struct timeval limit = { .tv_sec = REPLY_SECONDS };
	struct pumice_device_info *info = &a->base.info;
	struct attach_hello hello;
	ssize_t got;

	if (setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		return -errno;
	got = exchange(a->fd, ATTACH_HELLO, 0, &hello, sizeof(hello), NULL);
	if (got < 0)
		return (int)got;
	if (got != sizeof(hello) || hello.version != ATTACH_VERSION || !hello.info.clock_hz ||
	    hello.pid != a->process.pid)
		return -EPROTO;
	hello.name[sizeof(hello.name) - 1] = '\0';
	memcpy(a->process.name, hello.name, sizeof(hello.name));
	*info = hello.info;
	info->backend[sizeof(info->backend) - 1] = '\0';
	info->fw_build_id[sizeof(info->fw_build_id) - 1] = '\0';
	return 0;
}

int pumice_device_process(struct pumice_device *dev, struct pumice_process *process)
{
	if (dev->ops != &attached_ops)
		return -ENOENT;
	*process = attached(dev)->process;
	return 0;
}

int attach_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes)
{
	struct sockaddr_un address;
	struct attached_device *a;
	u32 pid, number;
	int err;

	if (!parse(rest, &pid, &number))
		return fail_text(error, error_bytes, EINVAL,
				 "pid: expects pid:PID or pid:PID/N, N below %u", ATTACH_DEVICES);
	err = attach_path(pid, number, &address);
	if (err)
		return fail_text(error, error_bytes, -err,
				 "pid: XDG_RUNTIME_DIR names no folder");
	a = calloc(1, sizeof(*a));
	if (!a || device_init(&a->base, &attached_ops)) {
		free(a);
		return fail_text(error, error_bytes, ENOMEM, "pid: out of memory");
	}
	pthread_mutex_init(&a->lock, NULL);
	a->process.pid = pid;
	a->fd = attach_connect(&address);
	err = a->fd < 0 ? a->fd : greet(a);
	if (err) {
		fail_text(error, error_bytes, -err,
			  "pid: process %u has no device with the option attach=1 "
			  "(PUMICE_DEVICE=inproc:attach=1): %s", pid, strerror(-err));
		attached_close(&a->base);
		return err;
	}
	*dev = &a->base;
	return 0;
}
