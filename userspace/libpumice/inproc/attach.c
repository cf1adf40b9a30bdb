// SPDX-License-Identifier: MIT
/*
 * In-process backend: a socket on which pumice-top and pumice-trace observe the device
 * (option attach=1).
 *
 * A thread of its own serves one peer at a time. It blocks until there is one, so a device
 * that is not observed does nothing for it. A peer can read statistics and the event trace;
 * it cannot submit work or read memory. Requests are checked by attach/attach.h's rules.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../attach/attach.h"
#include "inproc.h"

#define SEND_MS		1000	/* a peer that does not read its reply is disconnected */
#define LINGER_MS	10000	/* until a peer requests the rest of its trace */

struct attach_server {
	struct inproc_device *device;
	struct sockaddr_un address;
	int listener, peer;	/* peer: -1 if none */
	int end;		/* eventfd: the thread is to end */
	struct pumice_trace *trace;	/* of the peer, or NULL */
	bool drained;			/* the peer has read all of it */
	pthread_t thread;
};

/* A reply and its data, as one packet. */
struct packet {
	struct attach_reply head;
	_Alignas(8) u8 data[ATTACH_DATA];
	u32 bytes;	/* of data */
};

static void close_trace(struct attach_server *s)
{
	if (s->trace)
		inproc_trace_close(s->trace);
	s->trace = NULL;
}

static void drop_peer(struct attach_server *s)
{
	close_trace(s);
	close(s->peer);
	s->peer = -1;
}

static void put_data(struct packet *p, const void *data, size_t bytes)
{
	memcpy(p->data, data, bytes);
	p->bytes = (u32)bytes;
}

static int op_hello(struct attach_server *s, struct packet *p)
{
	struct attach_hello hello = {
		.version = ATTACH_VERSION, .pid = (u32)getpid(), .info = s->device->base.info,
	};

	snprintf(hello.name, sizeof(hello.name), "%s", program_invocation_short_name);
	put_data(p, &hello, sizeof(hello));
	return 0;
}

static int op_stats(struct attach_server *s, struct packet *p)
{
	struct pumice_device_stats stats = { 0 };
	int err = s->device->base.ops->stats(&s->device->base, &stats);

	put_data(p, &stats, sizeof(stats));
	return err;
}

static int op_timestamp(struct attach_server *s, struct packet *p)
{
	u64 times[2];
	int err = s->device->base.ops->timestamp(&s->device->base, &times[0], &times[1]);

	put_data(p, times, sizeof(times));
	return err;
}

static int op_open(struct attach_server *s, u32 entries)
{
	if (s->trace)
		return -EBUSY;
	return pumice_trace_open(&s->device->base, PUMICE_EVENTS_ALL, entries, &s->trace);
}

static int op_read(struct attach_server *s, struct packet *p, u32 max)
{
	u32 count = 0;
	bool have = true;
	int err = 0;

	if (!s->trace)
		return -EBADF;
	if (max > ATTACH_RECORDS)
		return -EINVAL;
	while (!err && count < max) {
		err = inproc_trace_next(s->trace,
					(u32 *)(void *)(p->data + count * ATTACH_RECORD_BYTES),
					&have, &p->head.lost);
		if (!have)
			break;
		count++;
	}
	p->bytes = count * ATTACH_RECORD_BYTES;
	s->drained = !count;
	return err;
}

static int execute(struct attach_server *s, const struct attach_request *r, struct packet *p)
{
	switch (r->op) {
	case ATTACH_HELLO:
		return op_hello(s, p);
	case ATTACH_STATS:
		return op_stats(s, p);
	case ATTACH_TIMESTAMP:
		return op_timestamp(s, p);
	case ATTACH_TRACE_OPEN:
		return op_open(s, r->value);
	case ATTACH_TRACE_READ:
		return op_read(s, p, r->value);
	case ATTACH_TRACE_CLOSE:
		close_trace(s);
		return 0;
	}
	return -EOPNOTSUPP;
}

