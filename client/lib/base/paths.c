#include "base/paths.h"

#include "cleanup.h"
#include "user_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static int path_join(char path_out[PATH_BYTES],
							   const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(path_out, PATH_BYTES, format, arguments);
	va_end(arguments);
	return n < 0 || n >= PATH_BYTES ? -ENAMETOOLONG : 0;
}

/* Checks that a folder is the user's alone: no link, owned by our uid, and closed to others. */
static int check_private(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : -EPERM;
	struct stat facts;
	if (fstat(fd, &facts) < 0)
		return -errno;
	if (facts.st_uid != geteuid() || (facts.st_mode & 077) != 0)
		return -EPERM;
	return 0;
}

int path_user_runtime(int make, char path_out[PATH_BYTES])
{
	int r = make ? user_runtime_make(USER_RUNTIME_SHARED, path_out, PATH_BYTES)
		     : user_runtime_path(USER_RUNTIME_SHARED, path_out, PATH_BYTES);
	return r < 0 ? r : check_private(path_out);
}

static int own_folder(char path_out[PATH_BYTES])
{
	Dl_info info;
	if (!dladdr((const void *)&path_program, &info) || !info.dli_fname)
		return -ENOENT;
	char resolved[PATH_BYTES];
	if (!realpath(info.dli_fname, resolved))
		return -errno;
	char *slash = strrchr(resolved, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	return path_join(path_out, "%s", resolved);
}

int path_program(const char *name, char path_out[PATH_BYTES])
{
	static const char *const places[] = {"../bin",    "../sbin",    "../libexec/sycld",
					     "../../bin", "../../sbin", "../../libexec/sycld"};
	char own[PATH_BYTES], tried[PATH_BYTES];
	if (own_folder(own) == 0) {
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			if (path_join(tried, "%s/%s/%s", own, places[i], name) == 0 &&
			    access(tried, X_OK) == 0 && realpath(tried, path_out))
				return 0;
		}
	}
	static const char *const installed[] = {
		SYCLD_INSTALL_SBINDIR, SYCLD_INSTALL_LIBEXECDIR "/sycld", SYCLD_INSTALL_BINDIR};
	for (size_t i = 0; i < sizeof(installed) / sizeof(*installed); i++) {
		if (path_join(path_out, "%s/%s", installed[i], name) == 0 &&
		    access(path_out, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int path_library(const char *name, char path_out[PATH_BYTES])
{
	char own[PATH_BYTES];
	if (own_folder(own) == 0 && path_join(path_out, "%s/%s", own, name) == 0 &&
	    access(path_out, R_OK) == 0)
		return 0;
	if (path_join(path_out, "%s/%s", SYCLD_INSTALL_LIBDIR, name) == 0 &&
	    access(path_out, R_OK) == 0)
		return 0;
	return -ENOENT;
}

int path_user_cache(char path_out[PATH_BYTES])
{
	const char *base = secure_getenv("XDG_CACHE_HOME");
	if (base && base[0] == '/')
		return path_join(path_out, "%s/sycld", base);
	base = secure_getenv("HOME");
	if (base && base[0] == '/')
		return path_join(path_out, "%s/.cache/sycld", base);
	return -ENOENT;
}
