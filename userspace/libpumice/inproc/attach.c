// SPDX-License-Identifier: MIT
/*
 * In-process backend: a socket on which pumice-top and pumice-trace observe the device
 * (option attach=1).
 *
 * A separate thread serves the peers. It blocks until there is a request, so a device
 * that is not observed does nothing for it. A peer can read statistics and the event trace;
 * it cannot submit work or read memory. Requests are checked by attach/attach.h's rules.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
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
#define REFUSE_MS	100	/* for the request of a peer beyond ATTACH_PEERS */
#define ACCEPT_MS	200	/* until the next accept(), without a file descriptor or memory */
#define LINGER_MS	10000	/* until a peer requests the rest of its trace */

struct attach_server {
	struct inproc_device *device;
	struct sockaddr_un address;
	u32 number;		/* of the device in the process */
	struct stat file;	/* the socket in the file system */
	int listener;
	int peer[ATTACH_PEERS];	/* -1 if none */
	int end;		/* eventfd: the thread is to end */
	struct pumice_trace *trace;	/* of one peer, or NULL */
	u32 tracer;			/* that peer */
	bool drained;			/* it has read all of the trace */
	pthread_t thread;
};

/* A reply and its data, as one packet. */
struct packet {
	struct attach_reply head;
	_Alignas(8) u8 data[ATTACH_DATA];
	u32 bytes;	/* of data */
};

static bool has_trace(const struct attach_server *s, u32 peer)
{
	return s->trace && s->tracer == peer;
}

static void close_trace(struct attach_server *s, u32 peer)
{
	if (!has_trace(s, peer))
		return;
	inproc_trace_close(s->trace);
	s->trace = NULL;
}

static void drop_peer(struct attach_server *s, u32 peer)
{
	close_trace(s, peer);
	if (s->peer[peer] >= 0)
		close(s->peer[peer]);
	s->peer[peer] = -1;
}

static void set_data(struct packet *p, const void *data, size_t bytes)
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
	set_data(p, &hello, sizeof(hello));
	return 0;
}

static int op_stats(struct attach_server *s, struct packet *p)
{
	struct pumice_device_stats stats = { 0 };
	int err = s->device->base.ops->stats(&s->device->base, &stats);

	set_data(p, &stats, sizeof(stats));
	return err;
}

static int op_timestamp(struct attach_server *s, struct packet *p)
{
	u64 times[2];
	int err = s->device->base.ops->timestamp(&s->device->base, &times[0], &times[1]);

	set_data(p, times, sizeof(times));
	return err;
}

static int op_open(struct attach_server *s, u32 peer, u32 entries)
{
	int err;

	if (s->trace)
		return -EBUSY;
	err = pumice_trace_open(&s->device->base, PUMICE_EVENTS_ALL, entries, &s->trace);
	if (err)
		s->trace = NULL;
	s->tracer = peer;
	return err;
}

static int op_read(struct attach_server *s, u32 peer, struct packet *p, u32 max)
{
	u32 count = 0;
	bool have = true;
	int err = 0;

	if (!has_trace(s, peer))
		return -EBADF;
	if (max > ATTACH_RECORDS)
		return -EINVAL;
	while (!err && have && count < max) {
		err = trace_fetch(s->trace, count,
				  (u32 *)(void *)(p->data + count * ATTACH_RECORD_BYTES), &have,
				  &p->head.lost);
		count += have;
	}
	p->bytes = count * ATTACH_RECORD_BYTES;
	s->drained = !count;
	return err;
}

static int execute(struct attach_server *s, u32 peer, const struct attach_request *r,
		   struct packet *p)
{
	switch (r->op) {
	case ATTACH_HELLO:
		return op_hello(s, p);
	case ATTACH_STATS:
		return op_stats(s, p);
	case ATTACH_TIMESTAMP:
		return op_timestamp(s, p);
	case ATTACH_TRACE_OPEN:
		return op_open(s, peer, r->value);
	case ATTACH_TRACE_READ:
		return op_read(s, peer, p, r->value);
	case ATTACH_TRACE_CLOSE:
		close_trace(s, peer);
		return 0;
	}
	return -EOPNOTSUPP;
}

