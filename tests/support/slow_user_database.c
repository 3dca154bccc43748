/*
 * Loaded before the C library: a user database that does not answer about some uids until a test
 * permits it. SYCLD_TEST_SLOW_UID is the first and SYCLD_TEST_SLOW_UIDS their number (1 if
 * missing). SYCLD_TEST_SLOW_GATE is a FIFO: the answer comes when a process has opened it for
 * writing. All other uids are answered as usual.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer,
						      size_t bytes, struct passwd **found_out);

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
