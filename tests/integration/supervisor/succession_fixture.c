#include "supervisor/succession_fixture.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct service service;

void clean_succession(void)
{
	service_free(&service);
}

struct client open_known_client(void)
{
	struct client client = {.socket = -1};
	CLEANUP(free_pointer) char *facts = client_open(&service, &client.socket);
	cr_assert(ne(ptr, facts, NULL));
	client.engine = fact(facts, "pid=");
	return client;
}

void must_answer(const struct client *client)
{
	cr_assert(eq(long, send(client->socket, "ping", 4, MSG_NOSIGNAL), 4));
	Sycl__V1__Packet *packet = client_receive(client->socket);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
}

void end_service(int signal)
{
	(void)kill(service.pid, signal);
	int status = service_wait(&service);
	cr_assert(eq(int, WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		     signal == SIGKILL ? signal : 0));
}

bool has_one_session(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 1;
}

bool has_two_sessions(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 2;
}

void file_path(const char *name, char path[PATH_MOST])
{
	(void)snprintf(path, PATH_MOST, "%s/%s", service.runtime, name);
}

bool log_says(void *text)
{
	return service_log_count(&service, text) > 0;
}
