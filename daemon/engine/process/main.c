/* sycl-engine: sycld starts one for each tenant, and one ahead for the next tenant. It is never
 * started by hand. */
#include "process/control.h"
#include "base/kernel_output.h"
#include "process/abort.h"
#include "process/filter.h"
#include "process/linger.h"
#include "process/mps.h"
#include "process/privileges.h"
#include "process/signals.h"
#include "process/standby.h"
#include "vendor_role.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUILD_HELPER_SOCKET 3
#define ENGINE_EXIT_LOST    4
/* Exit codes of a standby: none of the devices can be prepared; the user may not open the prepared
 * ones. */
#define ENGINE_EXIT_USELESS 5
#define ENGINE_EXIT_NOT_FOR 6
#define NO_ID               UINT32_MAX
#define SLICE_US_MOST       1000000u
#define BACKEND_OPTIONS_MAX 64
#define DEVICES_FOLDER      "/dev"

struct arguments {
	bool build_helper;
	bool standby;     /* the engine has no user yet */
	bool change_user; /* the user will be another one than the engine's own */
	int control_fd;
	uint32_t uid, gid;
	const char *scratch_directory; /* standby_settings.scratch_directory */
	struct engine_options engine;
	const char *backend_options[BACKEND_OPTIONS_MAX + 1]; /* "BACKEND:NAME=VALUE" */
	unsigned backend_option_count;
};

static int engine_parse_number(const char *text, uint32_t most, uint32_t *out)
{
	char *end;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || value > most)
		return -EINVAL;
	*out = (uint32_t)value;
	return 0;
}

/* NAME:KEY=VALUE; the backend interprets key and value. */
static int backend_option(struct arguments *arguments, const char *value)
{
	const char *colon = strchr(value, ':'), *equals = strchr(value, '=');
	if (!colon || colon == value || !equals || equals < colon ||
	    arguments->backend_option_count == BACKEND_OPTIONS_MAX)
		return -EINVAL;
	arguments->backend_options[arguments->backend_option_count++] = value;
	return 0;
}

static int parse_mask(const char *text, uint64_t *out)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 16);
	if (errno || *end || end == text || *text == '-')
		return -EINVAL;
	*out = value;
	return 0;
}

/* Reads KIND:MASK: sessions may use only these devices of the backend of that kind. */
static int parse_devices(const char *text, struct arguments *arguments)
{
	uint32_t kind;
	char number[4];
	size_t length = strcspn(text, ":");
	if (length == 0 || length >= sizeof(number) || text[length] != ':')
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	if (engine_parse_number(number, SCHEDULER_BACKEND_KINDS - 1, &kind) < 0)
		return -EINVAL;
	arguments->engine.devices.restricted = true;
	return parse_mask(text + length + 1, &arguments->engine.devices.allowed[kind]);
}

static int standby_option_apply(struct arguments *arguments, const char *value)
{
	arguments->standby = true;
	arguments->change_user = strcmp(value, "any") == 0;
	return arguments->change_user || strcmp(value, "own") == 0 ? 0 : -EINVAL;
}

static int engine_apply_option(struct arguments *arguments, int option, const char *value)
{
	uint32_t fd, slice_us;
	int r;
	switch (option) {
	case 'c':
		r = engine_parse_number(value, INT32_MAX, &fd);
		if (r == 0)
			arguments->control_fd = (int)fd;
		return r;
	case 'u':
		return engine_parse_number(value, NO_ID - 1, &arguments->uid);
	case 'g':
		return engine_parse_number(value, NO_ID - 1, &arguments->gid);
	case 'd':
		arguments->engine.cache_directory = value;
		return 0;
	case 't':
		arguments->scratch_directory = value;
		return 0;
	case 'h':
		arguments->engine.spills = true;
		return 0;
	case 'f':
		arguments->engine.filter_is_basic = true;
		return 0;
	case 'p':
		r = engine_parse_number(value, SLICE_US_MOST, &slice_us);
		if (r == 0)
			arguments->engine.slice_us = slice_us;
		return r;
	case 'l':
		return session_limits_set(&arguments->engine.limits, value);
	case 'o':
		return backend_option(arguments, value);
	case 'w':
		return parse_mask(value, &arguments->engine.warm_devices);
	case 'a':
		return parse_devices(value, arguments);
	case 'b':
		arguments->build_helper = true;
		return 0;
	case 's':
		return standby_option_apply(arguments, value);
	default:
		return -EINVAL;
	}
}

