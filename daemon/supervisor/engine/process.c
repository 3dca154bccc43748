#include "engine/process.h"

#include "cleanup.h"
#include "engine/kill.h"
#include "engine/log.h"
#include "processors.h"
#include "switches.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL_FD = 3, STRINGS_FIRST = 64 };

/* All variables that an engine may inherit. Other variables of the service are removed. */
static const char *const passed_always[] = {
	"PATH",
	"LANG",
	"OCL_ICD_VENDORS",
	"OCL_ICD_FILENAMES",
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"CUDA_MPS_LOG_DIRECTORY",
	"CUDA_HOME",
	"SYCLD_DEBUG",
	SWITCH_BURST,
	SWITCH_EARLY,
	SWITCH_EXPECT,
	SWITCH_EXPRESS,
	SWITCH_GATE,
	SWITCH_GRAPH,
	SWITCH_INLINE,
	SWITCH_INLINE_ALL,
	SWITCH_KEEP,
	SWITCH_KEEP_ALL,
	SWITCH_KEEP_GRAPHS,
	SWITCH_KEEP_READS,
	SWITCH_SPILL,
	SWITCH_STRETCH,
	SWITCH_STRETCH_ALL,
	SWITCH_WINDOW,
	PROCESSORS_VARIABLE,
	"ASAN_OPTIONS",
	"UBSAN_OPTIONS",
	"LSAN_OPTIONS",
	"TSAN_OPTIONS",
};
static const char *const passed_to_own[] = {"HOME", "XDG_CACHE_HOME", "POCL_CACHE_DIR"};

/* The strings with which the process is started, all allocated, followed by NULL. The array grows,
 * because the configuration and the service's environment have no fixed bound. */
struct strings {
	char **list; /* NULL: no string was added */
	unsigned count, capacity;
};

static void strings_free(struct strings *strings)
{
	for (unsigned i = 0; i < strings->count; i++)
		free(strings->list[i]);
	free(strings->list);
}

/* Makes room for one more string, and for the NULL. */
static int strings_reserve(struct strings *strings)
{
	if (strings->count + 1 < strings->capacity)
		return 0;
	unsigned capacity = strings->capacity ? strings->capacity * 2 : STRINGS_FIRST;
	char **list = reallocarray(strings->list, capacity, sizeof(*list));
	if (!list)
		return -ENOMEM;
	strings->list = list;
	strings->capacity = capacity;
	return 0;
}

__attribute__((format(printf, 2, 3))) static int strings_add(struct strings *strings,
							     const char *format, ...)
{
	char *text = NULL;
	int r = strings_reserve(strings);
	if (r < 0)
		return r;
	va_list arguments;
	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	strings->list[strings->count++] = text;
	strings->list[strings->count] = NULL;
	return 0;
}

/* Returns true if OpenCL's loader would find libsyclcl and no other driver. A program that chooses
 * its platform so may have started the service, and an engine finds no device by it. */
static bool names_own_driver_only(const char *name, const char *value)
{
	const char *file = strrchr(value, '/');
	file = file ? file + 1 : value;
	return strncmp(name, "OCL_ICD_", 8) == 0 && !strchr(value, ':') &&
	       (strcmp(file, "sycld.icd") == 0 || strncmp(file, "libsyclcl.so", 12) == 0);
}

static int environment_pass(struct strings *environment, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = getenv(names[i]);
		if (!value || names_own_driver_only(names[i], value))
			continue;
		int r = strings_add(environment, "%s=%s", names[i], value);
		if (r < 0)
			return r;
	}
	return 0;
}

#define POCL_SIZES "POCL_WORK_GROUP_SPECIALIZATION="

/* POCL_* variables. A cache folder of the service's own user is not for a tenant's engine. With the
 * full filter PoCL must not run its linker for each size of work-groups. */
