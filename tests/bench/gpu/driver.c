#include "gpu/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool gpu_driver_good(const struct gpu_driver *driver, int result, const char *what)
{
	const char *name = NULL;
	if (result == 0)
		return true;
	if (!driver->error_name || driver->error_name(result, &name) != 0 || !name)
		name = "an unknown error";
	/* `what` may be the text of the whole call. */
	(void)fprintf(stderr, "%.*s: CUDA error %d, %s\n", (int)strcspn(what, "("), what, result,
		      name);
	return false;
}

static bool missing(const char *what, bool tell)
{
	if (tell)
		(void)fprintf(stderr, "the CUDA driver cannot be loaded: %s\n", what);
	return false;
}

bool gpu_driver_open(struct gpu_driver *driver, const char *path, bool tell)
{
	*driver = (struct gpu_driver){
		.library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
	if (!driver->library)
		return missing(dlerror(), tell);
#define GPU_DRIVER_LOAD(name, symbol, parameters)                                                  \
	*(void **)&driver->name = dlsym(driver->library, symbol);                                  \
	if (!driver->name)                                                                         \
		return missing(symbol, tell);
	GPU_DRIVER_FUNCTIONS(GPU_DRIVER_LOAD)
	int result = driver->init(0);
	return tell ? gpu_driver_good(driver, result, "cuInit") : result == 0;
}
