#include "base/kept_file.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

uint64_t kept_file_checksum(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325ull; /* FNV-1a */
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3ull;
	return sum;
}

int kept_file_read(int folder, const char *name, size_t least, size_t most, uint8_t **bytes_out,
		   size_t *size_out)
{
	CLEANUP(close_fd)
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat facts;
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO || errno == EACCES
			       ? -EPERM
			       : -errno; /* a link, a socket */
	if (fstat(fd, &facts) < 0)
		return -errno;
	if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || facts.st_mode & 077 ||
	    facts.st_nlink != 1)
		return -EPERM;
	size_t size = (size_t)facts.st_size;
	if (facts.st_size < (off_t)least || size > most)
		return -EBADMSG;
	uint8_t *bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	size_t have = 0;
	ssize_t count = 1;
	/* A file system in user space may report a signal, of an engine that ends, as an error. */
	while (have < size &&
	       ((count = read(fd, bytes + have, size - have)) > 0 || (count < 0 && errno == EINTR)))
		have += count > 0 ? (size_t)count : 0;
	if (have < size) {
		int r = count < 0 ? -errno : -EBADMSG;
		free(bytes);
		return r;
	}
	*bytes_out = bytes;
	*size_out = size;
	return 0;
}

static int kept_file_write_new(int folder, const char *name, const uint8_t *bytes, size_t size)
{
	(void)unlinkat(folder, name, 0);
	CLEANUP(close_fd)
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size;) {
		ssize_t count = write(fd, bytes + done, size - done);
		if (count < 0 && errno != EINTR)
			return -errno;
		done += count > 0 ? (size_t)count : 0;
	}
	return 0;
}

int kept_file_replace(int folder, const char *name, const uint8_t *bytes, size_t size)
{
	char new_name[NAME_BYTES];
	int length = snprintf(new_name, sizeof(new_name), "%s.new", name);
	if (length < 0 || (size_t)length >= sizeof(new_name))
		return -ENAMETOOLONG;
	int r = kept_file_write_new(folder, new_name, bytes, size);
	if (r == 0 && renameat(folder, new_name, folder, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, new_name, 0);
	return r;
}

void kept_file_write_head(uint8_t *bytes, size_t size, uint64_t magic)
{
	struct kept_file_head head = {.magic = magic};
	head.checksum = kept_file_checksum(bytes + sizeof(head), size - sizeof(head));
	memcpy(bytes, &head, sizeof(head));
}

bool kept_file_has_head(const uint8_t *bytes, size_t size, uint64_t magic)
{
	struct kept_file_head head;
	if (size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	return head.magic == magic &&
	       kept_file_checksum(bytes + sizeof(head), size - sizeof(head)) == head.checksum;
}
