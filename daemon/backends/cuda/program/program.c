#include "cuda/program/program.h"

#include "cuda/program/launch.h"
#include "cuda/program/join.h"
#include "cuda/program/ptx_wait.h"
#include "cuda/program/symbol.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MODULES_MAX 32u
#define JIT_LOG_BYTES    4096u

static void modules_end(struct backend_device *device, struct cuda_modules *modules)
{
	for (uint32_t i = 0; i < CUDA_IMAGES_MAX; i++)
		if (modules->modules[i])
			(void)device->backend->library.cuModuleUnload(modules->modules[i]);
	modules->binary = cuda_binary_free(modules->binary);
	free(modules->bytes);
	free(modules);
}

/*
 * Reduces the log to the first error of the driver's compiler, in one line: "line 7; error : ...".
 */
static void log_keep_first_error(char *log)
{
	static const char prefix[] = "ptxas application ptx input, ";
	char *from = strstr(log, prefix), *to = log;

	from = from ? from + sizeof(prefix) - 1 : log;
	for (; *from && *from != '\n'; from++) {
		bool blank = *from == ' ' || *from == '\t';
		if (!blank)
			*to++ = *from;
		else if (to > log && to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
}

static int load_image(struct backend_device *device, const struct cuda_image *image,
		      CUmodule *module_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	char log[JIT_LOG_BYTES] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};

	if (image->kind == CUDA_IMAGE_PIECES)
		return cuda_join_pieces(device, image, module_out, fault_out);
	CUresult result = cu->cuModuleLoadDataEx(module_out, image->bytes, 2, options, values);
	if (result == CUDA_SUCCESS)
		return 0;
	log[sizeof(log) - 1] = '\0';
	log_keep_first_error(log);
	int error = cuda_fault(device, cu, result, fault_out, "cannot load the program");
	if (log[0] && fault_out->status == STATUS_BUILD)
		(void)cuda_fault_words(fault_out, error, STATUS_BUILD,
				       "the driver cannot compile the PTX: %.200s", log);
	fault_out->native_code = (int32_t)result;
	return error;
}

/* Loads the PTX with a wait added at the beginning of each kernel. False: that is not possible for
 * this text, or the driver refuses the changed text. */
static bool program_load_with_wait(struct backend_device *device, const struct cuda_image *image,
				   CUmodule *module_out)
{
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;
	CLEANUP(free_pointer) char *text = NULL;
	size_t bytes = 0;

	if (image->kind != CUDA_IMAGE_PTX || !device->backend->settings.overlap ||
	    cuda_ptx_parse(image->bytes, image->count, &ptx, NULL) < 0 ||
	    cuda_ptx_wait(image->bytes, image->count, ptx, device->facts->compute_major, &text,
			  &bytes) < 0)
		return false;
	return device->backend->library.cuModuleLoadDataEx(module_out, text, 0, NULL, NULL) ==
	       CUDA_SUCCESS;
}

/* Lists the functions of a cubin without descriptions. */
static int list_functions(struct backend_device *device, struct cuda_modules *modules,
			  struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	CLEANUP(free_pointer) CUfunction *functions = NULL;
	struct cuda_binary *binary = modules->binary;
	unsigned count = 0;

	CUresult result = cu->cuModuleGetFunctionCount(&count, modules->modules[0]);
	if (result == CUDA_SUCCESS && count > CUDA_BINARY_KERNELS_MAX)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"%u kernels; %u are allowed", count,
					CUDA_BINARY_KERNELS_MAX);
	functions = calloc(count + 1u, sizeof(CUfunction));
	struct cuda_binary_kernel *kernels = calloc(count + 1u, sizeof(*kernels));
	if (!functions || !kernels) {
		free(kernels);
		return cuda_no_memory(fault_out, "a program");
	}
	free(binary->kernels);
	binary->kernels = kernels;
	if (result == CUDA_SUCCESS && count > 0)
		result = cu->cuModuleEnumerateFunctions(functions, count, modules->modules[0]);
	for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++) {
		CLEANUP(cuda_symbol_cleanup) struct cuda_symbol *symbol = NULL;
		const char *name = NULL;
		result = cu->cuFuncGetName(&name, functions[i]);
		if (result != CUDA_SUCCESS)
			break;
		binary->kernel_count = i + 1;
		kernels[i].symbol = strdup(name);
		if (cuda_symbol_parse(name, &symbol) == -ENOMEM || !kernels[i].symbol)
			return cuda_no_memory(fault_out, "a program");
		kernels[i].name = strdup(symbol ? symbol->name : name);
		if (!kernels[i].name)
			return cuda_no_memory(fault_out, "a program");
	}
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(device, cu, result, fault_out, "cannot list the kernels");
}

