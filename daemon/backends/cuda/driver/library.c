#include "cuda/driver/library.h"

#include "cuda/driver/context.h"
#include "status.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

struct function {
	const char *name;
	size_t place; /* offset in struct cuda_library */
	int version;
	bool is_needed;
};

static const struct function functions[] = {
#define CUDA_NEEDED(name, version)   {#name, offsetof(struct cuda_library, name), version, true},
#define CUDA_OPTIONAL(name, version) {#name, offsetof(struct cuda_library, name), version, false},
	CUDA_FUNCTIONS(CUDA_NEEDED, CUDA_OPTIONAL)
#undef CUDA_NEEDED
#undef CUDA_OPTIONAL
};

static void library_symbol(void *handle, const char *name, void *function_out)
{
	void *found = dlsym(handle, name);

	memcpy(function_out, &found, sizeof(found));
}

static int refuse_old_driver(int version, struct backend_fault *fault_out)
{
	return cuda_fault_words(
		fault_out, -ENODEV, STATUS_PLATFORM,
		"the NVIDIA driver is too old: it is for CUDA %d.%d, this service needs CUDA %d.%d (driver "
		"550) or newer",
		version / 1000, version % 1000 / 10, CUDA_OLDEST_DRIVER / 1000,
		CUDA_OLDEST_DRIVER % 1000 / 10);
}

/* Called before any other query, because an old driver may lack the function that looks up the
 * others. */
static int check_version(struct cuda_library *library, struct backend_fault *fault_out)
{
	PFN_cuDriverGetVersion_v2020 get_version = NULL;
	int version = 0;

	library_symbol(library->handle, "cuDriverGetVersion", &get_version);
	CUresult result = get_version ? get_version(&version) : CUDA_ERROR_NOT_FOUND;
	if (result == CUDA_ERROR_STUB_LIBRARY)
		return cuda_fault_words(
			fault_out, -ENODEV, STATUS_PLATFORM,
			"no NVIDIA driver: libcuda.so.1 is the toolkit's stub, which only links");
	if (result != CUDA_SUCCESS || version <= 0)
		return cuda_fault_words(
			fault_out, -ENODEV, STATUS_PLATFORM,
			"no NVIDIA driver: its library does not report a version (%d)",
			(int)result);
	if (version < CUDA_OLDEST_DRIVER)
		return refuse_old_driver(version, fault_out);
	library->driver_version = version;
	return 0;
}

static int look_up_entry(struct cuda_library *library, struct backend_fault *fault_out)
{
	PFN_cuGetProcAddress_v12000 get_address = NULL;

	library_symbol(library->handle, "cuGetProcAddress_v2", &get_address);
	if (!get_address)
		return refuse_old_driver(library->driver_version, fault_out);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const struct function *function = &functions[i];
		CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
		void *address = NULL;

		/* Default streams of the process, whatever the compiler's options say about default
		 * streams of a thread. */
		CUresult result = get_address(function->name, &address, function->version,
					      CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
		if (result != CUDA_SUCCESS || status != CU_GET_PROC_ADDRESS_SUCCESS)
			address = NULL;
		if (!address && function->is_needed)
			return cuda_fault_words(
				fault_out, -ENODEV, STATUS_PLATFORM,
				"the NVIDIA driver has no function %s of version %d.%d",
				function->name, function->version / 1000,
				function->version % 1000 / 10);
		memcpy((char *)library + function->place, &address, sizeof(address));
	}
	return 0;
}

int cuda_library_open(const char *name, struct cuda_library *library_out,
		      struct backend_fault *fault_out)
{
	struct cuda_library library = {0};

	/*
	 * The library is never closed, because the driver starts threads that outlive every object.
	 */
	library.handle = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library.handle) {
		const char *why = dlerror();
		return cuda_fault_words(fault_out, -ENODEV, STATUS_PLATFORM, "no NVIDIA driver: %s",
					why ? why : "libcuda.so.1 does not open");
	}
	int error = check_version(&library, fault_out);
	if (error == 0)
		error = look_up_entry(&library, fault_out);
	if (error < 0)
		return error;
	*library_out = library;
	return 0;
}
