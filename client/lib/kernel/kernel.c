/* Kernels of a bundle, with the service's facts of their arguments. */
#include "kernel/bundle.h"
#include "nearest_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget_arguments(struct kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->argument_count; i++) {
		free(kernel->arguments[i].type_name);
		free(kernel->arguments[i].name);
	}
	free(kernel->arguments);
}

static void kernel_destroy(struct object *object)
{
	struct kernel *kernel = (struct kernel *)object;
	connection_await_writer(object->connection);
	for (uint32_t i = 0; i < kernel->other_count; i++)
		object_unref(&kernel->others[i]->object);
	remote_release(object->connection, &kernel->remote);
	free(kernel->remote.why);
	if (kernel->bundle)
		object_unref(&kernel->bundle->object);
	object_unref(&kernel->image->object);
	forget_arguments(kernel);
	free(kernel->others);
	free(kernel->name);
	object_delete(object);
}

struct kernel *kernel_on(struct kernel *kernel, const struct device *device)
{
	if (kernel->image->device == device)
		return kernel;
	for (uint32_t i = 0; i < kernel->other_count; i++)
		if (kernel->others[i]->image->device == device)
			return kernel->others[i];
	return NULL;
}

struct kernel_answer {
	struct kernel *kernel;
	bool known;
};

static void take_argument(const Sycl__V1__ArgumentFacts *facts, struct kernel_argument *argument)
{
	argument->kind = (uint32_t)facts->kind;
	argument->size_bytes = facts->size_bytes;
	argument->address =
		facts->address <= SYCL_ADDRESS_LOCAL ? facts->address : SYCL_ADDRESS_UNKNOWN;
	argument->is_const = facts->is_const;
	argument->qualifiers = facts->qualifiers;
	argument->access = facts->access;
	/* Without memory they stay unknown, because they only serve people. */
	argument->type_name = facts->type_name[0] ? strdup(facts->type_name) : NULL;
	argument->name = facts->name[0] ? strdup(facts->name) : NULL;
}

static void take_kernel(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_KERNEL)
		return;
	struct kernel_answer *answer = pending->context;
	struct kernel *kernel = answer->kernel;
	const Sycl__V1__KernelFacts *facts = reply->kernel;
	if (facts->n_arguments > KERNEL_ARGUMENTS_MAX)
		return;
	kernel->arguments = calloc(facts->n_arguments + 1, sizeof(*kernel->arguments));
	if (!kernel->arguments)
		return;
	kernel->argument_count = (uint32_t)facts->n_arguments;
	for (uint32_t i = 0; i < kernel->argument_count; i++)
		take_argument(facts->arguments[i], &kernel->arguments[i]);
	kernel->max_work_group_size = facts->max_work_group_size;
	kernel->preferred_multiple = facts->preferred_multiple;
	kernel->private_mem_bytes = facts->private_mem_bytes;
	kernel->local_mem_bytes = facts->local_mem_bytes;
	kernel->max_local_mem_bytes = facts->max_local_mem_bytes;
	kernel->registers = facts->registers;
	kernel->sub_group_size = facts->sub_group_size;
	kernel->is_native = facts->native ? 1 : 0;
	kernel->has_presets = facts->has_presets;
	for (size_t i = 0; i < 3 && i < facts->n_required_work_group_size; i++)
		kernel->required_work_group_size[i] = facts->required_work_group_size[i];
	for (size_t i = 0; i < 3 && i < facts->n_max_global_size; i++)
		kernel->max_global_size[i] = facts->max_global_size[i];
	answer->known = true;
}

static sycl_result kernel_request(struct kernel *kernel, const Sycl__V1__Command *command)
{
	struct kernel_answer answer = {.kernel = kernel};
	struct pending pending = {.take = take_kernel, .context = &answer};
	sycl_result result =
		connection_request(kernel->object.connection, command, &pending, UINT64_MAX);
	if (!result && !answer.known)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service's description of kernel '%.64s' could not be read",
				   kernel->name);
	return result;
}

static sycl_result kernel_create_native(struct kernel *kernel, uint64_t native)
{
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = kernel->remote.id;
	make.context = kernel->image->context->remote.id;
	make.device = kernel->image->device->facts->device;
	make.n_natives = 1;
	make.natives = &native;
	make.bundle = kernel->image->remote.id;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_NATIVE_MAKE;
	command.native_make = &make;
	return kernel_request(kernel, &command);
}

