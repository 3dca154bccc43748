#include "opencl/driver/pocl.h"

#include "opencl/driver/import.h"
#include "vendor_role.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The compiler's library waits for the process that it has started, on the same thread. No process
 * has this number. */
enum { LINKER_PID = INT_MAX };

static _Thread_local int link_result;

static bool text_ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* PoCL's files have names of their own: all other inputs are libraries of the system. */
static bool is_linker_of_kernel(const char *program, char *const *arguments, const char **object,
				const char **library)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	*object = *library = NULL;
	if (strcmp(name, "ld") != 0 && strncmp(name, "ld.", 3) != 0)
		return false;
	for (; *arguments; arguments++) {
		if (strcmp(*arguments, "-o") == 0 && arguments[1])
			*library = *++arguments;
		else if (text_ends_with(*arguments, ".so.o"))
			*object = *arguments;
	}
	return *object && *library;
}

/* As posix_spawn. */
static int spawn_nothing(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attributes, char *const *arguments,
			 char *const *environment)
{
	const struct vendor_role *role = vendor_role();
	const char *object, *library;
	if (!is_linker_of_kernel(program, arguments, &object, &library))
		return posix_spawn(pid, program, actions, attributes, arguments, environment);
	link_result = role->link(role->context, object, library);
	*pid = LINKER_PID;
	return 0;
}

/* As wait4. */
static pid_t wait_for_nothing(pid_t pid, int *status, int options, struct rusage *usage)
{
	if (pid != LINKER_PID)
		return wait4(pid, status, options, usage);
	if (usage)
		memset(usage, 0, sizeof(*usage));
	if (status)
		*status = link_result < 0 ? W_EXITCODE(1, 0) : 0;
	return pid;
}

static bool links_elsewhere;

static void replace_linker(void)
{
	static const char compiler[] = "libLLVM";
	/* In this order: without the other one, the compiler would wait for no process. */
	links_elsewhere =
		opencl_import_replace(compiler, "wait4", (opencl_function *)wait_for_nothing) > 0 &&
		opencl_import_replace(compiler, "posix_spawn", (opencl_function *)spawn_nothing) >
			0;
}

bool opencl_pocl_links_elsewhere(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (!vendor_role()->link)
		return false;
	(void)pthread_once(&once, replace_linker);
	return links_elsewhere;
}

/* A library that was not loaded. */
static char nothing;

_Noreturn static void kernel_of_nothing(void)
{
	abort();
}

/* As dlopen, dlsym and dlclose. PoCL opens libraries of its own only while it starts. */
static void *open_nothing(const char *path, int flags)
{
	(void)path;
	(void)flags;
	return &nothing;
}

static void *find_in_nothing(void *handle, const char *name)
{
	return handle == &nothing ? (void *)kernel_of_nothing : dlsym(handle, name);
}

static int close_nothing(void *handle)
{
	return handle == &nothing ? 0 : dlclose(handle);
}

static void replace_loader(void)
{
	static const char pocl[] = "libpocl";
	(void)opencl_import_replace(pocl, "dlclose", (opencl_function *)close_nothing);
	if (opencl_import_replace(pocl, "dlsym", (opencl_function *)find_in_nothing) > 0)
		(void)opencl_import_replace(pocl, "dlopen", (opencl_function *)open_nothing);
}

void opencl_pocl_load_nothing(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (vendor_role()->only_builds)
		(void)pthread_once(&once, replace_loader);
}
