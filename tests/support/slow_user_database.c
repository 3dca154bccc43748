/*
 * Loaded before the C library: a user database that does not answer about one uid until it is let.
 * SYCLD_TEST_SLOW_UID is that uid, SYCLD_TEST_SLOW_GATE a FIFO: the answer comes when somebody has
 * opened it for writing. Everybody else is answered as ever.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer,
						      size_t bytes, struct passwd **found_out);

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t bytes,
	       struct passwd **found_out)
{
	int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) = NULL;
	const char *slow = getenv("SYCLD_TEST_SLOW_UID"), *gate = getenv("SYCLD_TEST_SLOW_GATE");
	*(void **)&real = dlsym(RTLD_NEXT, "getpwuid_r");
	if (slow && gate && strtoul(slow, NULL, 10) == uid) {
		int fd = open(gate, O_RDONLY | O_CLOEXEC); /* returns when there is a writer */
		if (fd >= 0)
			(void)close(fd);
	}
	return real(uid, entry, buffer, bytes, found_out);
}
