#include "cuda/driver/cupti.h"

#include "cuda/driver/fault.h"
#include "status.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* The loader's path first, then the toolkit's usual folders outside that path. */
static const char *const usual_names[] = {
	"libcupti.so.13",
	"libcupti.so.12",
	"/usr/local/cuda/lib64/libcupti.so.13",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
	"/usr/local/cuda/lib64/libcupti.so.12",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
};

static void *cupti_open_library(const char *name)
{
	void *handle = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;

	for (size_t i = 0; !name && !handle && i < sizeof(usual_names) / sizeof(*usual_names); i++)
		handle = dlopen(usual_names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static bool look_up(struct cuda_cupti *cupti)
{
	bool is_whole = true;
	void *found;

#define CUDA_CUPTI_FIND(name, parameters)                                                          \
	found = dlsym(cupti->handle, "cupti" #name);                                               \
	memcpy(&cupti->name, &found, sizeof(found));                                               \
	is_whole = is_whole && found;
	CUDA_CUPTI_FUNCTIONS(CUDA_CUPTI_FIND)
#undef CUDA_CUPTI_FIND
	return is_whole;
}

int cuda_cupti_open(const char *name, struct cuda_cupti *cupti_out, struct backend_fault *fault_out)
{
	struct cuda_cupti cupti = {.handle = cupti_open_library(name)};

	if (!cupti.handle)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"%s is not installed (cupti in sycld.conf)",
					name ? name : "CUPTI (libcupti.so.13 or .12)");
	if (!look_up(&cupti) || cupti.GetVersion(&cupti.version) != CUPTI_DONE)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"the installed CUPTI is too old");
	*cupti_out = cupti;
	return 0;
}
