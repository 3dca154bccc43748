#include "base/runtime_directory.h"

#include "cleanup.h"
#include "clock.h"
#include "user_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_BYTES_MAX = 1 << 20 };

#define LOCK_PATIENCE_NS 2000000000ull
#define LOCK_RETRY_MS    10
#define LOCK_NAME        "lock"
#define LOG_NAME         "sycld.log"

/* Returns the path, absolute and without slashes at its end. */
static int directory_choose_path(const char *given, bool user, char *path_out, size_t size)
{
	int length;
	char here[PATH_MAX];
	if (given && *given == '/')
		length = snprintf(path_out, size, "%s", given);
	else if (given && *given && getcwd(here, sizeof(here)))
		length = snprintf(path_out, size, "%s/%s", here, given);
	else if (given)
		return -EINVAL;
	else if (!user)
		length = snprintf(path_out, size, "%s", SYCLD_RUNSTATEDIR "/sycld");
	else
		return user_runtime_make(USER_RUNTIME_SHARED, path_out, size);
	if (length < 0 || (size_t)length >= size)
		return -ENAMETOOLONG;
	while (length > 1 && path_out[length - 1] == '/')
		path_out[--length] = '\0';
	return length > 1 ? 0 : -EINVAL;
}

/* Checks that the folder is safe to use. The sticky bit of a shared parent (/tmp) protects entries
 * of this user. */
static int directory_check_owner(int fd, uid_t owner, bool parent)
{
	struct stat facts;
	if (fstat(fd, &facts) < 0)
		return -errno;
	if (!S_ISDIR(facts.st_mode))
		return -ENOTDIR;
	bool shared = facts.st_mode & (S_IWGRP | S_IWOTH);
	if (parent) {
		bool foreign = facts.st_uid != 0 && facts.st_uid != geteuid();
		return foreign || (shared && !(facts.st_mode & S_ISVTX)) ? -EPERM : 0;
	}
	return facts.st_uid != owner || shared ? -EPERM : 0;
}

/*
 * Makes the folder with its owner's identity, because chown() to another user would need CAP_CHOWN.
 * Only this thread's identity for files changes, so nobody gets a right on this process. The parent
 * is writable for its group that long. The old identity is the real one, so it can be taken back.
 */
static int directory_make_as(int parent_fd, const char *name, uid_t owner, gid_t group)
{
	struct stat facts;
	CLEANUP(close_fd) int parent = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0 || fstat(parent, &facts) < 0)
		return -errno;
	mode_t mode = facts.st_mode & 07777;
	if (fchmod(parent, mode | S_IWGRP | S_IXGRP) < 0)
		return -errno;
	(void)setfsgid(facts.st_gid);
	(void)setfsuid(owner);
	int r = mkdirat(parent, name, 0700) < 0 ? -errno : 0;
	(void)setfsgid(group);
	if (r == 0 && fchownat(parent, name, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	return fchmod(parent, mode) < 0 && r == 0 ? -errno : r;
}

/* 0 and the descriptor, or a negative errno; a path ends in a name here, never in a slash. */
static int directory_open(const char *path, mode_t mode, uid_t owner, gid_t group, int *fd_out)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash || !slash[1] || (size_t)(slash - path) >= sizeof(parent) - 1)
		return -EINVAL;
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	memcpy(parent, path, length);
	parent[length] = '\0';

	CLEANUP(close_fd) int parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd < 0)
		return -errno;
	int r = directory_check_owner(parent_fd, owner, true);
	if (r < 0)
		return r;
	bool own = owner == geteuid();
	struct stat facts;
	/* One that exists costs no change of its parent. */
	if (!own && fstatat(parent_fd, slash + 1, &facts, AT_SYMLINK_NOFOLLOW) == 0)
		r = -EEXIST;
	else if (!own)
		r = directory_make_as(parent_fd, slash + 1, owner, group);
	else
		r = mkdirat(parent_fd, slash + 1, 0700) < 0 ? -errno : 0;
	bool made = r == 0;
	if (r < 0 && r != -EEXIST)
		return r;
	/* Root without CAP_DAC_OVERRIDE may not read another owner's folder, so it is opened with
	 * O_PATH. */
	int how = own ? O_RDONLY : O_PATH;
	CLEANUP(close_fd)
	int fd = openat(parent_fd, slash + 1, how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (made && own && fchmod(fd, mode) < 0)
		return -errno;
	r = directory_check_owner(fd, owner, false);
	if (r < 0)
		return r;
	*fd_out = take_fd(&fd);
	return 0;
}

static const char *directory_refusal_text(int error)
{
	switch (error) {
	case -EPERM:
		return "the folder, or one above it, belongs to another user or is writable for others";
	case -ENOTDIR:
	case -ELOOP:
		return "the path is a symbolic link or not a folder";
	default:
		return strerror(-error);
	}
}

int runtime_directory_open(const char *given, bool user, struct runtime_directory *directory_out,
			   char *message_out, size_t message_bytes)
{
	struct runtime_directory directory = RUNTIME_DIRECTORY_INIT;
	int r = directory_choose_path(given, user, directory.path, sizeof(directory.path));
	if (r == 0)
		r = directory_open(directory.path, user ? 0700 : 0755, geteuid(), getegid(),
				   &directory.fd);
	if (r < 0) {
		(void)snprintf(message_out, message_bytes, "the runtime folder %s is refused: %s%s",
			       directory.path[0] ? directory.path : "", directory_refusal_text(r),
			       user && !given ? "; XDG_RUNTIME_DIR or HOME can name another place"
					      : "");
		return r;
	}
	*directory_out = directory;
	return 0;
}

static bool files_are_same(int a, int b)
{
	struct stat first;
	struct stat second;
	return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* If a service is killed while it starts an engine, that process holds the lock until its exec. So
 * -EBUSY is final only after that time. */
static int lock_with_retries(int fd)
{
	uint64_t deadline = clock_deadline_ns(LOCK_PATIENCE_NS);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (clock_now_ns() >= deadline)
			return -EBUSY;
		(void)poll(NULL, 0, LOCK_RETRY_MS);
	}
	return 0;
}

int runtime_directory_lock(struct runtime_directory *directory, int inherited)
{
	CLEANUP(close_fd)
	int fd = openat(directory->fd, LOCK_NAME,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd < 0)
		return -errno;
	/* A lock belongs to the open file description, so only the inherited descriptor itself has
	 * the starter's lock. */
	if (inherited >= 0 && files_are_same(fd, inherited)) {
		close_fd(&fd);
		fd = inherited;
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return -errno;
	}
	int r = lock_with_retries(fd);
	if (r < 0)
		return r;
	directory->lock_fd = take_fd(&fd);
	return 0;
}

int runtime_directory_open_log(const struct runtime_directory *directory)
{
	CLEANUP(close_fd)
	int fd = openat(directory->fd, LOG_NAME,
			O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	struct stat facts;
	if (fd < 0 || fstat(fd, &facts) < 0)
		return -errno;
	if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1)
		return -EPERM;
	if (facts.st_size > LOG_BYTES_MAX && ftruncate(fd, 0) < 0)
		return -errno;
	return take_fd(&fd);
}

int directory_open_private(const char *path, unsigned owner, unsigned group)
{
	int fd = -1;
	int r = directory_open(path, 0700, owner, group, &fd);
	return r < 0 ? r : fd;
}

void runtime_directory_close(struct runtime_directory *directory)
{
	close_fd(&directory->lock_fd);
	close_fd(&directory->fd);
}
