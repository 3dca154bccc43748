#include "gpu/instant_double.h"

#include "cleanup.h"
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int write_controls(const char *path)
{
	FILE *file = fopen(path, "wxe");
	if (!file)
		return -errno;
	const int written = fputs("set instant 1\nset socket 1\n", file);
	return fclose(file) != 0 || written < 0 ? -EIO : 0;
}

int instant_double_open(struct instant_double *made_out)
{
	struct instant_double made = {.folder = "/tmp/syclbench.XXXXXX"};
	char double_path[PATH_MAX], path[64];
	int r = build_path("tests/fake_cuda", "libcuda.so.1", double_path, sizeof(double_path));
	if (r == 0 && access(double_path, R_OK) < 0)
		r = -ENOENT;
	if (r < 0)
		return r;
	if (!mkdtemp(made.folder))
		return -errno;
	(void)snprintf(made.library, sizeof(made.library), "%s/libcuda.so.1", made.folder);
	(void)snprintf(path, sizeof(path), "%s/fake_cuda.conf", made.folder);
	r = symlink(double_path, made.library) < 0 ? -errno : write_controls(path);
	if (r < 0)
		instant_double_close(&made);
	else
		*made_out = made;
	return r;
}

void instant_double_close(struct instant_double *made)
{
	DIR *folder = made->folder[0] ? opendir(made->folder) : NULL;
	for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
		(void)unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		(void)closedir(folder);
	if (made->folder[0])
		(void)rmdir(made->folder);
	*made = (struct instant_double){.folder = ""};
}

static int bind_beside(int fd, const struct instant_double *made)
{
	struct sockaddr_un own = {.sun_family = AF_UNIX};
	(void)snprintf(own.sun_path, sizeof(own.sun_path), "%s/asks.%d", made->folder,
		       (int)getpid());
	(void)unlink(own.sun_path);
	return bind(fd, (const struct sockaddr *)&own, sizeof(own));
}

int64_t instant_double_count(const struct instant_double *made, pid_t pid, const char *what)
{
	char question[64];
	struct sockaddr_un there = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = 10};
	char answer[32];
	(void)snprintf(question, sizeof(question), "count %s", what);
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)snprintf(there.sun_path, sizeof(there.sun_path), "%s/%d.socket", made->folder,
		       (int)pid);
	if (fd < 0 || bind_beside(fd, made) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    sendto(fd, question, strlen(question), 0, (const struct sockaddr *)&there,
		   sizeof(there)) < 0)
		return -errno;
	ssize_t got = recv(fd, answer, sizeof(answer) - 1, 0);
	if (got < 0)
		return -errno;
	answer[got] = '\0';
	return strtoll(answer, NULL, 10);
}

int64_t instant_double_launches(const struct instant_double *made, pid_t pid)
{
	return instant_double_count(made, pid, "instant_launches");
}
