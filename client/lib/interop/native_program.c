/* Kernels and bundles over native ones (J9 - J13). */
#include "interop/native.h"

#include "syclclient/native.h"

#include <stdlib.h>
#include <string.h>

/* A bundle to be made of programs or kernels, by the rules of their kind. */
struct plan {
	struct context *context;
	struct device **devices; /* the context's devices */
	uint32_t device_count;
	sycl_backend backend;
	sycl_bundle_state state;
	uint64_t natives[NATIVES_MAX];
	uint32_t count;
};

/* J11, J12: `code` replaces the code of a failure in the backend; its text stays. */
static sycl_result program_refuse(sycl_result result, sycl_result code)
{
	struct failure why = {.code = result};
	error_get(&why);
	bool of_backend = why.native_code != 0 || why.code == SYCL_ERROR_BUILD;
	if (of_backend)
		why.code = code;
	return error_set_failure(&why);
}

static sycl_result plan_init(struct plan *plan, struct context *context, sycl_backend backend,
			     int kind)
{
	*plan = (struct plan){.context = context,
			      .devices = context->devices,
			      .device_count = context->device_count,
			      .backend = backend};
	sycl_result result = native_check(context->object.connection,
					  device_backend(context->devices[0]), backend, kind);
	return result ? result : remote_check(&context->remote);
}

static sycl_result program_describe(const struct plan *plan, int kind, uint64_t native,
				    struct native_facts *facts)
{
	return native_describe(plan->context->object.connection, plan->backend, kind, native,
			       plan->context, facts);
}

/* Adds one image for each device, made of `count` native programs. */
static sycl_result add_images(const struct plan *plan, struct bundle *bundle, uint32_t count,
			      const uint64_t *natives)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t d = 0; d < plan->device_count && !result; d++) {
		result = bundle_image_make_native(plan->context, plan->devices[d], plan->state,
						  count, natives,
						  &bundle->images[bundle->image_count]);
		if (!result)
			bundle->image_count++;
	}
	return result;
}

/* Executables are kept. Programs that must become executable are linked into one. Inputs and
 * objects become one image each. */
static sycl_result bundle_fill(const struct plan *plan, struct bundle *bundle)
{
	uint64_t parts[NATIVES_MAX];
	uint32_t part_count = 0;
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < plan->count && !result; i++) {
		struct native_facts facts;
		result = program_describe(plan, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM,
					  plan->natives[i], &facts);
		if (result)
			break;
		if (plan->state == SYCL_BUNDLE_EXECUTABLE && facts.state != SYCL_BUNDLE_EXECUTABLE)
			parts[part_count++] = plan->natives[i];
		else
			result = add_images(plan, bundle, 1, &plan->natives[i]);
	}
	return result || part_count == 0 ? result : add_images(plan, bundle, part_count, parts);
}