static int load_modules(struct backend_device *device, const void *binary, size_t binary_bytes,
			struct cuda_modules *modules, struct backend_fault *fault_out)
{
	int error = cuda_binary_unpack(binary, binary_bytes, &modules->binary);

	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "a program");
	if (error < 0 || modules->binary->flags & CUDA_BINARY_OBJECT)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"this is not a binary for a CUDA device");
	modules->waits = true;
	for (uint32_t i = 0; error == 0 && i < modules->binary->image_count; i++) {
		if (program_load_with_wait(device, &modules->binary->images[i],
					   &modules->modules[i]))
			continue;
		modules->waits = false;
		error = load_image(device, &modules->binary->images[i], &modules->modules[i],
				   fault_out);
	}
	if (error == 0 && modules->binary->kernel_count == 0)
		error = list_functions(device, modules, fault_out);
	if (error < 0 || modules->binary->flags & CUDA_BINARY_NATIVE)
		return error;
	modules->bytes = malloc(binary_bytes);
	if (!modules->bytes)
		return cuda_no_memory(fault_out, "a program");
	memcpy(modules->bytes, binary, binary_bytes);
	modules->count = binary_bytes;
	return 0;
}

/*
 * Finds a program that is loaded already, adds a reference and moves it to the front of the list.
 */
static struct cuda_modules *cuda_find_loaded(struct cuda_kernels *kernels, const void *binary,
					     size_t binary_bytes)
{
	(void)pthread_mutex_lock(&kernels->lock);
	struct cuda_modules **link = &kernels->modules, *found = NULL;
	while (*link && !((*link)->bytes && (*link)->count == binary_bytes &&
			  memcmp((*link)->bytes, binary, binary_bytes) == 0))
		link = &(*link)->next;
	found = *link;
	if (found) {
		found->references++;
		*link = found->next;
		found->next = kernels->modules;
		kernels->modules = found;
	}
	(void)pthread_mutex_unlock(&kernels->lock);
	return found;
}

/* Removes from the list the programs that are not held and cannot be found again, or that were not
 * used for long. */
static struct cuda_modules *modules_take_idle(struct cuda_kernels *kernels, uint32_t keep)
{
	struct cuda_modules *idle = NULL;
	uint32_t kept = 0;

	(void)pthread_mutex_lock(&kernels->lock);
	for (struct cuda_modules **link = &kernels->modules; *link;) {
		struct cuda_modules *modules = *link;
		bool stays = modules->references > 0 || (modules->bytes && kept < keep);
		kept += stays && modules->references == 0;
		if (stays) {
			link = &modules->next;
			continue;
		}
		*link = modules->next;
		modules->next = idle;
		idle = modules;
	}
	(void)pthread_mutex_unlock(&kernels->lock);
	return idle;
}

static void unload_idle(struct backend_device *device, uint32_t keep)
{
	struct cuda_modules *idle = modules_take_idle(device->kernels, keep);

	while (idle) {
		struct cuda_modules *next = idle->next;
		modules_end(device, idle);
		idle = next;
	}
}

void cuda_modules_close(struct backend_device *device)
{
	unload_idle(device, 0);
}

static void drop_modules(struct cuda_kernels *kernels, struct cuda_modules *modules)
{
	(void)pthread_mutex_lock(&kernels->lock);
	modules->references--;
	(void)pthread_mutex_unlock(&kernels->lock);
}

/* If device memory runs out, programs that are kept only for later use are unloaded first. */
static int load_with_room(struct backend_device *device, const void *binary, size_t binary_bytes,
			  struct cuda_modules **modules_out, struct backend_fault *fault_out)
{
	int error = 0;

