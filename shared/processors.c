#include "processors.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t processors_allowed(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
	/* More processors than the set has room for. */
	long online = errno == EINVAL ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	return online > 0 ? (uint32_t)online : 1;
}

uint32_t processors_parse_quota(const char *text)
{
	char *quota_end, *period_end;
	errno = 0;
	unsigned long long quota = strtoull(text, &quota_end, 10), period = strtoull(quota_end, &period_end, 10);
	if (errno || quota_end == text || period_end == quota_end || period == 0 || quota / period >= UINT32_MAX)
		return UINT32_MAX;
	return quota < period ? 1 : (uint32_t)(quota / period);
}

/* The text of a small file; false: there is none. */
static bool read_small(const char *path, char *text_out, size_t size)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text_out, size - 1);
	if (bytes < 0)
		return false;
	text_out[bytes] = '\0';
	return true;
}

/* The line of the one hierarchy that has no controllers' names: "0::/path". */
static char *own_group(char *text)
{
	char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	if (!line)
		return NULL;
	line += *line == '\n' ? 4 : 3;
	line[strcspn(line, "\n")] = '\0';
	return line;
}

uint32_t processors_quota(void)
{
	char text[PATH_MAX], path[PATH_MAX + 64], value[64];
	char *group = read_small("/proc/self/cgroup", text, sizeof(text)) ? own_group(text) : NULL;
	uint32_t least = UINT32_MAX;
	while (group) {
		(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", strcmp(group, "/") == 0 ? "" : group);
		if (read_small(path, value, sizeof(value))) {
			uint32_t quota = processors_parse_quota(value);
			least = quota < least ? quota : least;
		}
		char *last = strrchr(group, '/');
		if (!last || strcmp(group, "/") == 0)
			break;
		last[last == group] = '\0'; /* the one above */
	}
	return least;
}

uint32_t processors_here(void)
{
	uint32_t allowed = processors_allowed(), quota = processors_quota();
	return allowed < quota ? allowed : quota;
}
