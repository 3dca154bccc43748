#include "engine/orphans.h"

#include "engine/standby.h"
#include "engine/groups.h"
#include "engine/engine.h"
#include "base/log.h"
#include "service/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN_MAX = 4096, AGAIN_MS = 20, ROUNDS_AT_END = 200, ROUND_US = 5000 };

static void children_file_close(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/* Lists the children of this process, at most `most`. Returns their number; 0 also if the kernel
 * has no such list. */
static unsigned children_list(pid_t *pids_out, unsigned most)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	CLEANUP(children_file_close) FILE *file = fopen(path, "re");
	unsigned count = 0;
	long pid;
	while (file && count < most &&
	       fscanf(file, "%ld", &pid) == 1) // NOLINT(cert-err34-c): the kernel's own numbers
		pids_out[count++] = (pid_t)pid;
	return count;
}

static bool pid_is_engine(const void *context, pid_t pid)
{
	const struct supervisor *supervisor = context;
	pid_t standby = -1;
	uint64_t since_ns;
	if (standby_describe(supervisor, &standby, &since_ns) != STANDBY_NONE && standby == pid)
		return true;
	const struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		const struct engine *engine;
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->pid == pid)
				return true;
	}
	return false;
}

static bool child_is_expected(const struct supervisor *supervisor, pid_t pid)
{
	for (unsigned i = 0; i < supervisor->orphans->inherited_count; i++)
		if (supervisor->orphans->inherited[i] == pid)
			return true;
	return pid_is_engine(supervisor, pid);
}

/* For the first that a round cannot kill. Rounds follow each other soon, so it is named once, and
 * the others behind it only when it has ended. */
static void orphan_log_refusal(const struct supervisor *supervisor, pid_t pid, int error)
{
	if (supervisor->orphans->refused == pid)
		return;
	supervisor->orphans->refused = pid;
	log_error("engine", "pid %ld, which a dead engine had started, cannot be killed: %s",
		  (long)pid, strerror(error));
}

/* Ends each child that is no engine. Returns the number of remaining ones. A child that was not
 * waited for keeps its number, so no other process can be hit. */
static unsigned orphans_end_round(const struct supervisor *supervisor)
{
	static pid_t pids[CHILDREN_MAX];
	engine_groups_tidy(supervisor->groups, pid_is_engine, supervisor);
	if (!supervisor->orphans->are_ours)
		return 0;
	unsigned count = children_list(pids, CHILDREN_MAX), left = 0, refusals = 0;
	for (unsigned i = 0; i < count; i++) {
		if (child_is_expected(supervisor, pids[i]))
			continue;
		left++;
		if (kill(pids[i], SIGKILL) < 0 && refusals++ == 0)
			orphan_log_refusal(supervisor, pids[i], errno);
	}
	/* All are killed before the first is waited for. Otherwise remaining ones could start
	 * others meanwhile. */
	for (unsigned i = 0; i < count; i++)
		if (!child_is_expected(supervisor, pids[i]) &&
		    waitpid(pids[i], NULL, WNOHANG) == pids[i])
			log_debug("engine", "ended pid %ld, which a dead engine had started",
				  (long)pids[i]);
	return left;
}

static void on_orphans_again(uv_timer_t *timer)
{
	orphans_end(timer->data);
}

/*
 * A tenant's code may leave ended children faster than this process waits for them, until the
 * machine has no process number left. This call skips children that another part of the service
 * waits for. Children behind one in the kernel's list are reaped afterwards (orphans_end).
 */
static void on_child_ended(uv_signal_t *signal, int number)
{
	const struct supervisor *supervisor = signal->data;
	(void)number;
	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		siginfo_t ended = {.si_pid = 0};
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    ended.si_pid == 0 || child_is_expected(supervisor, ended.si_pid) ||
		    waitpid(ended.si_pid, NULL, WNOHANG) != ended.si_pid)
			return;
	}
}

void orphans_init(struct supervisor *supervisor)
{
	struct orphans *orphans = supervisor->orphans;
	(void)uv_timer_init(&supervisor->loop, &orphans->again);
	orphans->again.data = supervisor;
	orphans->inherited_count = children_list(orphans->inherited, ORPHANS_INHERITED_MAX);
	orphans->are_ours = getpid() != 1 && orphans->inherited_count < ORPHANS_INHERITED_MAX &&
			    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
	(void)uv_signal_init(&supervisor->loop, &orphans->child_ended);
	orphans->child_ended.data = supervisor;
	if (orphans->are_ours)
		(void)uv_signal_start(&orphans->child_ended, on_child_ended, SIGCHLD);
	uv_unref((uv_handle_t *)&orphans->child_ended);
}

void orphans_end(struct supervisor *supervisor)
{
	if (orphans_end_round(supervisor) > 0)
		(void)uv_timer_start(&supervisor->orphans->again, on_orphans_again, AGAIN_MS, 0);
}

void orphans_end_now(struct supervisor *supervisor)
{
	for (int round = 0; round < ROUNDS_AT_END && orphans_end_round(supervisor) > 0; round++)
		(void)usleep(ROUND_US);
}
