/*
 * For LD_PRELOAD of slurmd, and of slurmstepd below it: hides control groups of version 1. Slurm's
 * plug-in cgroup/v2 ends where /proc/self/cgroup names any, although it needs none of them.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_BYTES = 8192 };

typedef int (*open_call)(const char *, int, ...);

/* Returns a file with the line of version 2 alone; -1: there is none. */
static int open_filtered(open_call next, const char *path)
{
	char text[TEXT_BYTES + 1];
	int from = next(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = from < 0 ? -1 : read(from, text, TEXT_BYTES);
	if (from >= 0)
		(void)close(from);
	if (count <= 0)
		return -1;
	text[count] = '\0';
	const char *line = strstr(text, "0::/");
	int to = line ? memfd_create("cgroup", MFD_CLOEXEC) : -1;
	if (to < 0)
		return -1;
	if (dprintf(to, "%.*s\n", (int)strcspn(line, "\n"), line) > 0 &&
	    lseek(to, 0, SEEK_SET) == 0)
		return to;
	(void)close(to);
	return -1;
}

#pragma GCC visibility push(default)
int open(const char *path, int flags, ...)
{
	open_call next = (open_call)dlsym(RTLD_NEXT, "open");
	va_list more;
	va_start(more, flags);
	mode_t mode = va_arg(more, mode_t); /* of any value, unless the flags need it */
	va_end(more);
	return strcmp(path, "/proc/self/cgroup") == 0 ? open_filtered(next, path)
						      : next(path, flags, mode);
}
#pragma GCC visibility pop
