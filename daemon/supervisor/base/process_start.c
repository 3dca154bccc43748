#include "base/process_start.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, FIELD_STATE = 3, FIELD_START = 22 };

int process_start_ticks(pid_t pid, uint64_t *ticks_out)
{
	char path[64], text[STAT_BYTES];
	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t count = read(fd, text, sizeof(text) - 1);
	if (count < 0)
		return -errno;
	text[count] = '\0';
	/* The process chooses its name, which ends at the last parenthesis. */
	const char *at = strrchr(text, ')');
	for (int field = FIELD_STATE - 1; at && field < FIELD_START; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EPROTO;
	char *end = NULL;
	uint64_t ticks = strtoull(at + 1, &end, 10);
	if (end == at + 1)
		return -EPROTO;
	*ticks_out = ticks;
	return 0;
}
