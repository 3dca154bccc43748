#include "base/kernel_output.h"

#include "cleanup.h"
#include "protocol_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The same open file as standard output, so both have one position. */
static int output_fd = -1;

int kernel_output_open(void)
{
	CLEANUP(close_fd)
	int fd = memfd_create("kernel-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, OUTPUT_BYTES_MAX) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0 ||
	    dup2(fd, STDOUT_FILENO) < 0)
		return -errno;
	output_fd = take_fd(&fd);
	return 0;
}

bool kernel_output_is_open(void)
{
	return output_fd >= 0;
}

void kernel_output_begin(void)
{
	if (output_fd >= 0)
		(void)lseek(output_fd, 0, SEEK_SET);
}

/* Appends so many bytes of the file to the text. False: no memory, or the file cannot be read. */
static bool output_append(struct kernel_output *output, size_t bytes)
{
	char *text = realloc(output->text, output->bytes + bytes);
	if (!text)
		return false;
	output->text = text;
	for (size_t done = 0; done < bytes;) {
		ssize_t count = pread(output_fd, text + output->bytes, bytes - done, (off_t)done);
		if (count <= 0)
			return false;
		output->bytes += (size_t)count;
		done += (size_t)count;
	}
	return true;
}

void kernel_output_take(struct kernel_output *output)
{
	off_t end = output_fd < 0 ? 0 : lseek(output_fd, 0, SEEK_CUR);
	if (end <= 0)
		return;
	(void)lseek(output_fd, 0, SEEK_SET);
	size_t room = OUTPUT_BYTES_MAX - output->bytes, bytes = (size_t)end;
	output->is_cut |= bytes > room || bytes == OUTPUT_BYTES_MAX;
	if (bytes > room)
		bytes = room;
	if (bytes > 0 && !output_append(output, bytes))
		output->is_cut = true;
}

void kernel_output_fini(struct kernel_output *output)
{
	free(output->text);
	*output = (struct kernel_output){.text = NULL};
}
