#include "harness/mps.h"

#include <errno.h>
#include <ftw.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { START_SECONDS = 20, STOP_SECONDS = 20 };

/* It is in PATH, or where containers have the driver's programs. */
static const char *control_program(void)
{
	static char found[PATH_MAX];
	const char *path = getenv("PATH");
	char folders[PATH_MAX], *rest = folders;
	if (found[0])
		return found;
	(void)snprintf(folders, sizeof(folders), "%s:/usr/bin:/usr/local/nvidia/bin",
		       path ? path : "");
	for (char *folder; (folder = strsep(&rest, ":")) != NULL;) {
		(void)snprintf(found, sizeof(found), "%.3000s/nvidia-cuda-mps-control", folder);
		if (folder[0] == '/' && access(found, X_OK) == 0)
			return found;
	}
	found[0] = '\0';
	return NULL;
}

bool mps_installed(void)
{
	return control_program() != NULL;
}

struct settings {
	char pipes[128], logs[128];
	const char *list[4];
};

static void settings_make(const struct mps *mps, struct settings *settings_out)
{
	(void)snprintf(settings_out->pipes, sizeof(settings_out->pipes),
		       "CUDA_MPS_PIPE_DIRECTORY=%s", mps->pipes);
	(void)snprintf(settings_out->logs, sizeof(settings_out->logs),
		       "CUDA_MPS_LOG_DIRECTORY=%s/log", mps->directory);
	settings_out->list[0] = settings_out->pipes;
	settings_out->list[1] = settings_out->logs;
	settings_out->list[2] = NULL;
}

/* Gives the control program one line and waits for its end. 0: it executed the line. */
static int command(struct mps *mps, const char *line)
{
	struct settings settings;
	settings_make(mps, &settings);
	const char *argv[] = {control_program(), NULL};
	struct child child = CHILD_INIT;
	int r = child_start(argv, settings.list, &child);
	if (r == 0)
		r = child_say(&child, line);
	close_fd(&child.in);
	if (r == 0)
		r = child_wait(&child, SECONDS_NS(STOP_SECONDS)) == 0 ? 0 : -EIO;
	child_end(&child);
	return r;
}

static bool answers(void *mps)
{
	return command(mps, "get_server_list") == 0;
}

static int start_control(bool users, struct mps *mps)
{
	struct settings settings;
	char logs[80], said[80];
	const char *argv[] = {control_program(), "-f", users ? "-multiuser-server" : NULL, NULL};
	(void)snprintf(mps->pipes, sizeof(mps->pipes), "%s/pipe", mps->directory);
	(void)snprintf(logs, sizeof(logs), "%s/log", mps->directory);
	(void)snprintf(said, sizeof(said), "%s/said", mps->directory);
	if (mkdir(mps->pipes, 0755) < 0 || mkdir(logs, 0755) < 0 ||
	    (users && chmod(mps->directory, 0755) < 0))
		return -errno;
	settings_make(mps, &settings);
	int r = child_start_logged(argv, settings.list, said, &mps->control);
	return r == 0 && !wait_until(answers, mps, SECONDS_NS(START_SECONDS)) ? -ETIMEDOUT : r;
}

int mps_start(bool users, struct mps **mps_out)
{
	if (!mps_installed())
		return -ENOENT;
	CLEANUP(mps_cleanup) struct mps *mps = calloc(1, sizeof(*mps));
	if (!mps)
		return -ENOMEM;
	mps->control = (struct child)CHILD_INIT;
	(void)snprintf(mps->directory, sizeof(mps->directory), "/tmp/sycld-mps.XXXXXX");
	if (!mkdtemp(mps->directory)) {
		mps->directory[0] = '\0';
		return -errno;
	}
	int r = start_control(users, mps);
	if (r == 0)
		*mps_out = TAKE(mps);
	return r;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
	(void)facts;
	(void)kind;
	(void)where;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

struct mps *mps_free(struct mps *mps)
{
	if (!mps)
		return NULL;
	pid_t servers[8];
	int count = 0;
	if (mps->control.pid > 0 && process_exists(mps->control.pid)) {
		count = process_children(mps->control.pid, servers, 8);
		(void)command(mps, "quit -t 5");
		(void)child_wait(&mps->control, SECONDS_NS(STOP_SECONDS));
	}
	child_end(&mps->control);
	for (int i = 0; i < count && i < 8; i++)
		if (process_exists(servers[i]))
			(void)kill(servers[i], SIGKILL);
	if (mps->directory[0])
		(void)nftw(mps->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(mps);
	return NULL;
}
