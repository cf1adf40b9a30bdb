// SPDX-License-Identifier: MIT
/*
 * The backend that observes the in-process device of another process: "pid:PID" for its first,
 * which is number 0, or "pid:PID/N". See attach.h.
 *
 * Statistics, clock, event trace and counts of the memory hierarchy only. A reply is
 * checked against the size that it must have before any of it is used; texts in it are terminated
 * here.
 */
#include <errno.h>
#include <signal.h>
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
	int error;		/* of an earlier request, after which no reply is certain; or 0 */
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

/* Return: 0 or a negative errno; -ECONNRESET if the process has ended. */
static int send_request(int fd, enum attach_op op, u32 value)
{
	const struct attach_request request = { .magic = ATTACH_MAGIC, .op = op, .value = value };
	ssize_t bytes;

	do
		bytes = send(fd, &request, sizeof(request), MSG_NOSIGNAL);
	while (bytes < 0 && errno == EINTR);
	if (bytes == sizeof(request))
		return 0;
	if (bytes >= 0)
		return -EPROTO;
	if (errno == EAGAIN)
		return -ETIMEDOUT;
	return errno == EPIPE ? -ECONNRESET : -errno;
}

/* Receive a reply. Return: its bytes or a negative errno; -ECONNRESET if the process has ended. */
static ssize_t receive(int fd, struct attach_reply *reply, void *data, size_t room)
{
	struct iovec parts[] = { { reply, sizeof(*reply) }, { data, room } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t bytes;

	do
		bytes = recvmsg(fd, &message, 0);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (!bytes)
		return -ECONNRESET;
	if (bytes < (ssize_t)sizeof(*reply) || message.msg_flags & MSG_TRUNC ||
	    reply->magic != ATTACH_MAGIC || reply->error > 0 || reply->error < -4095)
		return -EPROTO;
	return bytes;
}

/*
 * Send a request. Return: the bytes of data, or a negative errno. After an error of the
 * connection a late reply would be that of another request: all later requests fail too.
 */
static ssize_t exchange(struct attached_device *a, enum attach_op op, u32 value, void *data,
			size_t room, u64 *lost)
{
	struct attach_reply reply;
	ssize_t bytes = a->error;

	if (!bytes)
		bytes = send_request(a->fd, op, value);
	if (!bytes)
		bytes = receive(a->fd, &reply, data, room);
	if (bytes < 0) {
		a->error = (int)bytes;
		shutdown(a->fd, SHUT_RDWR);
		return bytes;
	}
	if (reply.error)
		return reply.error;
	if (lost)
		*lost += reply.lost;
	return bytes - (ssize_t)sizeof(reply);
}

/* Return a request's error, with its text. */
static int fail_request(struct attached_device *a, ssize_t err)
{
	return fail(&a->base, (int)-err, "process %u%s: %s", a->process.pid,
		    err == -ECONNRESET ? " has ended" : err == -ETIMEDOUT ? " does not reply" : "",
		    strerror((int)-err));
}

/* Send a request whose reply has data of a known size. */
static int request(struct pumice_device *dev, enum attach_op op, u32 value, void *data,
		   size_t bytes)
{
	struct attached_device *a = attached(dev);
	ssize_t got;

	pthread_mutex_lock(&a->lock);
	got = exchange(a, op, value, data, bytes, NULL);
	pthread_mutex_unlock(&a->lock);
	if (got >= 0 && (size_t)got != bytes)
		got = -EPROTO;
	return got < 0 ? fail_request(a, got) : 0;
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

static int attached_hierarchy_row(struct pumice_device *dev, u32 row, u64 *value)
{
	int err = request(dev, ATTACH_HIERARCHY, row, value,
			  PUMICE_HIER_VALUE_COUNT * sizeof(*value));

	/* The only request that version 2 of the interface did not always have. */
	if (err == -EOPNOTSUPP)
		fail(dev, EOPNOTSUPP,
		     "counts: process %u uses a libpumice without them; it needs version 0.5",
		     attached(dev)->process.pid);
	return err;
}

static int attached_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **out)
{
	struct attached_trace *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return fail(dev, ENOMEM, "trace: out of memory");
	t->base.dev = dev;
	err = request(dev, ATTACH_TRACE_OPEN, entries, NULL, 0);
	if (err == -EBUSY)
		fail(dev, EBUSY, "trace: process %u has another trace; close it",
		     attached(dev)->process.pid);
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
		got = exchange(a, ATTACH_TRACE_READ, ATTACH_RECORDS, t->words,
			       sizeof(t->words), lost);
		pthread_mutex_unlock(&a->lock);
		if (got >= 0 && got % ATTACH_RECORD_BYTES)
			got = -EPROTO;
		if (got < 0)
			return fail_request(a, got);
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

	if (a->fd >= 0)
		close(a->fd);
	pthread_mutex_destroy(&a->lock);
	device_fini(dev);
	free(a);
}

/* Operations that only the process itself can do. */

static int refuse(struct pumice_device *dev)
{
	return fail(dev, EOPNOTSUPP,
		    "this device belongs to process %u and can only be observed; open drm or inproc",
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

static int refuse_bo(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive, u32 flags,
		     struct pumice_bo **bo)
{
	(void)size;
	(void)exclusive;
	(void)flags;
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
	.hierarchy_row = attached_hierarchy_row,
	.trace_open = attached_trace_open,
	.trace_next = attached_trace_next,
	.trace_close = attached_trace_close,
};

/* Parse "PID" or "PID/N". */
static bool parse(const char *text, u32 *pid, u32 *number)
{
	char *end;
	unsigned long value, device = 0;

	if (!text || *text < '1' || *text > '9')
		return false;
	value = strtoul(text, &end, 10);
	if (*end) {
		if (*end != '/' || end[1] < '0' || end[1] > '9')
			return false;
		device = strtoul(end + 1, &end, 10);
	}
	*pid = (u32)value;
	*number = (u32)device;
	return !*end && value <= INT32_MAX && device < ATTACH_DEVICES;
}

/*
 * Check the process that serves the socket: its id, and that it is of this user or root; for root
 * also of the owner of the folder. Return: 0 or a negative errno.
 */
static int check_process(const struct attached_device *a, uid_t owner)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(a->fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	if (who.uid && who.uid != geteuid() && (geteuid() || who.uid != owner))
		return -EACCES;
	return (u32)who.pid == a->process.pid ? 0 : -EACCES;
}

/* Terminate a text of another process, and replace what a terminal would interpret. */
static void clean_text(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Request the description of the device. Return: 0 or a negative errno. */
static int greet(struct attached_device *a)
{
	struct pumice_device_info *info = &a->base.info;
	struct attach_hello hello;
	ssize_t got;

	got = exchange(a, ATTACH_HELLO, 0, &hello, sizeof(hello), NULL);
	if (got < 0)
		return (int)got;
	if (got != sizeof(hello) || hello.version != ATTACH_VERSION || !hello.info.clock_hz ||
	    hello.pid != a->process.pid)
		return -EPROTO;
	clean_text(hello.name, sizeof(hello.name));
	memcpy(a->process.name, hello.name, sizeof(hello.name));
	*info = hello.info;
	clean_text(info->backend, sizeof(info->backend));
	clean_text(info->fw_build_id, sizeof(info->fw_build_id));
	return 0;
}

int pumice_device_process(struct pumice_device *dev, struct pumice_process *process)
{
	if (dev->ops != &attached_ops)
		return -ENOENT;
	*process = attached(dev)->process;
	return 0;
}

static int fail_open(u32 pid, int err, char *error, size_t error_bytes)
{
	const char *why = "cannot be observed";
	const bool absent = err == -ENOENT || err == -ECONNREFUSED;

	if (absent && kill((pid_t)pid, 0) && errno == ESRCH)
		why = "does not exist";
	else if (absent)
		why = "has no device with the option attach=1 (PUMICE_DEVICE=inproc:attach=1)";
	else if (err == -EBUSY)
		why = "has as many observers as it accepts";
	else if (err == -ETIMEDOUT)
		why = "does not reply; is it stopped?";
	else if (err == -ECONNRESET)
		why = "has ended";
	else if (err == -EACCES)
		why = "belongs to another user, or its socket to another process";
	else if (err == -EPROTO)
		why = "sent a reply that is not valid; it may use another version of libpumice";
	return fail_text(error, error_bytes, -err, "pid: process %u %s: %s", pid, why,
			 strerror(-err));
}

int attach_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes)
{
	struct sockaddr_un address;
	struct attached_device *a;
	u32 pid, number;
	uid_t owner;
	int err;

	if (!parse(rest, &pid, &number))
		return fail_text(error, error_bytes, EINVAL,
				 "unknown process '%.60s'; accepted: pid:PID or pid:PID/N, N from 0 to %u",
				 rest ? rest : "", ATTACH_DEVICES - 1);
	err = attach_path(pid, number, &address, &owner);
	if (err)
		return fail_text(error, error_bytes, -err,
				 "pid: XDG_RUNTIME_DIR must name a folder that only this user can "
				 "write to: %s; set it as in process %u, in both to the same folder "
				 "of mode 0700", attach_folder_problem(err), pid);
	a = calloc(1, sizeof(*a));
	if (!a || device_init(&a->base, &attached_ops)) {
		free(a);
		return fail_text(error, error_bytes, ENOMEM, "pid: out of memory");
	}
	pthread_mutex_init(&a->lock, NULL);
	a->process.pid = pid;
	a->fd = attach_connect(&address, REPLY_SECONDS);
	err = a->fd < 0 ? a->fd : check_process(a, owner);
	if (!err)
		err = greet(a);
	if (err) {
		fail_open(pid, err, error, error_bytes);
		attached_close(&a->base);
		return err;
	}
	*dev = &a->base;
	return 0;
}
