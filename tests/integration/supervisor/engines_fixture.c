#include "supervisor/engines_fixture.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct service service;

void start_engines_with(const char *manner, const char *configuration)
{
	service_prepare(&service, manner);
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

void must_be_refused_with(const char *why)
{
	CLEANUP(free_pointer) char *text = client_refused(&service);
	cr_assert(ne(ptr, text, NULL));
	cr_assert(ne(ptr, strstr(text, why), NULL), "'%s' says nothing of '%s'", text, why);
}

json_t *tenant_field(json_t *status, const char *name)
{
	json_t *tenants = json_object_get(status, "tenants");
	cr_assert(eq(sz, json_array_size(tenants), 1u));
	return json_object_get(json_array_get(tenants, 0), name);
}

void lose_engine(int socket)
{
	cr_assert(eq(long, send(socket, "lose", 4, MSG_NOSIGNAL), 4l));
	cr_assert(eq(ptr, client_receive(socket), NULL));
}

bool process_is_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

bool devices_in(const char *verb, size_t count)
{
	json_t *answer = ctl_json(&service, verb);
	cr_assert(ne(ptr, answer, NULL));
	bool equal = json_array_size(json_object_get(answer, "devices")) == count;
	json_decref(answer);
	return equal;
}

void engine_send(int socket, const char *order)
{
	cr_assert(eq(long, send(socket, order, strlen(order), MSG_NOSIGNAL), (long)strlen(order)));
}

void engine_open_device(int socket)
{
	engine_send(socket, "open");
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
}

static bool standby_is_ready(void *pid)
{
	json_t *status = ctl_json(&service, "status");
	json_t *standby = json_object_get(json_object_get(status, "service"), "standby");
	const char *state = json_string_value(json_object_get(standby, "state"));
	*(long *)pid = state && !strcmp(state, "ready")
			       ? (long)json_integer_value(json_object_get(standby, "pid"))
			       : 0;
	json_decref(status);
	return *(long *)pid > 0;
}

long standby_pid(void)
{
	long pid = 0;
	cr_assert(wait_until(standby_is_ready, &pid), "no standby comes");
	return pid;
}

struct awaited_log {
	const char *text;
	unsigned times;
};

static bool is_logged(void *context)
{
	const struct awaited_log *logged = context;
	return service_log_count(&service, logged->text) >= logged->times;
}

void await_log(const char *text, unsigned times)
{
	struct awaited_log logged = {text, times};
	cr_assert(wait_until(is_logged, &logged), "'%s' is not logged %u times", text, times);
}

void crash_and_check(const char *how, const char *logged, const char *shown)
{
	int socket = -1;
	int bystander = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	CLEANUP(free_pointer) char *other = client_open(&service, &bystander);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(ne(ptr, other, NULL));
	cr_assert(eq(long, send(socket, how, strlen(how), MSG_NOSIGNAL), (long)strlen(how)));
	cr_assert(eq(ptr, client_receive(socket), NULL));
	cr_assert(eq(ptr, client_receive(bystander), NULL));
	close_fd(&socket);
	close_fd(&bystander);

	/* The next connection works, and none of the dead engine's sessions is left. */
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(ne(long, fact(again, "pid="), fact(facts, "pid=")));
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL));
	cr_assert(eq(sz, json_array_size(json_object_get(status, "sessions")), 1u));
	const char *failure = json_string_value(tenant_field(status, "last_failure"));
	cr_assert(ne(ptr, (void *)(uintptr_t)failure, NULL));
	cr_assert(ne(ptr, strstr(failure, shown), NULL), "%s", failure);
	json_decref(status);
	cr_assert(gt(uint, service_log_count(&service, logged), 0u));
	close_fd(&socket);
}