static sycl_result kernel_create_remote(struct kernel *kernel)
{
	Sycl__V1__KernelCreate create = SYCL__V1__KERNEL_CREATE__INIT;
	create.kernel = kernel->remote.id;
	create.bundle = kernel->image->remote.id;
	create.name = kernel->name;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_KERNEL_CREATE;
	command.kernel_create = &create;
	return kernel_request(kernel, &command);
}

/* Frees a kernel that the program never received. The last error stays. */
static sycl_result kernel_discard(struct kernel *kernel, sycl_result result)
{
	struct failure why = {.code = result};
	error_get(&why);
	object_unref(&kernel->object);
	return error_set_failure(&why);
}

/* Makes a kernel by a round trip. KERNEL: the image has no kernel of that name. `native`: the
 * application's kernel; 0: one of the image's. */
static sycl_result kernel_make_of_image(struct bundle_image *image, const char *name,
					uint64_t native, struct kernel **kernel_out)
{
	struct connection *c = image->object.connection;
	struct kernel *kernel = object_new(sizeof(*kernel), c);
	if (!kernel)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	kernel->name = strdup(name);
	sycl_result result =
		kernel->name ? remote_name(c, OBJECT_KERNEL, &kernel->remote) : error_no_memory();
	if (!result && handle_create(&kernel->object, HANDLE_KERNEL, kernel_destroy) < 0) {
		remote_forget(c, &kernel->remote);
		result = error_no_memory();
	}
	if (result) {
		free(kernel->name);
		object_delete(&kernel->object);
		return result;
	}
	kernel->image = image;
	object_ref(&image->object);
	result = native ? kernel_create_native(kernel, native) : kernel_create_remote(kernel);
	if (result)
		return kernel_discard(kernel, result);
	*kernel_out = kernel;
	return SYCL_SUCCESS;
}

static sycl_result kernel_make(struct bundle_image *image, const char *name,
			       struct kernel **kernel_out)
{
	return kernel_make_of_image(image, name, 0, kernel_out);
}

sycl_result kernel_make_native(struct bundle *bundle, const char *name, uint64_t native,
			       sycl_kernel *kernel_out)
{
	struct kernel *first = NULL;
	struct kernel **others = calloc(bundle->image_count + 1u, sizeof(struct kernel *));
	uint32_t other_count = 0;
	if (!others)
		return error_no_memory();
	sycl_result result = kernel_make_of_image(bundle->images[0], name, native, &first);
	for (uint32_t i = 1; !result && i < bundle->image_count; i++) {
		result =
			kernel_make_of_image(bundle->images[i], name, native, &others[other_count]);
		if (!result)
			object_keep(&others[other_count++]->object);
	}
	if (result) {
		struct failure why = {.code = result};
		error_get(&why);
		for (uint32_t i = 0; i < other_count; i++)
			object_unref(&others[i]->object);
		free(others);
		if (first)
			object_unref(&first->object);
		return error_set_failure(&why);
	}
	first->others = others;
	first->other_count = other_count;
	first->bundle = bundle;
	object_ref(&bundle->object);
	*kernel_out = handle_of(&first->object);
	return SYCL_SUCCESS;
}

/* Makes the kernel from the image that lists it. If no image lists it, searches each image for the
 * device, because a name may be written in several ways. */
static sycl_result kernel_make_for_device(const struct bundle *bundle, const struct device *device,
					  const char *name, struct kernel **kernel_out)
{
	struct bundle_image *listed = NULL;
	sycl_result result = SYCL_ERROR_KERNEL;
	for (uint32_t i = 0; i < bundle->image_count; i++) {
		struct bundle_image *image = bundle->images[i];
		if (image->device != device || !bundle_image_has(image, name, false))
			continue;
		if (listed)
			return error_set(SYCL_ERROR_INVALID,
					 "the bundle has two kernels '%.64s' for %s", name,
					 device->facts->name);
		listed = image;
	}
	if (listed)
		return kernel_make(listed, name, kernel_out);
	for (uint32_t i = 0; result == SYCL_ERROR_KERNEL && i < bundle->image_count; i++)
		if (bundle->images[i]->device == device)
			result = kernel_make(bundle->images[i], name, kernel_out);
	return result;
}

/* Names in the error's sentence, and their bytes. */
enum { NAMES_MAX = 8, NAMES_BYTES = 200 };

/* Returns the name that is most like `wrong` and was not listed before: equal ones keep the
 * bundle's order. `changes` of the listed ones is SIZE_MAX. */
