#include "base/cgroup.h"

#include "base/text.h"

#include <limits.h>
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

void cgroup_parse(const char *text, char out[CGROUP_BYTES])
{
	static const char version_2[] = "0::";
	char path[PATH_MAX];
	out[0] = '\0';
	while (strncmp(text, version_2, sizeof(version_2) - 1) != 0) {
		text = strchr(text, '\n');
		if (!text++)
			return;
	}
	text += sizeof(version_2) - 1;
	size_t length = strcspn(text, "\n");
	/* No kernel has a longer path. */
	if (*text != '/' || length >= sizeof(path))
		return;
	memcpy(path, text, length);
	path[length] = '\0';
	text_make_printable(path);
	if (length < CGROUP_BYTES) {
		memcpy(out, path, length + 1);
		return;
	}
	const char *part = path_last_part(path, CGROUP_BYTES - sizeof(cut_mark));
	memcpy(out, cut_mark, sizeof(cut_mark) - 1);
	memcpy(out + sizeof(cut_mark) - 1, part, strlen(part) + 1);
}

int cgroup_is_inside(const char *path, const char *outer)
{
	size_t length = strlen(outer);
	while (length > 0 && outer[length - 1] == '/')
		length--;
	return strncmp(path, outer, length) == 0 && (path[length] == '\0' || path[length] == '/');
}