static int parse_arguments(int count, char **values, struct arguments *arguments)
{
	static const struct option options[] = {
		{"control-fd", required_argument, NULL, 'c'},
		{"uid", required_argument, NULL, 'u'},
		{"gid", required_argument, NULL, 'g'},
		{"cache-dir", required_argument, NULL, 'd'},
		{"scratch-dir", required_argument, NULL, 't'},
		{"limit", required_argument, NULL, 'l'},
		{"warm", required_argument, NULL, 'w'},
		{"build-helper", no_argument, NULL, 'b'},
		{"backend-option", required_argument, NULL, 'o'},
		{"standby", required_argument, NULL, 's'},
		{"slice-us", required_argument, NULL, 'p'},
		{"spill", no_argument, NULL, 'h'},
		{"basic-filter", no_argument, NULL, 'f'},
		{"devices", required_argument, NULL, 'a'},
		{NULL, 0, NULL, 0},
	};
	*arguments = (struct arguments){.control_fd = -1, .uid = NO_ID, .gid = NO_ID};
	session_limits_init(&arguments->engine.limits);
	arguments->engine.slice_us = ENGINE_SLICE_US;
	arguments->engine.backend_options = arguments->backend_options;
	int option;
	while ((option = getopt_long(count, values, "", options, NULL)) != -1) {
		if (engine_apply_option(arguments, option, optarg) < 0) {
			if (optarg)
				(void)fprintf(stderr, "sycl-engine: invalid value: %s\n", optarg);
			return -EINVAL;
		}
	}
	if (optind != count || (arguments->uid == NO_ID) != (arguments->gid == NO_ID))
		return -EINVAL;
	if (arguments->standby && (arguments->build_helper || arguments->uid != NO_ID))
		return -EINVAL;
	return arguments->build_helper || arguments->control_fd >= 0 ? 0 : -EINVAL;
}

static int engine_report_failure(const char *what, int error)
{
	(void)dprintf(STDERR_FILENO, "sycl-engine: %s: %s\n", what, strerror(-error));
	return 1;
}

/* A session takes three descriptors; the soft limit is for programs that use select. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * The flight page has the reason, which first the supervisor and then the clients read. Closing the
 * control socket drops its unread messages. They have sessions for the next engine. The hang-up of
 * these sessions must not wait for this process.
 */
_Noreturn static void end_lost_engine(struct engine *engine, struct control *control)
{
	bool is_followed = control_is_followed(control);
	control_hang_up(control);
	engine_hang_up(engine);
	(void)control_free(control);
	if (is_followed && engine_may_linger(engine))
		engine_linger(engine);
	_exit(ENGINE_EXIT_LOST);
}

static int serve_supervisor(struct engine *engine, int control_fd)
{
	CLEANUP(engine_signals_cleanup) struct engine_signals *signals = NULL;
	CLEANUP(control_cleanup) struct control *control = NULL;
	int r = engine_signals_create(engine, &signals);
	if (r == 0)
		r = control_create(engine, control_fd, &control);
	if (r < 0)
		return engine_report_failure("cannot serve", r);
	r = engine_run(engine);
	if (r == -EIO)
		end_lost_engine(engine, TAKE(control));
	if (r < 0) {
		/* Threads of a device still work on what would be freed. */
		(void)engine_report_failure("some work did not end in time", r);
		_exit(1);
	}
	return 0;
}

/* 0: installed, or the kernel has no filters. */
static int filter_system_calls(void)
{
	int r = engine_filter_install();
	if (r == -ENOSYS)
		(void)dprintf(
			STDERR_FILENO,
			"sycl-engine: this kernel has no filters of system calls (seccomp): the "
			"engine goes on without, and may start processes\n");
	else if (r < 0)
		(void)engine_report_failure("cannot filter system calls", r);
	return r == -ENOSYS ? 0 : r;
}

