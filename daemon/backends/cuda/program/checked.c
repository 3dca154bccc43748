#include "cuda/program/checked.h"

#include "cuda/program/kernel.h"
#include "cuda/program/launch.h"
#include "portable_check.h"

#include <errno.h>
#include <string.h>

static struct cuda_binary_kernel *checked_find_kernel(const struct cuda_binary *binary,
						      const char *name, size_t bytes)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		if (strlen(binary->kernels[i].name) == bytes &&
		    memcmp(binary->kernels[i].name, name, bytes) == 0)
			return &binary->kernels[i];
	return NULL;
}

static int checked_mark_kernel(struct cuda_binary_kernel *kernel, const struct cuda_binary *plain)
{
	const struct cuda_binary_kernel *same =
		checked_find_kernel(plain, kernel->name, strlen(kernel->name));

	if (!same || (kernel->argument_count != same->argument_count &&
		      kernel->argument_count != same->argument_count + 1))
		return -EINVAL;
	kernel->is_checked = kernel->argument_count > same->argument_count;
	kernel->argument_count = same->argument_count;
	return 0;
}

/* A kernel's parameters follow each other, so the kernel is looked for once. */
struct naming {
	const struct cuda_binary *binary;
	struct cuda_binary_kernel *kernel;
	const char *kernel_name;
};

static void checked_name_parameter(void *context, const struct portable_check_parameter *parameter)
{
	struct naming *naming = context;

	if (naming->kernel_name != parameter->kernel)
		naming->kernel = checked_find_kernel(naming->binary, parameter->kernel,
						     parameter->kernel_bytes);
	naming->kernel_name = parameter->kernel;
	if (!naming->kernel || !naming->kernel->is_checked ||
	    parameter->argument >= naming->kernel->argument_count)
		return;
	char *name = naming->kernel->arguments[parameter->argument].facts.name;
	const size_t most = sizeof(naming->kernel->arguments->facts.name) - 1;
	const size_t bytes = parameter->name_bytes < most ? parameter->name_bytes : most;
	memcpy(name, parameter->name, bytes);
	name[bytes] = '\0';
}

int cuda_checked_mark(struct cuda_binary *checked, const struct cuda_binary *plain,
		      const char *source, size_t source_bytes)
{
	struct naming naming = {.binary = checked};
	int error = checked->kernel_count == plain->kernel_count ? 0 : -EINVAL;

	for (uint32_t i = 0; error == 0 && i < checked->kernel_count; i++)
		error = checked_mark_kernel(&checked->kernels[i], plain);
	if (error == 0)
		portable_check_parameters(source, source_bytes, checked_name_parameter, &naming);
	return error;
}

int cuda_checked_open(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_kernels *kernels = device->kernels;
	const size_t bytes = (size_t)CUDA_CHECKED_MAX * PORTABLE_CHECK_WORDS * sizeof(uint64_t);
	CUresult result = CUDA_SUCCESS;
	void *words = NULL;

	(void)pthread_mutex_lock(&kernels->lock);
	if (!kernels->checked_words)
		result = cu->cuMemHostAlloc(&words, bytes, CU_MEMHOSTALLOC_PORTABLE);
	if (words)
		kernels->checked_words = words;
	(void)pthread_mutex_unlock(&kernels->lock);
	return cuda_check(device, result, fault_out, "cannot pin memory for checks");
}

void cuda_checked_close(struct backend_device *device)
{
	if (device->kernels->checked_words)
		(void)device->backend->library.cuMemFreeHost(device->kernels->checked_words);
	device->kernels->checked_words = NULL;
}

uint64_t *cuda_checked_words(const struct backend_device *device)
{
	return device->kernels->checked_words;
}

static const char *checked_argument_name(const void *context, uint64_t argument)
{
	const struct backend_kernel *kernel = context;

	return argument < kernel->facts.argument_count && kernel->arguments[argument].name[0]
		       ? kernel->arguments[argument].name
		       : NULL;
}

void cuda_kernel_check_fault(const struct backend_kernel *kernel, const uint64_t *words,
			     uint32_t dimensions, struct backend_fault *fault_out)
{
	portable_check_fault(words, kernel->name, dimensions, checked_argument_name, kernel,
			     fault_out);
}