/* Send a reply; without its data after an error. */
static bool send_reply(int fd, struct packet *p)
{
	const size_t size = sizeof(p->head) + (p->head.error ? 0 : p->bytes);

	p->head.magic = ATTACH_MAGIC;
	return send(fd, p, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Serve one request. Returns false when the peer must be disconnected. */
static bool serve_request(struct attach_server *s, u32 peer)
{
	struct attach_request r;
	struct packet p = { 0 };
	/* One byte more than a request: a longer packet is recognised by its size. */
	u8 bytes[sizeof(r) + 1];
	ssize_t size = recv(s->peer[peer], bytes, sizeof(bytes), MSG_DONTWAIT);

	if (size < 0)
		return errno == EAGAIN || errno == EINTR;
	if (size != sizeof(r))
		return false;
	memcpy(&r, bytes, sizeof(r));
	if (r.magic != ATTACH_MAGIC || r.reserved)
		return false;
	p.head.error = execute(s, peer, &r, &p);
	return send_reply(s->peer[peer], &p);
}

static bool is_permitted(int peer)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return false;
	return !who.uid || who.uid == geteuid();
}

static bool set_limit(int fd, int option, u32 ms)
{
	const struct timeval limit = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return !setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit));
}

/* Reply -EBUSY to the first request. The request is read, since closing would drop the reply. */
static void refuse_peer(int fd)
{
	struct packet p = { .head = { .error = -EBUSY } };
	u8 bytes[sizeof(struct attach_request)];

	if (set_limit(fd, SO_RCVTIMEO, REFUSE_MS) && recv(fd, bytes, sizeof(bytes), 0) > 0)
		send_reply(fd, &p);
	close(fd);
}

/* Return: false if no file descriptor or memory is free. */
static bool accept_peer(struct attach_server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	u32 peer = 0;

	if (fd < 0)
		return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
	while (peer < ATTACH_PEERS && s->peer[peer] >= 0)
		peer++;
	if (!is_permitted(fd) || !set_limit(fd, SO_SNDTIMEO, SEND_MS))
		close(fd);
	else if (peer == ATTACH_PEERS)
		refuse_peer(fd);
	else
		s->peer[peer] = fd;
	return true;
}

/* The device is being closed: let the peer read the rest of its trace, for at most LINGER_MS. */
static void linger(struct attach_server *s)
{
	const u64 end = now_ns() + LINGER_MS * 1000000ull;
	u64 now = now_ns();

	s->drained = false;
	for (; s->trace && !s->drained && now < end; now = now_ns()) {
		struct pollfd fd = { .fd = s->peer[s->tracer], .events = POLLIN };
		int ready = poll(&fd, 1, (int)((end - now) / 1000000) + 1);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 || !serve_request(s, s->tracer))
			return;
	}
}

/* Wait for requests and peers, and serve them. Returns false when the thread is to end. */
static bool serve_ready(struct attach_server *s, bool *accepting)
{
	enum { END, LISTENER, PEERS };
	struct pollfd fds[PEERS + ATTACH_PEERS] = {
		[END] = { .fd = s->end, .events = POLLIN },
		[LISTENER] = { .fd = *accepting ? s->listener : -1, .events = POLLIN },
	};
	u32 i;

	for (i = 0; i < ATTACH_PEERS; i++)
		fds[PEERS + i] = (struct pollfd){ .fd = s->peer[i], .events = POLLIN };
	if (poll(fds, PEERS + ATTACH_PEERS, *accepting ? -1 : ACCEPT_MS) < 0)
		return errno == EINTR;
	if (fds[END].revents)
		return false;
	for (i = 0; i < ATTACH_PEERS; i++)
		if (fds[PEERS + i].revents && !serve_request(s, i))
			drop_peer(s, i);
	*accepting = !fds[LISTENER].revents || accept_peer(s);
	return true;
}

