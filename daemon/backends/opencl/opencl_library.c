#include "opencl_library.h"

#include "cleanup.h"
#include "opencl_fault.h"
#include "status.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void set_variable(const char *name, const char *value)
{
	const char *present = getenv(name);

	/*
	 * Writing the environment races with readers in other threads of an application: leave it alone if it is right.
	 */
	if (!present || strcmp(present, value) != 0)
		(void)setenv(name, value, 1);
}

/* A folder that this user alone can write, made if it is not there: what is in it is executed. */
static bool is_safe_folder(const char *path)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 022) == 0;
}

/*
 * Drivers read their environment when they are loaded or first asked, and take their cache from there only: without
 * this, PoCL writes below the home folder, which a tenant's engine under the service manager cannot reach.
 * POCL_DEVICES stays the operator's.
 */
static void set_environment(const char *cache_directory)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (cache_directory && asprintf(&path, "%s/pocl", cache_directory) < 0)
		path = NULL;
	if (path && is_safe_folder(cache_directory) && is_safe_folder(path))
		set_variable("POCL_CACHE_DIR", path);
	else
		set_variable("POCL_KERNEL_CACHE", "0");
}

static int look_up(struct opencl_library *library, struct backend_fault *fault_out)
{
	static const char *const names[] = {
#define OPENCL_NAME(name) "cl" #name,
		OPENCL_FUNCTIONS(OPENCL_NAME)
#undef OPENCL_NAME
	};
	void **const places[] = {
#define OPENCL_PLACE(name) (void **)&library->name,
		OPENCL_FUNCTIONS(OPENCL_PLACE)
#undef OPENCL_PLACE
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		*places[i] = dlsym(library->handle, names[i]);
		if (!*places[i]) {
			opencl_fault_words(fault_out, STATUS_PLATFORM, "the OpenCL library has no function %s",
					   names[i]);
			return -ENODEV;
		}
	}
	*(void **)&library->CreateCommandQueueWithProperties =
		dlsym(library->handle, "clCreateCommandQueueWithProperties");
	*(void **)&library->CreateCommandQueue = dlsym(library->handle, "clCreateCommandQueue");
	if (!library->CreateCommandQueueWithProperties && !library->CreateCommandQueue) {
		opencl_fault_words(fault_out, STATUS_PLATFORM, "the OpenCL library cannot make command queues");
		return -ENODEV;
	}
	return 0;
}

int opencl_library_open(const char *cache_directory, struct opencl_library *library_out,
			struct backend_fault *fault_out)
{
	struct opencl_library library = {0};

	set_environment(cache_directory);
	/*
	 * Never closed again: drivers start threads and install signal handlers that outlive every object of theirs, so
	 * unmapping their code would crash the process later.
	 */
	library.handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library.handle) {
		const char *why = dlerror();
		opencl_fault_words(fault_out, STATUS_PLATFORM, "no OpenCL library: %s", why ? why : "unknown reason");
		return -ENODEV;
	}
	int error = look_up(&library, fault_out);
	if (error < 0)
		return error;
	*library_out = library;
	return 0;
}