static uint32_t kernel_next_name(const size_t *changes, uint32_t count)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < count; i++)
		if (changes[i] < changes[best])
			best = i;
	return best;
}

/* Refuses a name: the sentence lists the kernels that exist, those with a similar name first. */
static sycl_result kernel_is_missing(const struct bundle *bundle, const char *wrong)
{
	char list[NAMES_BYTES] = "";
	size_t length = 0;
	uint32_t listed = 0, count = bundle->kernel_count;
	size_t *changes = calloc(count + 1u, sizeof(*changes));
	for (uint32_t i = 0; changes && i < count; i++)
		changes[i] = word_changes(wrong, bundle->kernels[i]);
	for (; changes && listed < count && listed < NAMES_MAX; listed++) {
		uint32_t i = kernel_next_name(changes, count);
		int more = snprintf(list + length, sizeof(list) - length, "%s%s",
				    listed ? ", " : "", bundle->kernels[i]);
		if (more < 0 || (size_t)more >= sizeof(list) - length) {
			list[length] = '\0';
			break;
		}
		length += (size_t)more;
		changes[i] = SIZE_MAX;
	}
	free(changes);
	if (listed == 0)
		return error_set(SYCL_ERROR_KERNEL, "the bundle has no kernel '%.64s'", wrong);
	if (listed < count)
		return error_set(SYCL_ERROR_KERNEL,
				 "the bundle has no kernel '%.64s'; it has %s and %u more", wrong,
				 list, count - listed);
	return error_set(SYCL_ERROR_KERNEL, "the bundle has no kernel '%.64s'; it has %s", wrong,
			 list);
}

/* Makes the kernel for each device of the bundle that has it. The first one holds the others. */
static sycl_result kernels_make_all(const struct bundle *bundle, const char *name,
				    struct kernel **kernel_out)
{
	struct kernel *first = NULL;
	struct kernel **others = calloc(bundle->device_count + 1u, sizeof(struct kernel *));
	uint32_t other_count = 0;
	sycl_result result = SYCL_SUCCESS;
	if (!others)
		return error_no_memory();
	for (uint32_t d = 0; !result && d < bundle->device_count; d++) {
		struct kernel *made = NULL;
		result = kernel_make_for_device(bundle, bundle->devices[d], name, &made);
		if (result == SYCL_ERROR_KERNEL) { /* perhaps another device has it */
			result = SYCL_SUCCESS;
			continue;
		}
		if (result)
			break;
		if (first) {
			object_keep(&made->object);
			others[other_count++] = made;
		} else {
			first = made;
		}
	}
	if (!result && first) {
		first->others = others;
		first->other_count = other_count;
		*kernel_out = first;
		return SYCL_SUCCESS;
	}
	if (!result)
		result = kernel_is_missing(bundle, name);
	struct failure why = {.code = result};
	error_get(&why);
	for (uint32_t i = 0; i < other_count; i++)
		object_unref(&others[i]->object);
	free(others);
	if (first)
		object_unref(&first->object);
	return error_set_failure(&why);
}

SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle handle, const char *name,
					sycl_kernel *kernel_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(kernel_out);
	if (!name || !*name || strlen(name) > KERNEL_NAME_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a kernel's name has 1 to %u bytes",
				 KERNEL_NAME_BYTES_MAX);
	if (bundle->state != SYCL_BUNDLE_EXECUTABLE)
		return error_set(SYCL_ERROR_INVALID,
				 "only a bundle in the executable state has kernels");
	struct kernel *kernel = NULL;
	sycl_result result = kernels_make_all(bundle, name, &kernel);
	if (result)
		return result;
	kernel->bundle = bundle;
	object_ref(&bundle->object);
	*kernel_out = handle_of(&kernel->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out)
{
	REQUIRE_OUTPUT(kernel_out);
	sycl_kernel_bundle bundle = NULL;
	sycl_result result =
		sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
	if (result)
		return result;
	result = sycl_kernel_create(bundle, name, kernel_out);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	(void)sycl_kernel_bundle_release(bundle);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel)
{
	return handle_retain(kernel, HANDLE_KERNEL);
}

SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel)
{
	return handle_release(kernel, HANDLE_KERNEL);
}

SYCL_API sycl_result sycl_kernel_get_reference_count(sycl_kernel kernel, uint32_t *count_out)
{
	return handle_get_reference_count(kernel, HANDLE_KERNEL, count_out);
}