static void *serve(void *opaque)
{
	struct attach_server *s = opaque;
	bool accepting = true;
	u32 i;

	while (serve_ready(s, &accepting))
		;
	for (i = 0; i < ATTACH_PEERS; i++)
		if (!has_trace(s, i))
			drop_peer(s, i);
	linger(s);
	for (i = 0; i < ATTACH_PEERS; i++)
		drop_peer(s, i);
	return NULL;
}

/* Numbers of this process's devices. A child of fork() has none. */
static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t numbers_of;
static bool number_used[ATTACH_DEVICES];

/* Whether no process listens at the address: the socket belongs to one that has ended. */
static bool is_stale(const struct sockaddr_un *address)
{
	int fd = attach_connect(address, 0);

	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

/* Remove the sockets of processes that have ended. */
static void remove_stale(void)
{
	struct sockaddr_un address;
	struct dirent *entry;
	const char *folder;
	u32 pid, number;
	int end;
	uid_t owner;
	DIR *dir = attach_folder(&folder, &owner) ? NULL : opendir(folder);

	while (dir && (entry = readdir(dir))) {
		end = 0;
		if (sscanf(entry->d_name, ATTACH_NAME "%n", &pid, &number, &end) != 2 ||
		    entry->d_name[end] || pid > INT32_MAX || !kill((pid_t)pid, 0) ||
		    errno != ESRCH || attach_path(pid, number, &address, &owner))
			continue;
		if (is_stale(&address))
			unlink(address.sun_path);
	}
	if (dir)
		closedir(dir);
}

/* Listen at the address, unless its socket is in use. Return: 0 or a negative errno. */
static int listen_at(struct attach_server *s)
{
	int err = 0;

	if (is_stale(&s->address))
		unlink(s->address.sun_path);
	if (bind(s->listener, (struct sockaddr *)&s->address, sizeof(s->address)))
		return -errno;
	if (chmod(s->address.sun_path, 0600) || lstat(s->address.sun_path, &s->file) ||
	    listen(s->listener, ATTACH_PEERS))
		err = -errno;
	if (err)
		unlink(s->address.sun_path);
	return err;
}

/* Listen at the first free number, which becomes used. */
static int listen_free_locked(struct attach_server *s)
{
	uid_t owner;
	u32 number;
	int err;

	if (numbers_of != getpid())
		memset(number_used, 0, sizeof(number_used));
	numbers_of = getpid();
	for (number = 0; number < ATTACH_DEVICES; number++) {
		if (number_used[number])
			continue;
		err = attach_path((u32)getpid(), number, &s->address, &owner);
		if (!err)
			err = listen_at(s);
		if (err == -EADDRINUSE)
			continue;
		s->number = number;
		number_used[number] = !err;
		return err;
	}
	return -ENOSPC;
}

static int listen_free(struct attach_server *s)
{
	int err;

	pthread_mutex_lock(&numbers_lock);
	remove_stale();
	err = listen_free_locked(s);
	pthread_mutex_unlock(&numbers_lock);
	return err;
}

/* Remove the socket, unless another one has its name, and release its number. */
static void unlisten(struct attach_server *s)
{
	struct stat now;

	pthread_mutex_lock(&numbers_lock);
	if (!lstat(s->address.sun_path, &now) && now.st_dev == s->file.st_dev &&
	    now.st_ino == s->file.st_ino)
		unlink(s->address.sun_path);
	number_used[s->number] = false;
	pthread_mutex_unlock(&numbers_lock);
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
	memset(s->peer, -1, sizeof(s->peer));
	s->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = s->end < 0 || s->listener < 0 ? -EMFILE : listen_free(s);
	if (err) {
		server_free(s);
		return fail_text(error, error_bytes, -err,
				 "inproc: attach=1: no socket in XDG_RUNTIME_DIR, which must be a "
				 "folder that only this user can write to: %s", strerror(-err));
	}
	err = server_thread(&s->thread, serve, s);
	if (err) {
		unlisten(s);
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
	unlisten(d->attach);
	eventfd_write(d->attach->end, 1);
	pthread_join(d->attach->thread, NULL);
	server_free(d->attach);
	d->attach = NULL;
}
