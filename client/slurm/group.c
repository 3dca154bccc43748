#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, FULL_BYTES = 3 * GROUP_BYTES, TRY_MS = 20 };

bool group_is_own(const struct settings *settings)
{
	return strcmp(settings->cgroup, "slurm") != 0;
}

/* Finds where control groups of version 2 are mounted. */
static bool find_mount(char out[GROUP_BYTES])
{
	char line[LINE_BYTES], path[GROUP_BYTES], type[32];
	bool found = false;
	FILE *file = fopen("/proc/self/mounts", "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %511s %31s", path, type) == 2 && !strcmp(type, "cgroup2");
	if (file)
		(void)fclose(file);
	if (found)
		memcpy(out, path, strlen(path) + 1);
	return found;
}

static bool full_path(const char *path, const char *file, char out[FULL_BYTES])
{
	char mount[GROUP_BYTES];
	if (!find_mount(mount))
		return false;
	(void)snprintf(out, FULL_BYTES, "%s%s%s", mount, path, file);
	return true;
}

static int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	(void)close(fd);
	return r;
}

static void own_path(const struct settings *settings, uint32_t job, char out[GROUP_BYTES])
{
	(void)snprintf(out, GROUP_BYTES, "%s/job_%lu", settings->cgroup, (unsigned long)job);
}

bool group_make(const struct settings *settings, uint32_t job, char path_out[GROUP_BYTES],
		char cause_out[CAUSE_BYTES])
{
	char full[FULL_BYTES];
	if (!full_path(settings->cgroup, "", full)) {
		(void)snprintf(cause_out, CAUSE_BYTES,
			       "no control groups of version 2 are mounted on this node");
		return false;
	}
	(void)mkdir(full, 0755);
	own_path(settings, job, path_out);
	(void)full_path(path_out, "", full);
	if (mkdir(full, 0755) == 0 || errno == EEXIST)
		return true;
	(void)snprintf(cause_out, CAUSE_BYTES, "the control group %.300s cannot be made: %s", full,
		       strerror(errno));
	return false;
}

int group_enter(const char *path)
{
	char full[FULL_BYTES];
	return full_path(path, "/cgroup.procs", full) ? write_file(full, "0") : -ENOENT;
}

bool group_find_slurms(uint32_t job, char path_out[GROUP_BYTES])
{
	char line[LINE_BYTES], part[32];
	char *end = NULL;
	int length = snprintf(part, sizeof(part), "/job_%lu/", (unsigned long)job);
	FILE *file = fopen("/proc/self/cgroup", "re");
	while (file && !end && fgets(line, sizeof(line), file))
		if (strncmp(line, "0::/", 4) == 0)
			end = strstr(line, part);
	if (file)
		(void)fclose(file);
	if (!end || end + length - 1 - (line + 3) >= GROUP_BYTES)
		return false;
	end[length - 1] = '\0';
	memcpy(path_out, line + 3, strlen(line + 3) + 1);
	return true;
}

void group_remove(const struct settings *settings, uint32_t job)
{
	char path[GROUP_BYTES], full[FULL_BYTES], kill_path[FULL_BYTES];
	own_path(settings, job, path);
	if (!full_path(path, "", full) || !full_path(path, "/cgroup.kill", kill_path))
		return;
	(void)write_file(kill_path, "1");
	/* The kernel removes the last process a moment after its end. */
	for (unsigned ms = 0; rmdir(full) < 0 && errno == EBUSY && ms < settings->deadline_ms;
	     ms += TRY_MS) {
		const struct timespec pause = {.tv_nsec = TRY_MS * 1000000l};
		(void)nanosleep(&pause, NULL);
	}
}

/* Returns the letter of the process's state; 0: it has ended. */
static int process_state(pid_t pid, long *parent_out)
{
	char path[64], text[LINE_BYTES];
	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	FILE *file = fopen(path, "re");
	size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		(void)fclose(file);
	text[count] = '\0';
	const char *state = strrchr(text, ')');
	if (!state || strlen(state) < 5 || state[2] == 'Z' || state[2] == 'X')
		return 0;
	*parent_out = strtol(state + 4, NULL, 10);
	return (unsigned char)state[2];
}

/* Slurm's plug-in cgroup/v2 freezes instead of stopping. */
static bool process_is_frozen(pid_t pid)
{
	char path[64], line[LINE_BYTES], full[FULL_BYTES];
	bool frozen = false;
	(void)snprintf(path, sizeof(path), "/proc/%ld/cgroup", (long)pid);
	FILE *file = fopen(path, "re");
	full[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "0::/", 4) == 0) {
			line[strcspn(line, "\n")] = '\0';
			(void)full_path(line + 3, "/cgroup.events", full);
		}
	if (file)
		(void)fclose(file);
	file = full[0] ? fopen(full, "re") : NULL;
	while (file && fgets(line, sizeof(line), file))
		frozen |= strncmp(line, "frozen 1", 8) == 0;
	if (file)
		(void)fclose(file);
	return frozen;
}

static bool process_is_suspended(pid_t pid, int state)
{
	return state == 'T' || state == 't' || process_is_frozen(pid);
}

enum tasks_state group_tasks_state(const pid_t *pids, unsigned count)
{
	enum tasks_state found = TASKS_ENDED;
	for (unsigned i = 0; i < count; i++) {
		long parent = 0;
		int state = process_state(pids[i], &parent);
		/* The number may be another process's by now, which is no child of this one. */
		if (state == 0 || parent != (long)getpid())
			continue;
		if (!process_is_suspended(pids[i], state))
			return TASKS_RUN;
		found = TASKS_SUSPENDED;
	}
	return found;
}

static bool folder_has_suspended(const char *folder)
{
	char path[FULL_BYTES + sizeof("/cgroup.procs")], line[64];
	bool found = false;
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		long parent;
		pid_t pid = (pid_t)strtol(line, NULL, 10);
		int state = process_state(pid, &parent);
		found = state != 0 && process_is_suspended(pid, state);
	}
	if (file)
		(void)fclose(file);
	return found;
}

bool group_has_suspended(const struct settings *settings, uint32_t job)
{
	char path[GROUP_BYTES], full[FULL_BYTES];
	bool found = false;
	if (group_is_own(settings))
		own_path(settings, job, path);
	else if (!group_find_slurms(job, path))
		return false;
	if (!full_path(path, "", full))
		return false;
	char *const folders[] = {full, NULL};
	FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	while (walk && !found && (entry = fts_read(walk)))
		found = entry->fts_info == FTS_D && folder_has_suspended(entry->fts_path);
	if (walk)
		(void)fts_close(walk);
	return found;
}
