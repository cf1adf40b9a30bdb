// SPDX-License-Identifier: MIT
/*
 * In-process backend: a socket on which pumice-top and pumice-trace observe the device
 * (option attach=1).
 *
 * A separate thread serves the peers. It blocks until there is a request, so a device
 * that is not observed does nothing for it. A peer can read statistics and the event trace;
 * it cannot submit work or read memory. Requests are checked by attach/attach.h's rules.
 *
 * Socket and thread belong to the process that created the device. A child of fork() closes its
 * copies of the descriptors at once, so that peers notice when that process ends; neither its
 * exit nor the destruction of its copy of the device affects the socket. The name of the socket is
 * removed when the device is closed or its process exits; those of processes that were killed, when
 * another device is opened.
 *
 * Without a free file descriptor the device works, but cannot be observed: this is reported on
 * stderr, once for each device.
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
#define LINGER_MS	10000	/* until a peer has read the rest of its trace */
#define SLOTS		(ATTACH_PEERS + 1)	/* the last is for a peer that is refused */

struct attach_server {
	struct inproc_device *device;
	struct sockaddr_un address;
	pid_t owner;		/* process that created the device */
	u32 number;		/* of the device in the process */
	struct stat file;	/* the socket in the file system */
	struct attach_server *next;	/* of this process; servers_lock */
	/* File descriptors, -1 if none. They change under servers_lock, and fork() waits for it. */
	int listener;
	int peer[SLOTS];
	int end;		/* eventfd: the thread is to end */
	bool reported;		/* that no file descriptor is free */
	struct pumice_trace *trace;	/* of one peer, or NULL */
	u32 tracer;			/* that peer */
	bool traced;			/* a trace has been opened; traced_lock */
	bool drained;			/* it has read all of the trace */
	pthread_t thread;
};

/* A reply and its data, as one packet. */
struct packet {
	struct attach_reply head;
	_Alignas(8) u8 data[ATTACH_DATA];
	u32 bytes;	/* of data */
};

/* Servers of this process. */
static pthread_mutex_t servers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct attach_server *servers;

