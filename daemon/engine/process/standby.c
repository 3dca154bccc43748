#include "process/standby.h"

#include "cleanup.h"
#include "process/filter.h"
#include "process/privileges.h"
#include "process/signals.h"
#include "base/option_list.h"
#include "packet.h"
#include "private_folder.h"

#include "control.pb-c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DECODE_BYTES (64u << 10)

/*
 * A driver keeps the name of its cache folder from its start on, and keeps nothing at all if there
 * is none then. This name leads to the user's folder as soon as there is a user. Before that it
 * leads to a folder of this process' own, which is then removed with its contents: nothing is left
 * for the next user. Where that folder cannot be made, the name leads nowhere.
 */
#define CACHE_FD   255
#define CACHE_LINK "/proc/self/fd/255"

/* The helper */

/* The order that the helper's gate waits for. */
struct gate_order {
	uint32_t change_user, uid, gid;
	char home[PATH_MAX]; /* "": none */
};

static int set_home(const char *folder)
{
	if (*folder && (setenv("HOME", folder, 1) < 0 || setenv("XDG_CACHE_HOME", folder, 1) < 0))
		return -errno;
	return 0;
}

/* Output of a helper does not belong in the service's log. */
static int standby_silence_output(void)
{
	CLEANUP(close_fd) int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return null < 0 || dup2(null, STDOUT_FILENO) < 0 ? -errno : 0;
}

