// SPDX-License-Identifier: MIT
/* Observation of an in-process device: the socket. See attach.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach.h"

int attach_path(u32 pid, u32 number, struct sockaddr_un *address)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	int bytes;

	if (!folder || folder[0] != '/')
		return -ENOENT;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	bytes = snprintf(address->sun_path, sizeof(address->sun_path), "%s/pumice-%u.%u", folder,
			 pid, number);
	return bytes < (int)sizeof(address->sun_path) ? 0 : -ENAMETOOLONG;
}

int attach_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
