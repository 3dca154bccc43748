#include "control_group.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the text of a small file. False: the file cannot be read. */
static bool read_small_file(const char *path, char *text_out, size_t size)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text_out, size - 1);
	if (bytes < 0)
		return false;
	text_out[bytes] = '\0';
	return true;
}

/* Finds the line of the hierarchy without controllers' names: "0::/path". */
static char *control_group_own_path(char *text)
{
	char *line = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	if (!line)
		return NULL;
	line += *line == '\n' ? 4 : 3;
	line[strcspn(line, "\n")] = '\0';
	return line;
}

uint64_t control_group_least_of(const char *root, const char *membership, const char *name,
				control_group_parse_function *parse)
{
	char text[PATH_MAX], path[3 * PATH_MAX], value[64];
	char *group = read_small_file(membership, text, sizeof(text)) ? control_group_own_path(text)
								      : NULL;
	uint64_t least = UINT64_MAX;
	while (group) {
		(void)snprintf(path, sizeof(path), "%s%s/%s", root,
			       strcmp(group, "/") == 0 ? "" : group, name);
		if (read_small_file(path, value, sizeof(value))) {
			uint64_t limit = parse(value);
			least = limit < least ? limit : least;
		}
		char *last = strrchr(group, '/');
		if (!last || strcmp(group, "/") == 0)
			break;
		last[last == group] = '\0'; /* the parent group */
	}
	return least;
}

uint64_t control_group_least(const char *name, control_group_parse_function *parse)
{
	return control_group_least_of("/sys/fs/cgroup", "/proc/self/cgroup", name, parse);
}

uint64_t control_group_parse_bytes(const char *text)
{
	char *end;
	errno = 0;
	unsigned long long bytes = strtoull(text, &end, 10);
	return errno || end == text || *text == '-' ? UINT64_MAX : bytes;
}