/* From here on it is all the same, however the engine came to its user. Takes the build service. */
static int run_engine(const struct arguments *arguments, struct build_service *builds)
{
	struct engine *engine = NULL;
	if (!arguments->engine.filter_is_basic)
		vendor_role_set(
			&(struct vendor_role){.link = build_service_link, .context = builds});
	int r = engine_create(&arguments->engine, builds, &engine);
	if (r < 0)
		return engine_report_failure("cannot start", r);
	engine_abort_record_in(engine_flight(engine));
	build_service_log_to(builds, STDERR_FILENO);
	int status = serve_supervisor(engine, arguments->control_fd);
	engine_abort_record_in(NULL);
	(void)engine_free(engine);
	return status;
}

static int start_engine(const struct arguments *arguments)
{
	int r = arguments->uid == NO_ID ? 0
					: engine_privileges_drop(arguments->uid, arguments->gid);
	if (r == 0)
		r = engine_privileges_limit();
	if (r == 0)
		r = engine_privileges_limit_locked(DEVICES_FOLDER, ENGINE_LOCKED_BYTES);
	if (r < 0)
		return engine_report_failure("cannot drop privileges", r);
	if (arguments->build_helper)
		return build_helper_main(BUILD_HELPER_SOCKET);
	r = kernel_output_open();
	if (r < 0)
		return engine_report_failure("cannot take the output of kernels", r);

	raise_descriptor_limit();
	struct build_service *builds = NULL;
	r = engine_mps_guard(ENGINE_MPS_FOLDER);
	if (r < 0)
		return engine_report_failure("cannot choose where MPS may be", r);
	/* Before the fork: the helper and its compilers need no more than the engine. */
	if (filter_system_calls() < 0)
		return 1;
	r = build_service_fork_gated(NULL, arguments->backend_options, &builds);
	if (r < 0)
		return engine_report_failure("cannot start the build helper", r);
	return run_engine(arguments, builds);
}

/* Serves as an engine that gets its user later. An engine that ends here ends with _exit, because
 * the kernel frees the driver's resources faster than the driver does. */
static int serve_as_standby(struct arguments *arguments)
{
	static struct standby_adoption adoption;
	char what[PATH_MAX] = "the output";
	struct build_service *builds = NULL;
	const struct standby_settings settings = {
		.control = arguments->control_fd,
		.change_user = arguments->change_user,
		.backend_options = arguments->backend_options,
		.cache_directory = arguments->engine.cache_directory,
		.scratch_directory = arguments->scratch_directory,
	};
	int r = engine_privileges_standby(arguments->change_user);
	if (r == 0)
		r = engine_privileges_limit_locked(DEVICES_FOLDER, ENGINE_LOCKED_BYTES);
	if (r == 0)
		r = engine_mps_guard(ENGINE_MPS_FOLDER);
	if (r < 0)
		return engine_report_failure("cannot drop privileges", r);
	raise_descriptor_limit();
	r = standby_wait(&settings, &adoption, &builds);
	if (r == 0)
		_exit(0);
	if (r == -EOPNOTSUPP)
		_exit(ENGINE_EXIT_USELESS);
	if (r < 0)
		_exit(engine_report_failure("cannot stand by", r));
	r = kernel_output_open();
	if (r == 0)
		r = standby_become(&adoption, builds, what);
	if (r < 0) {
		(void)dprintf(STDERR_FILENO,
			      "sycl-engine: cannot become an engine of user %lu: %s: %s\n",
			      (unsigned long)adoption.uid, what, strerror(-r));
		_exit(r == -EACCES ? ENGINE_EXIT_NOT_FOR : 1);
	}
	arguments->engine.cache_directory =
		adoption.cache_directory[0] ? adoption.cache_directory : NULL;
	arguments->engine.warm_devices = adoption.open_devices;
	if (filter_system_calls() < 0)
		return 1;
	return run_engine(arguments, builds);
}

int main(int count, char **values)
{
	/* Standard error is a socket, which may have no reader while one service follows
	 * another. */
	(void)signal(SIGPIPE, SIG_IGN);
	struct arguments arguments;
	if (parse_arguments(count, values, &arguments) < 0) {
		(void)fputs("sycl-engine is started by sycld\n", stderr);
		return 2;
	}
	return arguments.standby ? serve_as_standby(&arguments) : start_engine(&arguments);
}
