#include "private_folder.h"

#include "cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define SUFFIX "-XXXXXX" /* as mkdtemp() wants it */

enum { DESCRIPTORS_MAX = 16, ATTEMPTS_MAX = 16 };

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	(void)remove(path);
	return 0; /* the others may go all the same */
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, DESCRIPTORS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Whoever made it may be about to lock it: it looks then whether it is still there. */
static void remove_if_left(const char *path)
{
	struct stat status;

	CLEANUP(close_fd) int fd = open_folder(path);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 07777) == 0700 &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_tree(path);
}

static void close_listing(DIR **listing)
{
	if (*listing)
		(void)closedir(*listing);
}

static bool is_named_so(const char *name, const char *prefix)
{
	const size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && name[length] == '-' &&
	       strlen(name) == length + sizeof(SUFFIX) - 1;
}

static void remove_those_left(const char *parent, const char *prefix)
{
	CLEANUP(close_listing) DIR *listing = opendir(parent);
	for (struct dirent *entry; listing && (entry = readdir(listing));) {
		CLEANUP(free_pointer) char *path = NULL;
		if (!is_named_so(entry->d_name, prefix))
			continue;
		if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
			path = NULL;
		if (path)
			remove_if_left(path);
	}
}

/* Is what `path` leads to what `fd` has open? */
static bool is_there(const char *path, int fd)
{
	struct stat named, held;

	return lstat(path, &named) == 0 && fstat(fd, &held) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

/* -EAGAIN: another process took it for one that was left, before it was locked. */
static int attempt(const char *parent, const char *prefix, struct private_folder *folder_out)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (asprintf(&path, "%s/%s" SUFFIX, parent, prefix) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(path))
		return -errno;
	CLEANUP(close_fd) int fd = open_folder(path);
	int error = fd < 0 ? fd : flock(fd, LOCK_EX) < 0 ? -errno : 0;
	if (error < 0) {
		(void)rmdir(path);
		return error == -ENOENT ? -EAGAIN : error;
	}
	if (!is_there(path, fd))
		return -EAGAIN;
	*folder_out = (struct private_folder){.path = TAKE(path), .lock = take_fd(&fd)};
	return 0;
}

int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out)
{
	int error = -EAGAIN;

	if (!parent) {
		const char *given = secure_getenv("TMPDIR");
		parent = given && given[0] == '/' ? given : "/tmp";
	}
	remove_those_left(parent, prefix);
	for (int i = 0; i < ATTEMPTS_MAX && error == -EAGAIN; i++)
		error = attempt(parent, prefix, folder_out);
	return error;
}

void private_folder_remove(struct private_folder *folder)
{
	if (folder->path)
		remove_tree(folder->path);
	free_pointer(&folder->path);
	close_fd(&folder->lock);
}
