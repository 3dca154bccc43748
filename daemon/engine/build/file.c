#include "build/file.h"

#include "cleanup.h"

#include <sys/mman.h>
#include <sys/stat.h>

int build_file_write(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count > 0) {
		ssize_t written = write(fd, at, count);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		count -= (size_t)written;
	}
	return 0;
}

int build_file_create(const char *name, const void *bytes, size_t count, int *fd_out)
{
	CLEANUP(close_fd) int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	int error = build_file_write(fd, bytes, count);
	if (error < 0)
		return error;
	*fd_out = take_fd(&fd);
	return 0;
}

static int read_up_to(int fd, size_t count, char **bytes_out, size_t *count_out)
{
	size_t got = 0;
	CLEANUP(free_pointer) char *bytes = malloc(count + 1);
	if (!bytes)
		return -ENOMEM;
	while (got < count) {
		ssize_t part = pread(fd, bytes + got, count - got, (off_t)got);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -errno;
		if (part == 0)
			break; /* the file was shortened meanwhile */
		got += (size_t)part;
	}
	bytes[got] = '\0';
	*bytes_out = TAKE(bytes);
	*count_out = got;
	return 0;
}

int build_file_read(int fd, size_t limit, char **bytes_out, size_t *count_out)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size < 0 || (size_t)status.st_size > limit)
		return -EFBIG;
	return read_up_to(fd, (size_t)status.st_size, bytes_out, count_out);
}

int build_file_read_start(int fd, size_t limit, char **bytes_out, size_t *count_out)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	size_t size = status.st_size > 0 ? (size_t)status.st_size : 0;
	return read_up_to(fd, size < limit ? size : limit, bytes_out, count_out);
}
