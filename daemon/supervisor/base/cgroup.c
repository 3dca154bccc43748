#include "base/cgroup.h"

#include "base/text.h"
#include "cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char cut_mark[] = "...";

/* Returns the last part of the path, which begins at a whole character. */
static const char *path_last_part(const char *path, size_t bytes)
{
	const char *at = path + strlen(path) - bytes;
	while (((unsigned char)*at & 0xc0u) == 0x80u)
		at++;
	return at;
}

/* Returns the length of the path of version 2, which is written to `path`; 0: there is none. */
static size_t cgroup_find_path(const char *text, char path[PATH_MAX])
{
	static const char version_2[] = "0::";
	while (strncmp(text, version_2, sizeof(version_2) - 1) != 0) {
		text = strchr(text, '\n');
		if (!text++)
			return 0;
	}
	text += sizeof(version_2) - 1;
	size_t length = strcspn(text, "\n");
	/* No kernel has a longer path. */
	if (*text != '/' || length >= PATH_MAX)
		return 0;
	memcpy(path, text, length);
	path[length] = '\0';
	text_make_printable(path);
	return length;
}

void cgroup_parse(const char *text, char out[CGROUP_BYTES])
{
	char path[PATH_MAX];
	out[0] = '\0';
	size_t length = cgroup_find_path(text, path);
	if (length == 0)
		return;
	if (length < CGROUP_BYTES) {
		memcpy(out, path, length + 1);
		return;
	}
	const char *part = path_last_part(path, CGROUP_BYTES - sizeof(cut_mark));
	memcpy(out, cut_mark, sizeof(cut_mark) - 1);
	memcpy(out + sizeof(cut_mark) - 1, part, strlen(part) + 1);
}

void cgroup_parse_outer(const char *text, char out[CGROUP_BYTES])
{
	char path[PATH_MAX];
	out[0] = '\0';
	size_t length = cgroup_find_path(text, path);
	if (length >= CGROUP_BYTES) {
		path[CGROUP_BYTES - 1] = '\0';
		length = (size_t)(strrchr(path, '/') - path);
	}
	memcpy(out, path, length);
	out[length] = '\0';
}

static void mounts_close(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

bool cgroup_find_mount(char out[CGROUP_MOUNT_BYTES])
{
	CLEANUP(mounts_close) FILE *file = fopen("/proc/self/mounts", "re");
	char line[2 * PATH_MAX];
	while (file && fgets(line, sizeof(line), file)) {
		char *rest = NULL;
		(void)strtok_r(line, " ", &rest);
		const char *path = strtok_r(NULL, " ", &rest), *type = strtok_r(NULL, " ", &rest);
		if (!path || !type || strcmp(type, "cgroup2") != 0 ||
		    strlen(path) >= CGROUP_MOUNT_BYTES)
			continue;
		memcpy(out, path, strlen(path) + 1);
		return true;
	}
	return false;
}

int cgroup_is_inside(const char *path, const char *outer)
{
	size_t length = strlen(outer);
	while (length > 0 && outer[length - 1] == '/')
		length--;
	return strncmp(path, outer, length) == 0 && (path[length] == '\0' || path[length] == '/');
}
