#include "fake_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "fake-cuda."
#define PATH   320

static const char *const folders[] = {"/dev/shm", "/tmp"};
#define FOLDERS (sizeof(folders) / sizeof(*folders))

static _Atomic unsigned next_number;

int fake_file_make(const char *what, size_t bytes, char *name_out, size_t name_bytes)
{
	char path[PATH];
	int error = -ENOSPC;

	(void)snprintf(name_out, name_bytes, PREFIX "%d.%s.%u", (int)getpid(), what, ++next_number);
	for (size_t i = 0; i < FOLDERS; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folders[i], name_out);
		int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (file < 0) {
			error = -errno;
			continue;
		}
		/* A page that cannot be allocated later would cause a signal. */
		error = -posix_fallocate(file, 0, (off_t)bytes);
		if (error == 0)
			return file;
		(void)close(file);
		(void)unlink(path);
	}
	name_out[0] = 0;
	return error;
}

int fake_file_open(const char *what, const char name[64])
{
	char path[PATH], copy[64], kind[32];
	int process, file = -1;

	memcpy(copy, name, sizeof(copy));
	copy[63] = 0;
	/* A handle may contain any bytes. */
	if (strchr(copy, '/') || sscanf(copy, PREFIX "%d.%31[a-z].", &process, kind) != 2 ||
	    strcmp(kind, what) != 0)
		return -EINVAL;
	for (size_t i = 0; i < FOLDERS && file < 0; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folders[i], copy);
		file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	}
	return file < 0 ? -ENOENT : file;
}

void fake_file_remove(const char *name)
{
	char path[PATH];

	for (size_t i = 0; i < FOLDERS; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		(void)unlink(path);
	}
}

static void files_sweep(const char *name)
{
	DIR *folder = opendir(name);
	const struct dirent *entry;
	int process;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (sscanf(entry->d_name, PREFIX "%d.", &process) == 1 && kill(process, 0) < 0 &&
		    errno == ESRCH)
			fake_file_remove(entry->d_name);
	(void)closedir(folder);
}

void fake_files_sweep(void)
{
	for (size_t i = 0; i < FOLDERS; i++)
		files_sweep(folders[i]);
}
