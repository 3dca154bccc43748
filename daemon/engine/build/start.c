/* Starts a build service: the helper process is forked, or executed. */
#include "build/service.h"

#include "build/internal.h"
#include "processors.h"
#include "protocol_limits.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/*
 * The number of compilers at a time is that of processors, within bounds. With only one, a source
 * that keeps its compiler busy until its limit would hold up all others. There are few, as each may
 * use a gigabyte.
 */
#define BUILD_RUNNING_MIN 2
#define BUILD_RUNNING_MAX 4

static struct build_service *new_service(int *socket)
{
	const uint32_t processors = processors_here();
	struct build_service *service = calloc(1, sizeof(*service));
	if (!service)
		return NULL;
	service->socket = take_fd(socket);
	build_linker_init(&service->linker);
	service->helper = service->report_fd = -1;
	service->next_number = 1;
	service->running_max = processors < BUILD_RUNNING_MAX ? processors : BUILD_RUNNING_MAX;
	if (service->running_max < BUILD_RUNNING_MIN)
		service->running_max = BUILD_RUNNING_MIN;
	list_init(&service->works);
	if (decode_arena_init(&service->decode, DECODE_BYTES_MAX) < 0) {
		close_fd(&service->socket);
		free(service);
		return NULL;
	}
	return service;
}

/* A service without a helper yet, and the socket that the helper will have. NULL: see the error. */
static struct build_service *new_connected_service(int *helper_socket_out, int *error_out)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		*error_out = -errno;
		return NULL;
	}
	CLEANUP(close_fd) int ours = pair[0];
	CLEANUP(close_fd) int theirs = pair[1];
	struct build_service *service = new_service(&ours);
	*error_out = service ? 0 : -ENOMEM;
	if (service)
		*helper_socket_out = take_fd(&theirs);
	return service;
}

/*
 * A forked helper is ended by a signal as well as by the hang-up. A spawned helper is not: the
 * kernel sends the signal when the thread that made the helper ends, and an application's threads
 * come and go.
 */
static void end_with_engine(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static _Noreturn void run_helper(struct build_helper_sockets sockets, build_helper_gate *gate,
				 const char *const *backend_options)
{
	end_with_engine();
	if (gate && (build_helper_settle(&sockets) < 0 || gate(sockets.builds) < 0))
		_exit(1);
	/* The kernel drops the setting when the helper becomes another user in its gate. */
	if (gate)
		end_with_engine();
	_exit(build_helper_serve(sockets, backend_options));
}

int build_service_fork_gated(build_helper_gate *gate, const char *const *backend_options,
			     struct build_service **service_out)
{
	CLEANUP(close_fd) int theirs = -1;
	CLEANUP(close_fd) int links = -1;
	int error = 0;

	struct build_service *service = new_connected_service(&theirs, &error);
	if (!service)
		return error;
	error = build_linker_connect(&service->linker, &links);
	if (error == 0) {
		service->helper = fork();
		error = service->helper < 0 ? -errno : 0;
	}
	if (error < 0) {
		(void)build_service_free(service);
		return error;
	}
	if (service->helper == 0) {
		/* Otherwise the helper could not detect the engine's end. */
		close_fd(&service->socket);
		build_linker_close(&service->linker);
		run_helper((struct build_helper_sockets){theirs, links}, gate, backend_options);
	}
	*service_out = service;
	return 0;
}

int build_service_fork(struct build_service **service_out)
{
	return build_service_fork_gated(NULL, NULL, service_out);
}

int build_service_socket(const struct build_service *service)
{
	return service->socket;
}

static int spawn_helper(const char *program, char *const *environment, int socket, pid_t *pid_out)
{
	char option[] = "--build-helper";
	char *arguments[] = {(char *)(uintptr_t)program, option, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes) != 0) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	/* The application's signal settings are not the helper's. */
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &all);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int error = posix_spawn_file_actions_adddup2(&actions, socket, 3);
	if (error == 0)
		error = posix_spawn(pid_out, program, &actions, &attributes, arguments,
				    environment);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -error;
}

int build_service_spawn(const char *program, char *const *environment,
			struct build_service **service_out)
{
	CLEANUP(close_fd) int theirs = -1;
	int error = 0;

	struct build_service *service = new_connected_service(&theirs, &error);
	if (!service)
		return error;
	error = spawn_helper(program, environment, theirs, &service->helper);
	if (error < 0) {
		service->helper = -1;
		(void)build_service_free(service);
		return error;
	}
	*service_out = service;
	return 0;
}
