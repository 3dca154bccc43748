#include "supervisor/control_group.h"

#include "cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool control_group_mount(char mount_out[HARNESS_PATH_BYTES])
{
	char line[1024], path[HARNESS_PATH_BYTES], type[32];
	FILE *file = fopen("/proc/self/mounts", "re");
	bool found = false;
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %255s %31s", path, type) == 2 && !strcmp(type, "cgroup2");
	if (file)
		(void)fclose(file);
	if (found)
		(void)snprintf(mount_out, HARNESS_PATH_BYTES, "%s", path);
	return found;
}

bool control_group_write(const char *folder, const char *file, const char *value)
{
	char path[4 * HARNESS_PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, value, strlen(value)) > 0;
}