static sycl_result bundle_from_native(const struct plan *plan, struct bundle **bundle_out)
{
	struct bundle *bundle = NULL;
	if ((uint32_t)plan->state > SYCL_BUNDLE_EXECUTABLE)
		return error_set(SYCL_ERROR_INVALID, "%d is no state of a bundle",
				 (int)plan->state);
	sycl_result result = bundle_new(plan->context, plan->state, plan->device_count,
					plan->devices, plan->count * plan->device_count, &bundle);
	if (result)
		return result;
	result = bundle_fill(plan, bundle);
	if (result)
		return bundle_discard(bundle, result);
	*bundle_out = bundle;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_make_native(sycl_context handle, sycl_backend backend,
						    sycl_bundle_state state, uint64_t native,
						    sycl_kernel_bundle *bundle_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(bundle_out);
	struct plan plan;
	struct bundle *bundle = NULL;
	error_set_build_log(NULL);
	sycl_result result =
		plan_init(&plan, context, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM);
	if (result)
		return result;
	plan.state = state;
	plan.natives[0] = native;
	plan.count = 1;
	result = bundle_from_native(&plan, &bundle);
	return result ? program_refuse(result, SYCL_ERROR_INVALID)
		      : bundle_finish(bundle, bundle_out);
}

/* Checks that the devices are the context's, and that no device occurs twice. `chosen` has room for
 * all devices of the context. */
static sycl_result plan_choose_devices(struct plan *plan, uint32_t count,
				       const sycl_device *handles, struct device **chosen)
{
	if (count > plan->context->device_count || (count > 0 && !handles))
		return error_set(SYCL_ERROR_INVALID, "%u devices, or NULL; the context has %u",
				 count, plan->context->device_count);
	for (uint32_t i = 0; i < count; i++) {
		PIN(device, device, handles[i]);
		if (!context_has(plan->context, device))
			return error_set(SYCL_ERROR_INVALID, "device %u is not one of the context",
					 i);
		for (uint32_t k = 0; k < i; k++)
			if (chosen[k] == device)
				return error_set(SYCL_ERROR_INVALID, "device %u is named twice", i);
		chosen[i] = device; /* the context holds it */
	}
	if (count > 0) {
		plan->devices = chosen;
		plan->device_count = count;
	}
	return SYCL_SUCCESS;
}

static sycl_result check_count(uint32_t count, const uint64_t *natives)
{
	if (count == 0 || count > NATIVES_MAX || !natives)
		return error_set(SYCL_ERROR_INVALID,
				 "%u native objects were given; 1 to %u are allowed", count,
				 NATIVES_MAX);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_make_natives(sycl_context handle, uint32_t device_count,
						     const sycl_device *devices,
						     sycl_backend backend, sycl_bundle_state state,
						     uint32_t count, const uint64_t *natives,
						     sycl_kernel_bundle *bundle_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(bundle_out);
	struct plan plan;
	struct bundle *bundle = NULL;
	error_set_build_log(NULL);
	sycl_result result =
		plan_init(&plan, context, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM);
	if (!result)
		result = check_count(count, natives);
	if (result)
		return result;
	struct device **chosen = calloc(context->device_count, sizeof(struct device *));
	if (!chosen)
		return error_no_memory();
	result = plan_choose_devices(&plan, device_count, devices, chosen);
	plan.state = state;
	plan.count = count;
	memcpy(plan.natives, natives, count * sizeof(*natives));
	if (!result)
		result = bundle_from_native(&plan, &bundle);
	free(chosen);
	return result ? program_refuse(result, SYCL_ERROR_BUILD)
		      : bundle_finish(bundle, bundle_out);
}

/* Keeps only the named kernels. Another kernel of the program may have no arguments yet, or another
 * bundle's name. */
static sycl_result name_kernels(struct bundle *bundle, const uint64_t *programs, char (*names)[256],
				uint32_t count)
{
	for (uint32_t i = 0; i < bundle->image_count; i++) {
		struct bundle_image *image = bundle->images[i];
		for (uint32_t k = 0; k < image->name_count; k++)
			free(image->names[k]);
		free(image->names);
		image->name_count = 0;
		image->names_left_out = false;
		image->names = calloc(count + 1u, sizeof(char *));
		for (uint32_t k = 0; image->names && k < count; k++) {
			if (programs[k] != image->native ||
			    bundle_image_has(image, names[k], false))
				continue;
			image->names[image->name_count] = strdup(names[k]);
			if (!image->names[image->name_count])
				break;
			image->name_count++;
		}
		if (!image->names || image->name_count == 0)
			return error_no_memory();
	}
	return SYCL_SUCCESS;
}

/* Finds the programs of the kernels, each program once. */
static sycl_result find_programs(struct plan *plan, uint32_t count, const uint64_t *kernels,
				 uint64_t *programs, char (*names)[256])
{
	for (uint32_t i = 0; i < count; i++) {
		struct native_facts facts;
		sycl_result result = program_describe(
			plan, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL, kernels[i], &facts);
		if (result)
			return result;
		programs[i] = facts.program;
		memcpy(names[i], facts.name, sizeof(facts.name));
		uint32_t k = 0;
		while (k < plan->count && plan->natives[k] != facts.program)
			k++;
		if (k == plan->count)
			plan->natives[plan->count++] = facts.program;
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_from_native_kernels(sycl_context handle,
							    uint32_t device_count,
							    const sycl_device *devices,
							    sycl_backend backend, uint32_t count,
							    const uint64_t *natives,
							    sycl_kernel_bundle *bundle_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(bundle_out);
	struct plan plan;
	struct bundle *bundle = NULL;
	uint64_t programs[NATIVES_MAX];
	error_set_build_log(NULL);
	sycl_result result =
		plan_init(&plan, context, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL);
	if (!result)
		result = check_count(count, natives);
	if (result)
		return result;
	struct device **chosen = calloc(context->device_count, sizeof(struct device *));
	char(*names)[256] = calloc(count, sizeof(*names));
	result = chosen && names ? plan_choose_devices(&plan, device_count, devices, chosen)
				 : error_no_memory();
	plan.state = SYCL_BUNDLE_EXECUTABLE;
	if (!result)
		result = find_programs(&plan, count, natives, programs, names);
	if (!result)
		result = bundle_from_native(&plan, &bundle);
	if (!result && bundle)
		result = name_kernels(bundle, programs, names, count);
	if (result && bundle)
		result = bundle_discard(bundle, result);
	free(chosen);
	free(names);
	return result ? program_refuse(result, SYCL_ERROR_BUILD)
		      : bundle_finish(bundle, bundle_out);
}

SYCL_API sycl_result sycl_kernel_make_native(sycl_context handle, sycl_backend backend,
					     uint64_t native, sycl_kernel *kernel_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(kernel_out);
	struct plan plan;
	struct bundle *bundle = NULL;
	struct native_facts facts;
	sycl_kernel_bundle held = NULL;
	error_set_build_log(NULL);
	sycl_result result =
		plan_init(&plan, context, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL);
	if (!result)
		result = program_describe(&plan, SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL, native,
					  &facts);
	if (result)
		return result;
	plan.state = SYCL_BUNDLE_EXECUTABLE;
	plan.natives[0] = facts.program;
	plan.count = 1;
	result = bundle_from_native(&plan, &bundle);
	if (!result)
		result = bundle_finish(bundle, &held);
	if (result)
		return program_refuse(result, SYCL_ERROR_INVALID);
	result = kernel_make_native(bundle, facts.name, native, kernel_out);
	struct failure why = {.code = result};
	error_get(&why);
	(void)sycl_kernel_bundle_release(held);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}
