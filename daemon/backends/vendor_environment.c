#include "vendor_environment.h"

#include "cleanup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void vendor_variable_set(const char *name, const char *value)
{
	const char *present = getenv(name);

	if (!value && present)
		(void)unsetenv(name);
	else if (value && (!present || strcmp(present, value) != 0))
		(void)setenv(name, value, 1);
}

static bool is_safe_folder(const char *path)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 022) == 0;
}

char *vendor_cache_folder(const char *cache_directory, const char *name)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (!cache_directory || asprintf(&path, "%s/%s", cache_directory, name) < 0) {
		path = NULL;
		return NULL;
	}
	return is_safe_folder(cache_directory) && is_safe_folder(path) ? TAKE(path) : NULL;
}
