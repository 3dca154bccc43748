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
#include <time.h>
#include <unistd.h>

#define SUFFIX "-XXXXXX" /* as mkdtemp() requires */

enum { DESCRIPTORS_MAX = 16, ATTEMPTS_MAX = 16, MACHINE_BYTES = 9, OLD_SECONDS = 30 * 24 * 3600 };

/*
 * A name of this machine since its start. On a file system that several machines share, each
 * machine may see only its own locks, and locks of another machine look free. Machines whose start
 * has no id have one name.
 */
static void private_folder_name_machine(char machine_out[MACHINE_BYTES])
{
	char text[MACHINE_BYTES] = "";

	CLEANUP(close_fd) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, MACHINE_BYTES - 1) != MACHINE_BYTES - 1 ||
	    strspn(text, "0123456789abcdef") != MACHINE_BYTES - 1)
		memcpy(text, "00000000", MACHINE_BYTES);
	memcpy(machine_out, text, MACHINE_BYTES);
}

static int remove_tree_entry(const char *path, const struct stat *status, int kind,
			     struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	(void)remove(path);
	return 0; /* the other files may be removed all the same */
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_tree_entry, DESCRIPTORS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int private_folder_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* True if `path` leads to the file that `fd` has open. */
static bool is_same_file(const char *path, int fd)
{
	struct stat named, held;

	return lstat(path, &named) == 0 && fstat(fd, &held) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

/* True if the folder is as private_folder_try_to_make() makes one, except for the set-group-ID of
 * its parent. */
static bool private_folder_may_be_left(const struct stat *status, bool of_this_machine)
{
	return status->st_uid == geteuid() && (status->st_mode & 05777) == 0700 &&
	       (of_this_machine || status->st_mtime < time(NULL) - OLD_SECONDS);
}

/* The process that made the folder may be about to lock it, and then checks whether it still
 * exists. This process has only the folder's name, and checks as well. */
static void private_folder_remove_if_left(const char *path, bool of_this_machine)
{
	struct stat status;

	CLEANUP(close_fd) int fd = private_folder_open(path);
	if (fd >= 0 && fstat(fd, &status) == 0 &&
	    private_folder_may_be_left(&status, of_this_machine) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same_file(path, fd))
		remove_tree(path);
}

static void close_listing(DIR **listing)
{
	if (*listing)
		(void)closedir(*listing);
}

/* PREFIX-MACHINE-XXXXXX, of any machine. */
static bool entry_is_named_after_prefix(const char *name, const char *prefix)
{
	const size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 && name[length] == '-' &&
	       strlen(name) == length + MACHINE_BYTES + sizeof(SUFFIX) - 1 &&
	       name[length + MACHINE_BYTES] == '-' &&
	       strspn(name + length + 1, "0123456789abcdef") == MACHINE_BYTES - 1;
}

static void private_folders_remove_left(const char *parent, const char *prefix, const char *machine)
{
	CLEANUP(close_listing) DIR *listing = opendir(parent);
	for (struct dirent *entry; listing && (entry = readdir(listing));) {
		CLEANUP(free_pointer) char *path = NULL;
		if (!entry_is_named_after_prefix(entry->d_name, prefix))
			continue;
		if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
			path = NULL;
		if (path)
			private_folder_remove_if_left(path,
						      strncmp(entry->d_name + strlen(prefix) + 1,
							      machine, MACHINE_BYTES - 1) == 0);
	}
}

/* -EAGAIN: another process removed the folder as a left one, or locked it first. */
static int private_folder_try_to_make(const char *parent, const char *prefix, const char *machine,
				      struct private_folder *folder_out)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (asprintf(&path, "%s/%s-%s" SUFFIX, parent, prefix, machine) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(path))
		return -errno;
	CLEANUP(close_fd) int fd = private_folder_open(path);
	/* Another process may keep the lock for any time. EWOULDBLOCK is EAGAIN. */
	int error = fd < 0 ? fd : flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	if (error < 0) {
		(void)rmdir(path);
		return error == -ENOENT ? -EAGAIN : error;
	}
	if (!is_same_file(path, fd))
		return -EAGAIN;
	*folder_out = (struct private_folder){.path = TAKE(path), .lock = take_fd(&fd)};
	return 0;
}

int private_folder_make(const char *parent, const char *prefix, struct private_folder *folder_out)
{
	char machine[MACHINE_BYTES];
	int error = -EAGAIN;

	if (!parent) {
		const char *given = secure_getenv("TMPDIR");
		parent = given && given[0] == '/' ? given : "/tmp";
	}
	private_folder_name_machine(machine);
	private_folders_remove_left(parent, prefix, machine);
	for (int i = 0; i < ATTEMPTS_MAX && error == -EAGAIN; i++)
		error = private_folder_try_to_make(parent, prefix, machine, folder_out);
	return error;
}

void private_folder_remove(struct private_folder *folder)
{
	if (folder->path)
		remove_tree(folder->path);
	free_pointer(&folder->path);
	close_fd(&folder->lock);
}