static int environment_pass_pocl(struct strings *environment, bool filter_is_full)
{
	int r = filter_is_full ? strings_add(environment, POCL_SIZES "0") : 0;
	if (r < 0)
		return r;
	for (char **entry = environ; *entry; entry++) {
		if (strncmp(*entry, "POCL_", 5) != 0 || !strncmp(*entry, "POCL_CACHE_DIR=", 15) ||
		    (filter_is_full && !strncmp(*entry, POCL_SIZES, sizeof(POCL_SIZES) - 1)))
			continue;
		r = strings_add(environment, "%s", *entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int environment_set_mps(struct strings *environment, const char *folder)
{
	static const char *const inherited[] = {MPS_FOLDER_VARIABLE};
	return folder ? strings_add(environment, MPS_FOLDER_VARIABLE "=%s", folder)
		      : environment_pass(environment, inherited, 1);
}

static int make_environment(const struct engine_launch *launch, struct strings *environment)
{
	int r = environment_pass(environment, passed_always,
				 sizeof(passed_always) / sizeof(*passed_always));
	if (r == 0)
		r = environment_set_mps(environment, launch->mps_folder);
	/* An OpenCL driver over the library that an engine loads must not connect to a service. */
	if (r == 0)
		r = strings_add(environment, "SYCLD_ENGINE=1");
	if (r == 0)
		r = environment_pass_pocl(environment, launch->configuration->filter_is_full);
	if (r == 0 && launch->user_mode)
		r = environment_pass(environment, passed_to_own,
				     sizeof(passed_to_own) / sizeof(*passed_to_own));
	/*
	 * Vendors' compilers keep caches in the home folder, which a tenant's engine does not have.
	 */
	if (r == 0 && !launch->user_mode && launch->cache_directory) {
		r = strings_add(environment, "HOME=%s", launch->cache_directory);
		if (r == 0)
			r = strings_add(environment, "XDG_CACHE_HOME=%s", launch->cache_directory);
	}
	return r;
}

static int arguments_add_pair(struct strings *arguments, const char *name, const char *value)
{
	int r = strings_add(arguments, "%s", name);
	return r < 0 ? r : strings_add(arguments, "%s", value);
}

static int arguments_add_number(struct strings *arguments, const char *name, unsigned long number)
{
	int r = strings_add(arguments, "%s", name);
	return r < 0 ? r : strings_add(arguments, "%lu", number);
}

static int arguments_add_limits(struct strings *arguments,
				const struct configuration *configuration)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++) {
		if (!configuration->limits[i].given)
			continue;
		int r = strings_add(arguments, "--limit");
		if (r == 0)
			r = strings_add(arguments, "%s=%llu", configuration_limit_names[i],
					(unsigned long long)configuration->limits[i].value);
		if (r < 0)
			return r;
	}
	return 0;
}

static int arguments_add_backend_options(struct strings *arguments,
					 const struct configuration *configuration)
{
	for (unsigned i = 0; i < CONFIGURATION_CUDA_OPTIONS; i++) {
		if (!configuration->cuda[i].given)
			continue;
		int r = strings_add(arguments, "--backend-option");
		if (r == 0)
			r = strings_add(arguments, "cuda:%s=%s", configuration_cuda_names[i],
					configuration->cuda[i].value);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds KIND:MASK for each backend, also with mask 0, so that "none" can be passed. */
static int arguments_add_devices(struct strings *arguments,
				 const struct configuration_devices *devices)
{
	for (unsigned i = 1; devices && devices->given && i < DEVICE_SET_BACKENDS; i++) {
		int r = strings_add(arguments, "--devices=%u:%llx", i,
				    (unsigned long long)devices->set.devices[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make_arguments(const struct engine_launch *launch, struct strings *arguments)
{
	int r = strings_add(arguments, "%s", launch->program);
	if (r == 0)
		r = arguments_add_number(arguments, "--control-fd", CONTROL_FD);
	if (r == 0 && launch->standby)
		r = arguments_add_pair(arguments, "--standby", launch->drop ? "any" : "own");
	if (r == 0 && launch->drop && !launch->standby)
		r = arguments_add_number(arguments, "--uid", launch->uid);
	if (r == 0 && launch->drop && !launch->standby)
		r = arguments_add_number(arguments, "--gid", launch->gid);
	if (r == 0 && launch->cache_directory)
		r = arguments_add_pair(arguments, "--cache-dir", launch->cache_directory);
	if (r == 0 && launch->scratch_directory)
		r = arguments_add_pair(arguments, "--scratch-dir", launch->scratch_directory);
	if (r == 0 && launch->warm_devices)
		r = strings_add(arguments, "--warm=%llx", (unsigned long long)launch->warm_devices);
	if (r == 0 && launch->configuration->spill)
		r = strings_add(arguments, "--spill");
	if (r == 0 && launch->configuration->filter_is_basic)
		r = strings_add(arguments, "--basic-filter");
	if (r == 0 && launch->configuration->slice_us != CONFIGURATION_SLICE_US)
		r = strings_add(arguments, "--slice-us=%llu",
				(unsigned long long)launch->configuration->slice_us);
	if (r == 0)
		r = arguments_add_devices(arguments, launch->devices);
	if (r == 0)
		r = arguments_add_limits(arguments, launch->configuration);
	return r < 0 ? r : arguments_add_backend_options(arguments, launch->configuration);
}

static int spawn_make_actions(posix_spawn_file_actions_t *actions, int control, int log)
{
	int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, log, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, log, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, control, CONTROL_FD);
	/* Libraries open descriptors too, and none of those may reach a tenant. */
	if (r == 0)
		r = posix_spawn_file_actions_addclosefrom_np(actions, CONTROL_FD + 1);
	return -r;
}

static int spawn_make_attributes(posix_spawnattr_t *attributes)
{
	sigset_t all;
	sigset_t none;
	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	int r = posix_spawnattr_setsigdefault(attributes, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF |
								 POSIX_SPAWN_SETSIGMASK |
								 POSIX_SPAWN_SETSID);
	return -r;
}

static int engine_process_spawn(const char *program, char *const *arguments,
				char *const *environment, int control, int log, pid_t *pid_out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r = -posix_spawn_file_actions_init(&actions);
	if (r < 0)
		return r;
	r = -posix_spawnattr_init(&attributes);
	if (r < 0) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return r;
	}
	r = spawn_make_actions(&actions, control, log);
	if (r == 0)
		r = spawn_make_attributes(&attributes);
	if (r == 0)
		r = -posix_spawn(pid_out, program, &actions, &attributes, arguments, environment);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&actions);
	return r;
}

int engine_process_start(const struct engine_launch *launch, struct engine_process *process_out)
{
	CLEANUP(strings_free) struct strings arguments = {.count = 0};
	CLEANUP(strings_free) struct strings environment = {.count = 0};
	int r = make_arguments(launch, &arguments);
	if (r == 0)
		r = make_environment(launch, &environment);
	if (r < 0)
		return r;

	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	CLEANUP(close_fd) int ours = pair[0];
	CLEANUP(close_fd) int theirs = pair[1];
	int flags = fcntl(ours, F_GETFL);
	if (flags < 0 || fcntl(ours, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;

	CLEANUP(close_fd) int log = -1;
	CLEANUP(close_fd) int log_theirs = -1;
	r = engine_log_pair(&log, &log_theirs);
	if (r < 0)
		return r;

	pid_t pid = -1;
	char *none[] = {NULL};
	r = engine_process_spawn(launch->program, arguments.list,
				 environment.list ? environment.list : none, theirs, log_theirs,
				 &pid);
	if (r < 0)
		return r;
	/* The process is not reaped yet, so it still has this number. */
	int pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		r = -errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return r;
	}
	*process_out = (struct engine_process){
		.pid = pid, .pidfd = pidfd, .control = take_fd(&ours), .log = take_fd(&log)};
	return 0;
}

void engine_process_kill(struct engine_process *process)
{
	/* A process that was not killed is not waited for: it may never end. */
	if (process->pid > 0 && process_kill(process->pid, process->pidfd))
		(void)waitpid(process->pid, NULL, 0);
	close_fd(&process->pidfd);
	close_fd(&process->control);
	close_fd(&process->log);
	process->pid = -1;
}

int engine_program_find(const char *given, char *path_out, size_t size)
{
	/* The path is made absolute, because the service may leave its folder. Links are not
	 * resolved. */
	char here[PATH_MAX] = "";
	if (given && *given != '/' && !getcwd(here, sizeof(here)))
		return -errno;
	if (given) {
		int length = snprintf(path_out, size, "%s%s%s", here, *here ? "/" : "", given);
		if (length < 0 || (size_t)length >= size)
			return -ENAMETOOLONG;
		return access(path_out, X_OK) < 0 ? -errno : 0;
	}
	char self[PATH_MAX];
	ssize_t count = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (count < 0)
		return -errno;
	self[count] = '\0';
	char *slash = strrchr(self, '/');
	int length;
	/* The build folder beside this program, then the tree of an installation, which may have
	 * been moved. */
	static const char *const places[] = {"sycl-engine", "../libexec/sycld/sycl-engine"};
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		length = snprintf(path_out, size, "%.*s/%s", (int)(slash - self), self, places[i]);
		if (length > 0 && (size_t)length < size && access(path_out, X_OK) == 0)
			return 0;
	}
	length = snprintf(path_out, size, "%s/sycld/sycl-engine", SYCLD_LIBEXECDIR);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}
