#include "user_runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 3, 4))) static int format_path(char *path_out, size_t size,
							     const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(path_out, size, format, arguments);
	va_end(arguments);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static const char *folder_named_by(const char *variable)
{
	const char *path = secure_getenv(variable);
	return path && path[0] == '/' ? path : NULL;
}

static bool is_own_folder(const char *path)
{
	struct stat facts;
	return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid();
}

static bool path_exists(const char *path)
{
	struct stat facts;
	return lstat(path, &facts) == 0;
}

/* -ENOENT: the environment names no home of this user. */
static int path_at_home(char *path_out, size_t size)
{
	const char *state = folder_named_by("XDG_STATE_HOME"), *home = folder_named_by("HOME");
	if (state)
		return format_path(path_out, size, "%s/sycld", state);
	return home ? format_path(path_out, size, "%s/.local/state/sycld", home) : -ENOENT;
}

int user_runtime_path(const char *shared, char *path_out, size_t size)
{
	const char *runtime = folder_named_by("XDG_RUNTIME_DIR");
	char at_home[PATH_MAX];
	if (runtime && access(runtime, F_OK) == 0)
		return format_path(path_out, size, "%s/sycld", runtime);
	int r = format_path(path_out, size, "%s/sycld-%lu", shared, (unsigned long)geteuid());
	if (r < 0 || is_own_folder(path_out) || path_at_home(at_home, sizeof(at_home)) < 0)
		return r;
	return is_own_folder(at_home) || path_exists(path_out)
		       ? format_path(path_out, size, "%s", at_home)
		       : 0;
}

/* Makes missing parent folders. Failures are ignored here: making the folder itself then fails. */
static void make_parents(const char *path)
{
	char parent[PATH_MAX];
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
		if (format_path(parent, sizeof(parent), "%.*s", (int)(slash - path), path) == 0)
			(void)mkdir(parent, 0700);
}

int user_runtime_make(const char *shared, char *path_out, size_t size)
{
	int r = 0;
	/* Another user may take the name between the check and the creation. The second check
	 * detects that. */
	for (int attempt = 0; attempt < 2; attempt++) {
		r = user_runtime_path(shared, path_out, size);
		if (r < 0)
			return r;
		make_parents(path_out);
		r = mkdir(path_out, 0700) == 0 || errno == EEXIST ? 0 : -errno;
		if (r == 0 && is_own_folder(path_out))
			return 0;
	}
	return r;
}
