/* Checks that a process whose libraries already had threads and open files has taken a user's ids
 * completely. */
#include "process/privileges.h"

#include "cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { STATUS_BYTES = 8192, MEMORY_MAJOR = 1 };

static void folder_close(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

/* True if all numbers of the line "NAME:" are the expected one. False also without such a line. */
static bool status_line_is(const char *status, const char *name, int base, uint64_t expected)
{
	const char *at = strstr(status, name);
	if (!at)
		return false;
	at += strlen(name);
	unsigned count = 0;
	for (;; count++) {
		char *end;
		at += strspn(at, " \t");
		if (*at == '\n' || *at == '\0')
			break;
		if (strtoull(at, &end, base) != expected || end == at)
			return false;
		at = end;
	}
	return count > 0;
}

static int check_status(const char *status, uid_t uid, gid_t gid)
{
	bool good = status_line_is(status, "\nUid:", 10, uid) &&
		    status_line_is(status, "\nGid:", 10, gid) &&
		    status_line_is(status, "\nNoNewPrivs:", 10, 1);
	/* Root keeps capabilities in the other threads. */
	if (uid != 0)
		good = good && status_line_is(status, "\nCapInh:", 16, 0) &&
		       status_line_is(status, "\nCapPrm:", 16, 0) &&
		       status_line_is(status, "\nCapEff:", 16, 0);
	return good ? 0 : -EPERM;
}

static int check_thread(const char *number, uid_t uid, gid_t gid)
{
	char path[64], status[STATUS_BYTES];
	(void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", number);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno; /* the thread has ended meanwhile */
	ssize_t count = read(fd, status, sizeof(status) - 1);
	if (count <= 0)
		return count < 0 && errno == ESRCH ? 0 : -EPERM;
	status[count] = '\0';
	return check_status(status, uid, gid);
}

static int check_threads(uid_t uid, gid_t gid, char what_out[PATH_MAX])
{
	CLEANUP(folder_close) DIR *folder = opendir("/proc/self/task");
	if (!folder)
		return -errno;
	const struct dirent *entry;
	int r = 0;
	while (r == 0 && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		r = check_thread(entry->d_name, uid, gid);
		if (r < 0)
			(void)snprintf(what_out, PATH_MAX, "thread %.20s", entry->d_name);
	}
	return r;
}

/* Finds a device that root has opened and that the user must not open. The mode of the device's
 * file decides. */
static int check_file(int fd, const char *link, char path_out[PATH_MAX])
{
	struct stat facts;
	if (fstat(fd, &facts) < 0 || !(S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)) ||
	    major(facts.st_rdev) == MEMORY_MAJOR || isatty(fd))
		return 0; /* null and zero; the log, which is let go of; closed meanwhile */
	int flags = fcntl(fd, F_GETFL);
	ssize_t length = readlink(link, path_out, PATH_MAX - 1);
	path_out[length > 0 ? length : 0] = '\0';
	if (flags < 0 || length <= 0)
		return -EPERM;
	int mode = (flags & O_ACCMODE) == O_RDONLY   ? R_OK
		   : (flags & O_ACCMODE) == O_WRONLY ? W_OK
						     : R_OK | W_OK;
	return access(path_out, mode) < 0 ? -EACCES : 0;
}

static int check_files(char what_out[PATH_MAX])
{
	CLEANUP(folder_close) DIR *folder = opendir("/proc/self/fd");
	if (!folder)
		return -errno;
	const struct dirent *entry;
	int r = 0;
	while (r == 0 && (entry = readdir(folder)) != NULL) {
		char link[64];
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%.20s", entry->d_name);
		r = check_file((int)strtol(entry->d_name, NULL, 10), link, what_out);
	}
	return r;
}

int engine_privileges_check(uid_t uid, gid_t gid, char what_out[PATH_MAX])
{
	int r = check_threads(uid, gid, what_out);
	return r < 0 ? r : check_files(what_out);
}