static void close_locked(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_all_locked(struct attach_server *s)
{
	u32 i;

	close_locked(&s->listener);
	close_locked(&s->end);
	for (i = 0; i < SLOTS; i++)
		close_locked(&s->peer[i]);
}

static void before_fork(void)
{
	pthread_mutex_lock(&servers_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&servers_lock);
}

/* The child has no thread that serves. */
static void after_fork_in_child(void)
{
	for (; servers; servers = servers->next)
		close_all_locked(servers);
	pthread_mutex_unlock(&servers_lock);
}

/* Return whether this is the process that created the device. */
static bool is_owner(const struct attach_server *s)
{
	return s->owner == getpid();
}

/* Remove the socket's name, unless another socket has it. */
static void remove_name(const struct attach_server *s)
{
	struct stat now;

	if (is_owner(s) && !lstat(s->address.sun_path, &now) && now.st_dev == s->file.st_dev &&
	    now.st_ino == s->file.st_ino)
		unlink(s->address.sun_path);
}

/* The process exits without closing its devices. */
static void remove_names(void)
{
	const struct attach_server *s;

	pthread_mutex_lock(&servers_lock);
	for (s = servers; s; s = s->next)
		remove_name(s);
	pthread_mutex_unlock(&servers_lock);
}

static int handlers_error;

static void register_handlers(void)
{
	handlers_error = pthread_atfork(before_fork, after_fork, after_fork_in_child);
	if (!handlers_error && atexit(remove_names))
		handlers_error = ENOMEM;
}

/* Return whether no file descriptor, or memory for one, is free. */
static bool is_exhausted(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOBUFS;
}

static void report_exhausted(struct attach_server *s, const char *what, int err)
{
	if (!s->reported)
		fprintf(stderr, "libpumice: attach=1: %s: %s\n", what, strerror(-err));
	s->reported = true;
}

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
	pthread_mutex_lock(&servers_lock);
	close_locked(&s->peer[peer]);
	pthread_mutex_unlock(&servers_lock);
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

static int op_hierarchy(struct attach_server *s, struct packet *p, u32 row)
{
	u64 values[PUMICE_HIER_VALUE_COUNT] = { 0 };
	int err = s->device->base.ops->hierarchy_row(&s->device->base, row, values);

	set_data(p, values, sizeof(values));
	return err;
}

static pthread_mutex_t traced_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t traced_cond = PTHREAD_COND_INITIALIZER;

static void report_traced(struct attach_server *s)
{
	pthread_mutex_lock(&traced_lock);
	s->traced = true;
	pthread_cond_broadcast(&traced_cond);
	pthread_mutex_unlock(&traced_lock);
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
	if (!err)
		report_traced(s);
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
	s->drained = !count && inproc_trace_is_read(s->trace);
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
	case ATTACH_HIERARCHY:
		return op_hierarchy(s, p, r->value);
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
}

/* Accept a peer into the first free slot. Return: 0 or a negative errno. */
static int accept_at(struct attach_server *s, u32 *slot)
{
	int err = 0;

	for (*slot = 0; *slot < ATTACH_PEERS && s->peer[*slot] >= 0; ++*slot)
		;
	pthread_mutex_lock(&servers_lock);
	s->peer[*slot] = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	if (s->peer[*slot] < 0)
		err = -errno;
	pthread_mutex_unlock(&servers_lock);
	return err;
}

/* Return: false if no file descriptor or memory is free. */
static bool accept_peer(struct attach_server *s)
{
	u32 slot;
	int err = accept_at(s, &slot);

	if (is_exhausted(err))
		report_exhausted(s, "an observer waits", err);
	if (err)
		return !is_exhausted(err);
	if (!is_permitted(s->peer[slot]) || !set_limit(s->peer[slot], SO_SNDTIMEO, SEND_MS))
		drop_peer(s, slot);
	else if (slot == ATTACH_PEERS) {
		refuse_peer(s->peer[slot]);
		drop_peer(s, slot);
	}
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
	u32 peers[ATTACH_PEERS], count = 0, i;

	/* No entries without a descriptor: more than the process may have are refused. */
	for (i = 0; i < ATTACH_PEERS; i++) {
		if (s->peer[i] < 0)
			continue;
		fds[PEERS + count] = (struct pollfd){ .fd = s->peer[i], .events = POLLIN };
		peers[count++] = i;
	}
	if (poll(fds, PEERS + count, *accepting ? -1 : ACCEPT_MS) < 0)
		return errno == EINTR;
	if (fds[END].revents)
		return false;
	for (i = 0; i < count; i++)
		if (fds[PEERS + i].revents && !serve_request(s, peers[i]))
			drop_peer(s, peers[i]);
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

/* Return whether no process listens at the address: the socket belongs to one that has ended. */
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

static bool is_used_locked(u32 number)
{
	const struct attach_server *s = servers;

	while (s && s->number != number)
		s = s->next;
	return s;
}

/* Listen at the first free number. Return: 0 or a negative errno. */
static int listen_free_locked(struct attach_server *s)
{
	uid_t owner;
	int err;

	for (s->number = 0; s->number < ATTACH_DEVICES; s->number++) {
		if (is_used_locked(s->number))
			continue;
		err = attach_path((u32)s->owner, s->number, &s->address, &owner);
		if (!err)
			err = listen_at(s);
		if (err != -EADDRINUSE)
			return err;
	}
	return -ENOSPC;
}

/* Create the socket. Return: 0 or a negative errno. */
static int server_listen_locked(struct attach_server *s)
{
	int err;

	s->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->end < 0)
		return -errno;
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return -errno;
	remove_stale();
	err = listen_free_locked(s);
	if (err)
		return err;
	s->next = servers;
	servers = s;
	return 0;
}

static int server_listen(struct attach_server *s)
{
	int err;

	pthread_mutex_lock(&servers_lock);
	err = server_listen_locked(s);
	if (err)
		close_all_locked(s);
	pthread_mutex_unlock(&servers_lock);
	return err;
}

static void unlist_locked(const struct attach_server *s)
{
	struct attach_server **at = &servers;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

/* Remove the socket's name. Its number is in use until server_free(). */
static void unlisten(struct attach_server *s)
{
	pthread_mutex_lock(&servers_lock);
	remove_name(s);
	pthread_mutex_unlock(&servers_lock);
}

/* A server with descriptors is listed: a child of fork() closes its copies of them. */
static void server_free(struct attach_server *s)
{
	pthread_mutex_lock(&servers_lock);
	unlist_locked(s);
	close_all_locked(s);
	pthread_mutex_unlock(&servers_lock);
	free(s);
}

static struct attach_server *server_create(struct inproc_device *d)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct attach_server *s;

	pthread_once(&once, register_handlers);
	s = handlers_error ? NULL : calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->device = d;
	s->owner = getpid();
	s->listener = s->end = -1;
	memset(s->peer, -1, sizeof(s->peer));
	return s;
}

int attach_start(struct inproc_device *d, char *error, size_t error_bytes)
{
	struct attach_server *s = server_create(d);
	int err;

	if (!s)
		return fail_text(error, error_bytes, ENOMEM, "inproc: out of memory");
	err = server_listen(s);
	if (is_exhausted(err)) {
		report_exhausted(s, "the device cannot be observed", err);
		server_free(s);
		return 0;
	}
	if (err) {
		server_free(s);
		return fail_text(error, error_bytes, -err,
				 "inproc: attach=1: no socket in XDG_RUNTIME_DIR, which must be a "
				 "folder that only this user can write to: %s; set it to a folder "
				 "of mode 0700: export XDG_RUNTIME_DIR=$(mktemp -d)",
				 attach_folder_problem(err));
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
	struct attach_server *s = d->attach;

	if (!s)
		return;
	unlisten(s);
	if (is_owner(s)) {
		eventfd_write(s->end, 1);
		pthread_join(s->thread, NULL);
	} else {
		/* A child of fork(): only memory is its own. */
		free(s->trace);
	}
	server_free(s);
	d->attach = NULL;
}

bool attach_is_awaited(void)
{
	const char *text = getenv(ATTACH_WAIT);

	return text && strtol(text, NULL, 10) == (long)getpid();
}

void attach_await(struct inproc_device *d)
{
	struct attach_server *s = d->attach;
	struct timespec until;
	int err = 0;

	if (!s || s->number || !attach_is_awaited())
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ATTACH_WAIT_SECONDS;
	pthread_mutex_lock(&traced_lock);
	while (!s->traced && !err)
		err = pthread_cond_clockwait(&traced_cond, &traced_lock, CLOCK_MONOTONIC, &until);
	pthread_mutex_unlock(&traced_lock);
	if (err)
		fprintf(stderr, "libpumice: no trace was opened within %d s, which " ATTACH_WAIT
			" requests; continuing without\n", ATTACH_WAIT_SECONDS);
}