/* Runs in the helper. The last packet is its reply. */
static int run_gate_order(int socket)
{
	struct gate_order order;
	ssize_t count = recv(socket, &order, sizeof(order), 0);
	if (count != (ssize_t)sizeof(order))
		return count < 0 ? -errno : -EPIPE;
	int r = engine_privileges_limit();
	if (r == 0 && order.change_user) {
		r = engine_privileges_drop(order.uid, order.gid);
		if (r == 0)
			r = standby_silence_output();
		if (r == 0)
			r = set_home(order.home);
	}
	if (r == 0) {
		r = engine_filter_install();
		r = r == -ENOSYS ? 0 : r;
	}
	if (r < 0)
		return r;
	return send(socket, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int send_adoption_to_helper(const struct standby_adoption *adoption, int socket)
{
	struct gate_order order = {
		.change_user = adoption->change_user, .uid = adoption->uid, .gid = adoption->gid};
	memcpy(order.home, adoption->cache_directory, sizeof(order.home));
	return send(socket, &order, sizeof(order), MSG_NOSIGNAL) == (ssize_t)sizeof(order) ? 0
											   : -EPIPE;
}

static int await_helper(int socket)
{
	char answer;
	return recv(socket, &answer, sizeof(answer), 0) == 1 ? 0 : -EPIPE;
}

/* Preparing devices */

struct standby {
	const struct standby_settings *settings;
	struct decode_arena decode;
	uint64_t devices[64]; /* for each value of proto's Backend the requested devices */
};

static struct private_folder early_cache = PRIVATE_FOLDER_NONE;

enum { BACKENDS_MAX = sizeof(((struct standby *)0)->devices) / sizeof(uint64_t) };

static int report_backend_failure(const char *backend, const struct backend_fault *fault, int error)
{
	(void)dprintf(STDERR_FILENO, "sycl-engine: standby: %s: %s\n", backend,
		      fault->text[0] ? fault->text : strerror(-error));
	return error;
}

static int prepare_backend(const struct standby *standby, const struct backend_ops *ops,
			   uint64_t devices)
{
	struct backend_fault fault = {.status = 0};
	CLEANUP(free_pointer)
	const char **options = option_list_of(standby->settings->backend_options, ops->name);
	if (!options)
		return -ENOMEM;
	bool change_user = standby->settings->change_user;
	const struct backend_settings settings = {
		.cache_directory = change_user ? CACHE_LINK : standby->settings->cache_directory,
		.options = options,
		.for_another_user = change_user,
	};
	int r = ops->preload ? ops->preload(&settings, devices, &fault) : -EOPNOTSUPP;
	return r < 0 ? report_backend_failure(ops->name, &fault, r) : 0;
}

/* The set of open devices is a claim of engines, so devices that do not exist are skipped. */
static int prepare_all(const struct standby *standby)
{
	bool is_any = false, is_asked = false;
	for (unsigned i = 0; i < BACKENDS_MAX; i++)
		is_asked |= standby->devices[i] != 0;
	const struct backend_ops *const *ops = backend_registry();
	for (; *ops; ops++) {
		unsigned kind = (unsigned)(*ops)->kind;
		if (kind >= BACKENDS_MAX || standby->devices[kind] == 0)
			continue;
		int r = prepare_backend(standby, *ops, standby->devices[kind]);
		if (r < 0 && r != -EOPNOTSUPP)
			return r;
		is_any |= r == 0;
	}
	return is_any || !is_asked ? 0 : -EOPNOTSUPP;
}

/* Signals are the main thread's, whatever threads a library starts. */
static int prepare_backends(const struct standby *standby)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	int r = prepare_all(standby);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* Talking to the supervisor */

static int standby_report_ready(const struct standby *standby)
{
	Sycl__V1__StandbyReady ready = SYCL__V1__STANDBY_READY__INIT;
	ready.pid = (uint32_t)getpid();
	ready.version = (char *)(uintptr_t)SYCLD_VERSION;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_STANDBY_READY;
	message.standby_ready = &ready;
	return message_send(standby->settings->control, &message.base, NULL, 0, 0);
}

static int apply_prepare(struct standby *standby, const Sycl__V1__StandbyPrepare *message)
{
	for (size_t i = 0; i < message->n_devices; i++) {
		const Sycl__V1__BackendDevices *devices = message->devices[i];
		if ((unsigned)devices->backend >= BACKENDS_MAX)
			return -EPROTO;
		standby->devices[devices->backend] |= devices->devices;
	}
	int r = prepare_backends(standby);
	return r < 0 ? r : standby_report_ready(standby);
}

static int take_adoption(const struct standby *standby, const Sycl__V1__EngineAdopt *message,
			 struct standby_adoption *adoption_out)
{
	if (message->change_user != standby->settings->change_user ||
	    strlen(message->cache_directory) >= sizeof(adoption_out->cache_directory))
		return -EPROTO;
	/* A GPU may have failed since: then a new engine can report the error. */
	int r = prepare_backends(standby);
	if (r < 0)
		return r;
	*adoption_out = (struct standby_adoption){
		.change_user = message->change_user,
		.uid = message->uid,
		.gid = message->gid,
		.open_devices = message->open_devices,
	};
	memcpy(adoption_out->cache_directory, message->cache_directory,
	       strlen(message->cache_directory) + 1);
	return 1;
}

/* Until there is something to read. Only here TERM and INT end the process, as they do with any
 * that has nothing to lose. */
static int wait_readable(int socket)
{
	struct pollfd readable = {.fd = socket, .events = POLLIN};
	sigset_t none;
	(void)sigemptyset(&none);
	return ppoll(&readable, 1, NULL, &none) < 0 && errno != EINTR ? -errno : 0;
}

/* Handles one message. 0: go on; 1: adopted. -ECONNRESET: the supervisor does not need a standby
 * any more. */
static int handle_control_message(struct standby *standby, struct standby_adoption *adoption_out)
{
	ProtobufCMessage *message = NULL;
	int r = wait_readable(standby->settings->control);
	if (r < 0)
		return r;
	r = message_receive(standby->settings->control, &sycl__v1__control__descriptor,
			    &standby->decode, &message, NULL, MSG_DONTWAIT);
	if (r == -EAGAIN)
		return 0;
	if (r == 0 || r == -EPIPE)
		return -ECONNRESET;
	if (r < 0)
		return r;
	const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
	switch (control->body_case) {
	case SYCL__V1__CONTROL__BODY_STANDBY_PREPARE:
		return apply_prepare(standby, control->standby_prepare);
	case SYCL__V1__CONTROL__BODY_ADOPT:
		return take_adoption(standby, control->adopt, adoption_out);
	case SYCL__V1__CONTROL__BODY_STOP:
		return -ECONNRESET;
	default:
		return -EPROTO;
	}
}

static int cache_fd_to_null(void)
{
	CLEANUP(close_fd) int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return null < 0 || dup3(null, CACHE_FD, O_CLOEXEC) < 0 ? -errno : 0;
}

static int hold_cache_fd(const char *parent)
{
	if (private_folder_make(parent, "sycld-standby", &early_cache) < 0)
		return cache_fd_to_null();
	CLEANUP(close_fd)
	int fd = open(early_cache.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 || dup3(fd, CACHE_FD, O_CLOEXEC) < 0 ? -errno : 0;
}

/* Called while this process may still remove the folder. */
static int end_early_cache(void)
{
	int r = cache_fd_to_null();
	private_folder_remove(&early_cache);
	return r;
}

int standby_wait(const struct standby_settings *settings, struct standby_adoption *adoption_out,
		 struct build_service **builds_out)
{
	struct standby standby = {.settings = settings};
	int r = build_service_fork_gated(run_gate_order, settings->backend_options, builds_out);
	if (r == 0 && settings->change_user)
		r = hold_cache_fd(settings->scratch_directory);
	if (r == 0)
		r = engine_signals_block();
	if (r == 0)
		r = decode_arena_init(&standby.decode, DECODE_BYTES);
	if (r < 0)
		return r;
	do
		r = handle_control_message(&standby, adoption_out);
	while (r == 0);
	decode_arena_fini(&standby.decode);
	if (r < 0)
		private_folder_remove(&early_cache);
	return r == -ECONNRESET || r == -EPIPE ? 0 : r;
}

/* The supervisor has made the folder for this user alone. If it cannot be opened, the engine works
 * without a cache. */
static void cache_fd_to_folder(const char *folder)
{
	CLEANUP(close_fd)
	int fd = *folder ? open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd >= 0)
		(void)dup3(fd, CACHE_FD, O_CLOEXEC);
}

static int change_user(const struct standby_adoption *adoption, char what_out[PATH_MAX])
{
	int r = end_early_cache();
	if (r == 0)
		r = engine_privileges_drop(adoption->uid, adoption->gid);
	if (r == 0)
		r = engine_privileges_check(adoption->uid, adoption->gid, what_out);
	if (r < 0)
		return r;
	cache_fd_to_folder(adoption->cache_directory);
	return set_home(adoption->cache_directory);
}

int standby_become(const struct standby_adoption *adoption, struct build_service *builds,
		   char what_out[PATH_MAX])
{
	int socket = build_service_socket(builds);
	(void)snprintf(what_out, PATH_MAX, "its user");
	int r = send_adoption_to_helper(adoption, socket);
	/* As for any user's engine: the kernel no longer kills this process first when memory runs
	 * out. */
	if (r == 0)
		r = engine_privileges_limit();
	if (r == 0 && adoption->change_user)
		r = change_user(adoption, what_out);
	if (r < 0)
		return r;
	(void)snprintf(what_out, PATH_MAX, "the build helper");
	return await_helper(socket);
}
