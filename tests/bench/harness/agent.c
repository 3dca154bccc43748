#include "harness/agent.h"

#include "cleanup.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Longer than any measurement: an agent that takes longer hangs. */
enum { ANSWER_MS = 300000, OWN_FD = 300 };

static bool read_all(int fd, void *bytes, size_t count)
{
	uint8_t *at = bytes;
	while (count > 0) {
		ssize_t got = read(fd, at, count);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		count -= (size_t)got;
	}
	return true;
}

/* Runs the agent to its end and returns its exit status. */
static int agent_serve(const struct agent_subject *subject, const char *argument, int from, int to)
{
	void *state = NULL;
	uint64_t count;
	int r = subject->open(argument, &state);
	while (r == 0 && read_all(from, &count, sizeof(count))) {
		double values[AGENT_VALUES] = {0};
		r = subject->measure(state, count, values);
		if (r == 0 && write(to, values, sizeof(values)) != (ssize_t)sizeof(values))
			r = -EPIPE;
	}
	if (state)
		subject->close(state);
	return r == 0 ? 0 : 1;
}

static void become_agent(const struct agent_subject *subject, const char *argument, int from,
			 int to, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* The parent prints the results. */
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	/* If this process kept another agent's pipe open, that agent would not end. */
	int mine = fcntl(from, F_DUPFD_CLOEXEC, OWN_FD),
	    answers = fcntl(to, F_DUPFD_CLOEXEC, OWN_FD + 1);
	if (mine != OWN_FD || answers != OWN_FD + 1)
		_exit(1);
	(void)close_range(STDERR_FILENO + 1, OWN_FD - 1, 0);
	(void)close_range(OWN_FD + 2, ~0u, 0);
	_exit(agent_serve(subject, argument, mine, answers));
}

int agent_start(const struct agent_subject *subject, const char *argument, struct agent *agent_out)
{
	int there[2], back[2];
	/* A socket is used, because writing into a pipe without a reader would end syclbench. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, there) < 0)
		return -errno;
	if (pipe2(back, O_CLOEXEC) < 0) {
		int error = errno;
		(void)close(there[0]);
		(void)close(there[1]);
		return -error;
	}
	pid_t parent = getpid();
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(there[1]);
		(void)close(back[0]);
		become_agent(subject, argument, there[0], back[1], parent);
	}
	int error = errno;
	(void)close(there[0]);
	(void)close(back[1]);
	if (pid < 0) {
		(void)close(there[1]);
		(void)close(back[0]);
		return -error;
	}
	*agent_out = (struct agent){.pid = pid, .to = there[1], .from = back[0]};
	return 0;
}

int agent_request(struct agent *agent, uint64_t count)
{
	return send(agent->to, &count, sizeof(count), MSG_NOSIGNAL) == (ssize_t)sizeof(count)
		       ? 0
		       : -EPIPE;
}

int agent_answer(struct agent *agent, double values_out[AGENT_VALUES])
{
	double values[AGENT_VALUES];
	struct pollfd answer = {.fd = agent->from, .events = POLLIN};
	if (poll(&answer, 1, ANSWER_MS) == 0)
		return -ETIMEDOUT;
	if (!read_all(agent->from, values, sizeof(values)))
		return -EPIPE;
	for (int i = 0; i < AGENT_VALUES; i++)
		values_out[i] = values[i];
	return 0;
}

int agent_measure(struct agent *agent, uint64_t count, double values_out[AGENT_VALUES])
{
	int r = agent_request(agent, count);
	return r < 0 ? r : agent_answer(agent, values_out);
}

void agent_end(struct agent *agent)
{
	close_fd(&agent->to);
	close_fd(&agent->from);
	if (agent->pid > 0)
		(void)waitpid(agent->pid, NULL, 0);
	agent->pid = 0;
}
