// SPDX-License-Identifier: MIT
/*
 * In-process backend: a socket on which GDB debugs the firmware (option fw-gdb=PATH).
 *
 * A separate thread serves one connection at a time and accesses only the GPU
 * core's GDB stub, so a program that waits for a job does not block GDB. GDB
 * reads the replies that it requests: a peer that does not is disconnected.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "inproc.h"
#include "pumice_gpu_gdb.h"

#define INPUT_BYTES	4096u

struct gdb_server {
	struct pumice_gpu_gdb *gdb;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int listener, peer;	/* peer: -1 if none */
	int halted;		/* eventfd: the firmware processor has halted */
	int end;		/* eventfd: the thread is to end */
	bool hang_up;
	pthread_t thread;
};

/* struct pumice_gpu_gdb_ops */

static void gdb_send(void *opaque, const char *data, size_t bytes)
{
	struct gdb_server *s = opaque;

	if (s->peer >= 0 &&
	    send(s->peer, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)bytes)
		s->hang_up = true;
}

static void gdb_halted(void *opaque)
{
	struct gdb_server *s = opaque;

	eventfd_write(s->halted, 1);
}

static const struct pumice_gpu_gdb_ops gdb_ops = { .send = gdb_send, .halted = gdb_halted };

/* Run the server thread. */

static void drop_peer(struct gdb_server *s)
{
	if (s->peer < 0)
		return;
	pumice_gpu_gdb_disconnect(s->gdb);
	close(s->peer);
	s->peer = -1;
	s->hang_up = false;
}

static void accept_peer(struct gdb_server *s)
{
	s->peer = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	if (s->peer >= 0)
		pumice_gpu_gdb_connect(s->gdb);
}

static void read_peer(struct gdb_server *s)
{
	char data[INPUT_BYTES];
	ssize_t bytes = recv(s->peer, data, sizeof(data), MSG_DONTWAIT);

	if (bytes > 0)
		pumice_gpu_gdb_input(s->gdb, data, (size_t)bytes);
	else if (!bytes || (errno != EAGAIN && errno != EINTR))
		s->hang_up = true;
}

static void *serve(void *opaque)
{
	struct gdb_server *s = opaque;
	eventfd_t count;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = s->end, .events = POLLIN },
			{ .fd = s->halted, .events = POLLIN },
			{ .fd = s->peer < 0 ? s->listener : s->peer, .events = POLLIN },
		};

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		if (fds[1].revents && !eventfd_read(s->halted, &count))
			pumice_gpu_gdb_poll(s->gdb);
		if (fds[2].revents && s->peer < 0)
			accept_peer(s);
		else if (fds[2].revents)
			read_peer(s);
		if (s->hang_up)
			drop_peer(s);
	}
	drop_peer(s);
	return NULL;
}

/* Beginning and end. */

static void server_free(struct gdb_server *s)
{
	if (s->listener >= 0) {
		close(s->listener);
		unlink(s->path);
	}
	if (s->halted >= 0)
		close(s->halted);
	if (s->end >= 0)
		close(s->end);
	pumice_gpu_gdb_destroy(s->gdb);
	free(s);
}

/* Create a socket at the path, which must not exist. Return: 0 or a negative errno. */
static int server_listen(struct gdb_server *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	memcpy(address.sun_path, s->path, sizeof(s->path));
	/*
	 * A peer can write all memory of the firmware: the socket is
	 * this user's, from its creation on.
	 */
	if (fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	s->listener = fd;
	return listen(fd, 1) ? -errno : 0;
}

int gdb_start(struct inproc_device *d, const char *path, char *error, size_t error_bytes)
{
	struct gdb_server *s;
	int err;

	if (!d->threads)
		return fail_text(error, error_bytes, EINVAL,
				 "inproc: fw-gdb with threads=0: the firmware would run only while a "
				 "program waits; use threads=1 or more");
	s = calloc(1, sizeof(*s));
	if (!s)
		return fail_text(error, error_bytes, ENOMEM, "inproc: out of memory");
	strcpy(s->path, path);
	s->listener = s->peer = -1;
	s->halted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->gdb = pumice_gpu_gdb_create(d->gpu, &gdb_ops, s);
	err = s->halted < 0 || s->end < 0 || !s->gdb ? -ENOMEM : server_listen(s);
	if (!err)
		err = server_thread(&s->thread, serve, s);
	if (err) {
		server_free(s);
		return fail_text(error, error_bytes, -err, "inproc: fw-gdb=%s: %s", path,
				 strerror(-err));
	}
	d->gdb = s;
	return 0;
}

void gdb_end(struct inproc_device *d)
{
	if (!d->gdb)
		return;
	eventfd_write(d->gdb->end, 1);
	pthread_join(d->gdb->thread, NULL);
	server_free(d->gdb);
	d->gdb = NULL;
}