	for (int turn = 0; turn < 2; turn++) {
		struct cuda_modules *modules = calloc(1, sizeof(*modules));
		if (!modules)
			return cuda_no_memory(fault_out, "a program");
		modules->references = 1;
		error = load_modules(device, binary, binary_bytes, modules, fault_out);
		if (error == 0) {
			*modules_out = modules;
			return 0;
		}
		modules_end(device, modules);
		if (error != -ENOMEM)
			return error;
		unload_idle(device, 0);
	}
	return error;
}

bool cuda_program_is_loaded(struct backend_device *device, const void *binary, size_t binary_bytes)
{
	struct cuda_modules *found = cuda_find_loaded(device->kernels, binary, binary_bytes);

	if (found)
		drop_modules(device->kernels, found);
	return found != NULL;
}

int cuda_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
		      struct backend_program **program_out, struct backend_fault *fault_out)
{
	struct cuda_kernels *kernels = device->kernels;
	int error = cuda_enter(device, fault_out);

	if (error < 0)
		return error;
	struct backend_program *program = calloc(1, sizeof(*program));
	if (!program)
		return cuda_no_memory(fault_out, "a program");
	program->device = device;
	atomic_store_explicit(&program->references, 1, memory_order_relaxed);
	program->modules = cuda_find_loaded(kernels, binary, binary_bytes);
	if (!program->modules) {
		unload_idle(device, IDLE_MODULES_MAX);
		error = load_with_room(device, binary, binary_bytes, &program->modules, fault_out);
		if (error < 0 || !program->modules) {
			free(program);
			return error;
		}
		(void)pthread_mutex_lock(&kernels->lock);
		program->modules->next = kernels->modules;
		kernels->modules = program->modules;
		(void)pthread_mutex_unlock(&kernels->lock);
	}
	*program_out = program;
	return 0;
}

int cuda_program_kernels(struct backend_program *program, char **names_out,
			 struct backend_fault *fault_out)
{
	const struct cuda_binary *binary = program->modules->binary;
	size_t bytes = 1;

	for (uint32_t i = 0; i < binary->kernel_count; i++)
		bytes += strlen(binary->kernels[i].name) + 1;
	char *names = calloc(1, bytes);
	if (!names)
		return cuda_no_memory(fault_out, "a program");
	char *at = names;
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		at = stpcpy(at, binary->kernels[i].name) + 1;
	*names_out = names;
	return 0;
}

void cuda_program_hold(struct backend_program *program)
{
	(void)atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
}

void cuda_program_drop(struct backend_program *program)
{
	if (!program)
		return;
	struct cuda_kernels *kernels = program->device->kernels;
	/* The count is read before, because afterwards the program may be freed. Templates change
	 * only while the device's thread has a reference of its own. */
	uint32_t templates = atomic_load_explicit(&program->templates, memory_order_acquire);
	uint32_t left =
		atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) - 1;
	if (left > 0 && left == templates)
		atomic_store_explicit(&kernels->was_abandoned, true, memory_order_release);
	if (left > 0)
		return;
	drop_modules(kernels, program->modules);
	free(program);
}

void cuda_program_free(struct backend_program *program)
{
	if (!program)
		return;
	struct backend_device *device = program->device;
	cuda_program_drop(program);
	cuda_abandoned_notify(device);
}

void cuda_abandoned_notify(struct backend_device *device)
{
	_Atomic bool *flag = &device->kernels->was_abandoned;
	bool was_abandoned = atomic_load_explicit(flag, memory_order_relaxed) &&
			     atomic_exchange_explicit(flag, false, memory_order_acq_rel);

	if (was_abandoned && device->on_abandoned)
		device->on_abandoned(device);
}

void cuda_code_keep(struct backend_program *program)
{
	cuda_program_hold(program);
	(void)atomic_fetch_add_explicit(&program->templates, 1, memory_order_relaxed);
}

void cuda_code_release(struct backend_program *program)
{
	if (!program)
		return;
	(void)atomic_fetch_sub_explicit(&program->templates, 1, memory_order_relaxed);
	cuda_program_drop(program);
}

bool cuda_code_is_abandoned(const struct backend_program *program)
{
	return atomic_load_explicit(&program->references, memory_order_acquire) ==
	       atomic_load_explicit(&program->templates, memory_order_relaxed);
}
