#include "opencl/driver/library.h"

#include "cleanup.h"
#include "opencl/driver/fault.h"
#include "private_folder.h"
#include "status.h"
#include "vendor_environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct private_folder own_cache;
static pid_t own_cache_maker;

/* A child that an application has forked does not remove the folder. */
static void remove_own_cache(void)
{
	if (own_cache_maker == getpid())
		private_folder_remove(&own_cache);
}

/*
 * Without a cache, PoCL still writes to a folder that all processes of this user without a cache
 * share. There it removes files that another process of the same program uses. So this process gets
 * its own folder. It is made once, because PoCL reads its path only once.
 */
static const char *own_cache_path(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)pthread_mutex_lock(&lock);
	if (!own_cache.path && private_folder_make(NULL, "sycld-pocl", &own_cache) == 0) {
		own_cache_maker = getpid();
		(void)atexit(remove_own_cache);
	}
	const char *path = own_cache.path;
	(void)pthread_mutex_unlock(&lock);
	return path;
}

/*
 * Drivers read their environment when they are loaded or at the first call, and take their cache
 * only from there. Without this, PoCL writes below the home folder, which a tenant's engine under
 * the service manager cannot reach. POCL_DEVICES is left to the operator.
 */
void opencl_library_prepare(const char *cache_directory)
{
	CLEANUP(free_pointer) char *path = vendor_cache_folder(cache_directory, "pocl");

	const char *folder = path ? path : own_cache_path();
	if (folder)
		(void)vendor_variable_set("POCL_CACHE_DIR", folder);
	else
		(void)vendor_variable_set("POCL_KERNEL_CACHE", "0");
	/*
	 * PoCL sets this variable to the same value in the query of devices. A variable that is
	 * added then would move the environment while other vendors' libraries read it on other
	 * threads.
	 */
	(void)vendor_variable_set("HWLOC_PLUGINS_PATH", "/dev/null");
}

static void look_up_svm(struct opencl_library *library)
{
#define OPENCL_PLACE(name) *(void **)&library->name = dlsym(library->handle, "cl" #name);
	OPENCL_SVM_FUNCTIONS(OPENCL_PLACE)
#undef OPENCL_PLACE
}

static int opencl_look_up(struct opencl_library *library, struct backend_fault *fault_out)
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
			opencl_fault_words(fault_out, STATUS_PLATFORM,
					   "the OpenCL library has no function %s", names[i]);
			return -ENODEV;
		}
	}
	*(void **)&library->CreateCommandQueueWithProperties =
		dlsym(library->handle, "clCreateCommandQueueWithProperties");
	*(void **)&library->CreateProgramWithIL = dlsym(library->handle, "clCreateProgramWithIL");
	*(void **)&library->CloneKernel = dlsym(library->handle, "clCloneKernel");
	*(void **)&library->CreateCommandQueue = dlsym(library->handle, "clCreateCommandQueue");
	*(void **)&library->CreateSampler = dlsym(library->handle, "clCreateSampler");
	if (!library->CreateCommandQueueWithProperties && !library->CreateCommandQueue) {
		opencl_fault_words(fault_out, STATUS_PLATFORM,
				   "the OpenCL library cannot make command queues");
		return -ENODEV;
	}
	return 0;
}

int opencl_library_open(const char *cache_directory, struct opencl_library *library_out,
			struct backend_fault *fault_out)
{
	struct opencl_library library = {0};

	opencl_library_prepare(cache_directory);
	/* The library is never closed. Drivers start threads and install signal handlers that
	 * outlive all their objects, so unmapping their code would crash the process later. */
	library.handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library.handle) {
		const char *why = dlerror();
		opencl_fault_words(fault_out, STATUS_PLATFORM, "no OpenCL library: %s",
				   why ? why : "unknown reason");
		return -ENODEV;
	}
	int error = opencl_look_up(&library, fault_out);
	if (error < 0)
		return error;
	look_up_svm(&library);
	*library_out = library;
	return 0;
}