/* Serve one request. Returns false when the peer must be disconnected. */
static bool serve_request(struct attach_server *s)
{
	struct attach_request r;
	struct packet p = { .head = { .magic = ATTACH_MAGIC } };
	/* One byte more than a request: a longer packet is recognised by its size. */
	u8 bytes[sizeof(r) + 1];
	ssize_t size = recv(s->peer, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (size < 0)
		return errno == EAGAIN || errno == EINTR;
	if (size != sizeof(r))
		return false;
	memcpy(&r, bytes, sizeof(r));
	if (r.magic != ATTACH_MAGIC || r.reserved)
		return false;
	p.head.error = execute(s, &r, &p);
	if (p.head.error)
		p.bytes = 0;
	size = (ssize_t)(sizeof(p.head) + p.bytes);
	return send(s->peer, &p, (size_t)size, MSG_NOSIGNAL) == size;
}

static bool is_permitted(int peer)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return false;
	return !who.uid || who.uid == geteuid();
}

static void accept_peer(struct attach_server *s)
{
	const struct timeval limit = { .tv_sec = SEND_MS / 1000 };
	int peer = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

	if (peer < 0)
		return;
	if (!is_permitted(peer) ||
	    setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		close(peer);
	else
		s->peer = peer;
}

/* The device is being closed: let the peer read the rest of its trace, for at most LINGER_MS. */
static void linger(struct attach_server *s)
{
	const u64 end = now_ns() + LINGER_MS * 1000000ull;
	struct pollfd fd = { .fd = s->peer, .events = POLLIN };
	bool ok = true;

	s->drained = false;
	while (ok && s->trace && !s->drained && now_ns() < end)
		ok = poll(&fd, 1, LINGER_MS) > 0 && serve_request(s);
}

static void *serve(void *opaque)
{
	struct attach_server *s = opaque;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = s->end, .events = POLLIN },
			{ .fd = s->peer < 0 ? s->listener : s->peer, .events = POLLIN },
		};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		if (fds[1].revents && s->peer < 0)
			accept_peer(s);
		else if (fds[1].revents && !serve_request(s))
			drop_peer(s);
	}
	if (s->peer >= 0) {
		linger(s);
		drop_peer(s);
	}
	return NULL;
}

/* Bind the first free number. A socket that refuses connections is of a process that ended. */
static int bind_free(struct attach_server *s)
{
	u32 number;
	int err, other;

	for (number = 0; number < ATTACH_DEVICES; number++) {
		err = attach_path((u32)getpid(), number, &s->address);
		if (err)
			return err;
		other = attach_connect(&s->address);
		if (other >= 0) {
			close(other);
			continue;
		}
		if (other == -ECONNREFUSED)
			unlink(s->address.sun_path);
		if (!bind(s->listener, (struct sockaddr *)&s->address, sizeof(s->address)))
			return chmod(s->address.sun_path, 0600) ? -errno : 0;
		if (errno != EADDRINUSE)
			return -errno;
	}
	return -ENOSPC;
}

static void server_free(struct attach_server *s)
{
	if (s->listener >= 0)
		close(s->listener);
	if (s->end >= 0)
		close(s->end);
	free(s);
}

int attach_start(struct inproc_device *d, char *error, size_t error_bytes)
{
	struct attach_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail_text(error, error_bytes, ENOMEM, "inproc: out of memory");
	s->device = d;
	s->peer = -1;
	s->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	err = s->end < 0 || s->listener < 0 ? -EMFILE : bind_free(s);
	if (err) {
		server_free(s);
		return fail_text(error, error_bytes, -err,
				 "inproc: attach=1: no socket in XDG_RUNTIME_DIR: %s",
				 strerror(-err));
	}
	if (listen(s->listener, 4))
		err = -errno;
	else
		err = -pthread_create(&s->thread, NULL, serve, s);
	if (err) {
		unlink(s->address.sun_path);
		server_free(s);
		return fail_text(error, error_bytes, -err, "inproc: attach=1: %s", strerror(-err));
	}
	d->attach = s;
	return 0;
}

void attach_end(struct inproc_device *d)
{
	if (!d->attach)
		return;
	unlink(d->attach->address.sun_path);
	eventfd_write(d->attach->end, 1);
	pthread_join(d->attach->thread, NULL);
	server_free(d->attach);
	d->attach = NULL;
}
