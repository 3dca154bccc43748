#include "process/cache_folder.h"

#include "cleanup.h"
#include "base/log.h"
#include "service/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the parent folder, because a new user has no ~/.cache yet. */
static void make_parent_folder(const char *path)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	if (length == 0 || length >= sizeof(parent))
		return;
	memcpy(parent, path, length);
	parent[length] = '\0';
	(void)mkdir(parent, 0700); /* a failure is reported when the folder is opened */
}

void supervisor_find_cache(struct supervisor *supervisor)
{
	const char *given = supervisor->options.cache_directory;
	const char *managed = getenv("CACHE_DIRECTORY");
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	bool own = supervisor->options.user || geteuid() != 0;
	char *path = supervisor->cache_path;
	size_t size = sizeof(supervisor->cache_path);
	int length = 0;
	if (given)
		length = snprintf(path, size, "%s", given);
	else if (!own && managed && *managed == '/')
		length = snprintf(path, size, "%s", managed);
	else if (!own)
		length = snprintf(path, size, "%s", SYCLD_CACHEDIR "/sycld");
	else if (xdg && *xdg == '/')
		length = snprintf(path, size, "%s/sycld", xdg);
	else if (home && *home == '/')
		length = snprintf(path, size, "%s/.cache/sycld", home);
	if (length <= 0 || (size_t)length >= size || *path != '/') {
		*path = '\0';
		return;
	}
	if (own && !given)
		make_parent_folder(path);
	CLEANUP(close_fd) int fd = directory_open_private(path, geteuid(), getegid());
	if (fd < 0) {
		log_warning("service", "built kernels are not kept: %s: %s", path, strerror(-fd));
		*path = '\0';
	} else if (!own) {
		(void)fchmod(fd, 0755); /* tenants' engines must reach their own folders in it */
	}
}
