/* The engine inside an application: one session over a socketpair, on a thread of its own. */
#include "embedded_entry.h"
#include "process/engine.h"
#include "cleanup.h"
#include "base/option_list.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((visibility("default"))) embedded_start sycl_engine_embedded_start;
__attribute__((visibility("default"))) embedded_stop sycl_engine_embedded_stop;

struct embedded {
	struct engine *engine;
	pthread_t thread;
};

static void *run_embedded(void *context)
{
	struct embedded *embedded = context;
	/* Work that does not end has no limit here: it is the application's own. */
	(void)engine_run(embedded->engine);
	return NULL;
}

/* The application's signals stay with its own threads. */
static int embedded_start_thread(struct embedded *embedded)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return -EINVAL;
	int r = pthread_create(&embedded->thread, NULL, run_embedded, embedded);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

#define BACKEND_OPTIONS_MAX 64

/* The words of a text, in place. */
static int split_options(char *text, const char *list_out[BACKEND_OPTIONS_MAX + 1])
{
	unsigned count = 0;
	char *rest = NULL;
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (count == BACKEND_OPTIONS_MAX)
			return -EINVAL;
		list_out[count++] = word;
	}
	list_out[count] = NULL;
	return 0;
}

/*
 * The environment as the first engine of this process found it, for the build helpers of all
 * engines. Backends change it for their vendors' libraries, and these change it too. With such
 * changes another vendor's compiler might find other devices than here, or none. Later changes of
 * the application do not count, as libraries here have read the environment by then. Kept until the
 * process ends. NULL: no memory.
 */
static char *const *environment_at_first_call(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char **first;
	(void)pthread_mutex_lock(&lock);
	if (!first)
		first = option_list_copy((const char *const *)environ);
	char *const *environment = first;
	(void)pthread_mutex_unlock(&lock);
	return environment;
}

static int start_helper(const char *program, struct build_service **builds_out)
{
	char *const *environment = environment_at_first_call();
	return environment ? build_service_spawn(program, environment, builds_out) : -ENOMEM;
}

/*
 * A new user has no ~/.cache yet. Opening the folder later shows whether this has made it. Nothing
 * is made in another user's home, as in a program that the administrator runs: that user could not
 * use the folder.
 */
static void make_parent(const char *path)
{
	struct stat home;
	CLEANUP(free_pointer) char *parent = strdup(path);
	char *slash = parent ? strrchr(parent, '/') : NULL;
	if (!slash || slash == parent)
		return;
	*slash = '\0';
	slash = strrchr(parent, '/');
	if (!slash)
		return;
	*slash = '\0';
	bool of_another = stat(slash == parent ? "/" : parent, &home) < 0 ||
			  (home.st_uid != geteuid() && home.st_uid != 0);
	*slash = '/';
	if (!of_another)
		(void)mkdir(parent, 0700);
}

static int make_engine(const struct embedded_options *options, int *socket,
		       struct engine **engine_out)
{
	const char *backend_options[BACKEND_OPTIONS_MAX + 1];
	CLEANUP(free_pointer)
	char *words = strdup(options->backend_options ? options->backend_options : "");
	if (!words || split_options(words, backend_options) < 0)
		return words ? -EINVAL : -ENOMEM;
	if (options->cache_directory)
		make_parent(options->cache_directory);
	struct build_service *builds = NULL;
	if (options->helper) {
		int r = start_helper(options->helper, &builds);
		if (r < 0)
			return r;
	}
	struct engine_options settings = {
		.in_application = true,
		.end_with_last_session = true,
		.cache_directory = options->cache_directory,
		.backend_options = backend_options,
		.slice_us = ENGINE_SLICE_US,
	};
	session_limits_init(&settings.limits);
	struct engine *engine;
	int r = engine_create(&settings, builds, &engine);
	if (r < 0)
		return r;
	struct session_peer peer = {
		.session = 1, .uid = getuid(), .gid = getgid(), .pid = getpid()};
	r = engine_add_session(engine, take_fd(socket), -1, &peer);
	if (r < 0) {
		(void)engine_free(engine);
		return r;
	}
	*engine_out = engine;
	return 0;
}

int sycl_engine_embedded_start(const struct embedded_options *options, int session_socket,
			       void **engine_out)
{
	CLEANUP(close_fd) int socket = session_socket;
	if (options->version != EMBEDDED_ENTRY_VERSION)
		return -EPROTONOSUPPORT;
	CLEANUP(free_pointer) struct embedded *embedded = calloc(1, sizeof(*embedded));
	if (!embedded)
		return -ENOMEM;
	int r = make_engine(options, &socket, &embedded->engine);
	if (r < 0)
		return r;
	r = embedded_start_thread(embedded);
	if (r < 0) {
		(void)engine_free(embedded->engine);
		return r;
	}
	*engine_out = TAKE(embedded);
	return 0;
}

void sycl_engine_embedded_stop(void *engine)
{
	struct embedded *embedded = engine;
	(void)pthread_join(embedded->thread, NULL);
	(void)engine_free(embedded->engine);
	free(embedded);
}
