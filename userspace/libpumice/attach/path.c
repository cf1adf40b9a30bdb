// SPDX-License-Identifier: MIT
/* Observation of an in-process device: the socket. See attach.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "attach.h"

/* Only the user may create files in the folder; root uses the folders of others too. */
static int check_folder(const char *folder, uid_t *owner)
{
	struct stat st;

	if (stat(folder, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_mode & (S_IWGRP | S_IWOTH) || (geteuid() && st.st_uid != geteuid()))
		return -EACCES;
	*owner = st.st_uid;
	return 0;
}

int attach_folder(const char **folder, uid_t *owner)
{
	*folder = getenv("XDG_RUNTIME_DIR");
	if (!*folder || (*folder)[0] != '/')
		return -ENOENT;
	return check_folder(*folder, owner);
}

const char *attach_folder_problem(int err)
{
	return getenv("XDG_RUNTIME_DIR") ? strerror(-err) : "it is not set";
}

int attach_path(u32 pid, u32 number, struct sockaddr_un *address, uid_t *owner)
{
	const char *folder;
	int bytes, err = attach_folder(&folder, owner);

	if (err)
		return err;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	bytes = snprintf(address->sun_path, sizeof(address->sun_path), "%s/" ATTACH_NAME, folder,
			 pid, number);
	return bytes < (int)sizeof(address->sun_path) ? 0 : -ENAMETOOLONG;
}

int attach_connect(const struct sockaddr_un *address, u32 seconds)
{
	const struct timeval limit = { .tv_sec = (time_t)seconds };
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC | (seconds ? 0 : SOCK_NONBLOCK);
	int fd = socket(AF_UNIX, type, 0), err = 0;

	if (fd < 0)
		return -errno;
	/* The limit of sending is also that of connecting. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		err = -errno;
	while (!err && connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		if (errno != EINTR)
			err = errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}
