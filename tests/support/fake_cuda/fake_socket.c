#include "fake_socket.h"

#include "fake.h"
#include "fake_processes.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

fake_cuda_control_function fake_cuda_control;

static int listener = -1;

/* Answers "command LINE" with 0 or a negative errno, "count WHAT" with the number, "try WHAT" with
 * 0 or an errno. */
static long long answer_to(const char *line)
{
	const struct fake_cuda_control *control = fake_cuda_control();

	if (strncmp(line, "command ", 8) == 0)
		return control->command(line + 8);
	if (strncmp(line, "count ", 6) == 0)
		return (long long)control->count(line + 6);
	if (strncmp(line, "try ", 4) == 0)
		return fake_processes_try(line + 4);
	return -22;
}

static void *serve_socket(void *unused)
{
	char line[512], answer[32];

	(void)unused;
	for (;;) {
		struct sockaddr_un from;
		socklen_t from_bytes = sizeof(from);
		ssize_t got = recvfrom(listener, line, sizeof(line) - 1, 0,
				       (struct sockaddr *)&from, &from_bytes);
		if (got < 0)
			return NULL;
		line[got] = 0;
		int length = snprintf(answer, sizeof(answer), "%lld", answer_to(line));
		(void)sendto(listener, answer, (size_t)length, MSG_NOSIGNAL,
			     (struct sockaddr *)&from, from_bytes);
	}
}

void fake_socket_start(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	sigset_t all, before;
	pthread_t thread;

	int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d.socket", folder,
			      (int)getpid());
	if (length < 0 || (size_t)length >= sizeof(address.sun_path))
		return;
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	(void)unlink(address.sun_path);
	if (listener < 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		perror("fake_cuda: the control socket");
		return;
	}
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, serve_socket, NULL) == 0)
		(void)pthread_detach(thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
