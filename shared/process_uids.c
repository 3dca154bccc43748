#include "process_uids.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 4096, UIDS = 4 };

/* True if the process exists and the caller may not signal it, so that it is another user's. */
static bool process_is_of_other_user(pid_t pid)
{
	return pid > 0 && kill(pid, 0) < 0 && errno == EPERM;
}

int process_has_uid(pid_t pid, uid_t uid)
{
	char path[64], status[STATUS_BYTES];
	(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	CLEANUP(close_fd) int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) {
		int r = -errno;
		/* /proc may hide the processes of others. */
		return r == -ENOENT && uid == geteuid() && process_is_of_other_user(pid) ? -ESRCH
											 : r;
	}
	ssize_t count = read(file, status, sizeof(status) - 1);
	if (count < 0)
		return -errno;
	status[count] = '\0';
	const char *at = strstr(status, "\nUid:");
	if (!at)
		return -EPROTO;
	at += strlen("\nUid:");
	for (int i = 0; i < UIDS; i++) {
		char *end = NULL;
		unsigned long value = strtoul(at, &end, 10);
		if (end == at)
			return -EPROTO;
		if ((uid_t)value == uid)
			return 0;
		at = end;
	}
	return -ESRCH;
}
