#include "engine/kill.h"

#include "base/log.h"
#include "engine/engine.h"
#include "engine/groups.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

/* 0 or a negative errno. An engine of an earlier service may have ended and been reaped. */
static int process_send_kill(int pidfd)
{
	return pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH ? -errno : 0;
}

bool process_kill(pid_t pid, int pidfd)
{
	int r = process_send_kill(pidfd);
	if (r < 0)
		log_error("engine", "pid %ld cannot be killed: %s", (long)pid, strerror(-r));
	return r == 0;
}

bool engine_kill_process(const struct engine *engine)
{
	long pid = (long)engine->pid;
	int r = process_send_kill(engine->pidfd);
	bool has_group = engine_groups_kill(engine->tenant->supervisor->groups, engine->tenant->uid,
					    engine->pid) == 0;
	if (r < 0 && has_group)
		log_warning("engine", "pid %ld gets no signal: %s; its control group is ended", pid,
			    strerror(-r));
	else if (r < 0)
		log_error("engine", "pid %ld cannot be killed: %s", pid, strerror(-r));
	return r == 0 || has_group;
}
