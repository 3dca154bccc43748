/*
 * Loaded before the C library: a user database that does not answer about some uids until a test
 * permits it. SYCLD_TEST_SLOW_UID is the first and SYCLD_TEST_SLOW_UIDS their number (1 if
 * missing). SYCLD_TEST_SLOW_GATE is a FIFO: the answer comes when a process has opened it for
 * writing. All other uids are answered as usual. With SYCLD_TEST_LONG_GROUPS each group has more
 * members than fit into LONG_GROUP_BYTES.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer,
						      size_t bytes, struct passwd **found_out);

__attribute__((visibility("default"))) int getgrnam_r(const char *name, struct group *entry,
						      char *buffer, size_t bytes,
						      struct group **found_out);

enum { LONG_GROUP_BYTES = 1 << 17 };

static bool is_slow(uid_t uid)
{
	const char *first = getenv("SYCLD_TEST_SLOW_UID"), *count = getenv("SYCLD_TEST_SLOW_UIDS");
	return first && uid >= strtoul(first, NULL, 10) &&
	       uid - strtoul(first, NULL, 10) < (count ? strtoul(count, NULL, 10) : 1);
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t bytes,
	       struct passwd **found_out)
{
	int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) = NULL;
	const char *gate = getenv("SYCLD_TEST_SLOW_GATE");
	*(void **)&real = dlsym(RTLD_NEXT, "getpwuid_r");
	if (gate && is_slow(uid)) {
		int fd = open(gate, O_RDONLY | O_CLOEXEC); /* returns when there is a writer */
		if (fd >= 0)
			(void)close(fd);
	}
	return real(uid, entry, buffer, bytes, found_out);
}

int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t bytes,
	       struct group **found_out)
{
	int (*real)(const char *, struct group *, char *, size_t, struct group **) = NULL;
	*found_out = NULL;
	if (getenv("SYCLD_TEST_LONG_GROUPS") && bytes < LONG_GROUP_BYTES)
		return ERANGE;
	*(void **)&real = dlsym(RTLD_NEXT, "getgrnam_r");
	return real(name, entry, buffer, bytes, found_out);
}
