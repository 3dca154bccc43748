/* Bundles and kernels behind a closed gate. These calls make round trips. An error of the backend
 * is an answer as well. */
#include "library/blocking.h"

#include <string.h>

static void blocking_release_bundle(sycl_kernel_bundle *bundle)
{
	if (*bundle)
		MUST(sycl_kernel_bundle_release(*bundle));
	*bundle = NULL;
}

/* Goes from a source through an object to an executable. */
static void call_states(const struct gated *gated, const char *source)
{
	sycl_kernel_bundle input = NULL, object = NULL, made = NULL;
	sycl_bundle_state state;
	(void)CALL(sycl_kernel_bundle_create_input, gated->context, 1, &gated->device,
		   SYCL_SOURCE_PORTABLE, source, 0, &input);
	(void)CALL(sycl_kernel_bundle_get_state, input, &state);
	(void)CALL(sycl_kernel_bundle_compile, input, NULL, &object);
	(void)CALL(sycl_kernel_bundle_link, 1, &object, NULL, &made);
	blocking_release_bundle(&made);
	(void)CALL(sycl_kernel_bundle_build, input, NULL, &made);
	blocking_release_bundle(&object);
	(void)CALL(sycl_kernel_bundle_join, 1, &made, &object);
	blocking_release_bundle(&made);
	blocking_release_bundle(&object);
	blocking_release_bundle(&input);
}

static void call_bundle(const struct gated *gated, sycl_kernel_bundle bundle)
{
	sycl_context context = NULL;
	sycl_kernel kernel = NULL;
	const char *text = NULL;
	void *pointer = NULL;
	uint32_t number = 0;
	int has = 0;
	CALL_MUST(sycl_kernel_bundle_retain, bundle);
	CALL_MUST(sycl_kernel_bundle_release, bundle);
	CALL_MUST(sycl_kernel_bundle_get_reference_count, bundle, &number);
	CALL_MUST(sycl_kernel_bundle_get_log, bundle, &text);
	CALL_MUST(sycl_kernel_bundle_get_context, bundle, &context);
	MUST(sycl_context_release(context));
	CALL_MUST(sycl_kernel_bundle_get_devices, bundle, 0, NULL, &number);
	CALL_MUST(sycl_kernel_bundle_has_kernel, bundle, "fill_u32", gated->device, &has);
	CALL_MUST(sycl_kernel_bundle_get_kernel_count, bundle, &number);
	CALL_MUST(sycl_kernel_bundle_get_kernel_name, bundle, 0, &text);
	(void)CALL(sycl_kernel_bundle_get_variable, bundle, gated->device, "table", &pointer, NULL);
	CALL_MUST(sycl_kernel_create, bundle, "fill_u32", &kernel);
	MUST(sycl_kernel_release(kernel));
}

static void call_streams(const struct gated *gated)
{
	sycl_buffer stream = NULL;
	uint64_t bytes = 0;
	CALL_MUST(sycl_stream_create, gated->platform, 64, &stream);
	(void)CALL(sycl_stream_read_for, stream, 0, 0, NULL, &bytes, NULL);
	MUST(sycl_buffer_release(stream));
}

void call_kernels(const struct gated *gated)
{
	const char *source = portable_engine_source();
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	uint32_t number = 0, size = 0;
	sycl_occupancy occupancy;
	(void)CALL(sycl_kernel_bundle_from_binary, gated->queue, source, strlen(source), &bundle);
	CALL_MUST(sycl_kernel_bundle_from_source, gated->queue, SYCL_SOURCE_PORTABLE, source, NULL,
		  &bundle);
	call_bundle(gated, bundle);
	blocking_release_bundle(&bundle);
	call_states(gated, source);
	(void)CALL(sycl_get_build_log);
	(void)CALL(sycl_kernel_from_source, gated->queue, "nonsense", "nonsense", &kernel);
	CALL_MUST(sycl_kernel_retain, gated->fill);
	CALL_MUST(sycl_kernel_release, gated->fill);
	CALL_MUST(sycl_kernel_get_reference_count, gated->fill, &number);
	CALL_MUST(sycl_kernel_get_info, gated->fill, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(number),
		  &number, NULL);
	(void)CALL(sycl_kernel_get_device_info, gated->fill, gated->device,
		   SYCL_KERNEL_INFO_NUM_ARGS, sizeof(number), &number, NULL);
	(void)CALL(sycl_kernel_get_argument_info, gated->fill, 0, (sycl_argument_info)1, 0, NULL,
		   NULL);
	CALL_MUST(sycl_kernel_get_bundle, gated->fill, &bundle);
	blocking_release_bundle(&bundle);
	(void)CALL(sycl_kernel_get_sub_groups, gated->fill, sycl_range1(1), &size, &number);
	(void)CALL(sycl_kernel_get_backend_info, gated->fill, 1, sizeof(number), &number, NULL);
	(void)CALL(sycl_kernel_get_occupancy, gated->fill, sycl_range1(1), 0, &occupancy);
	call_streams(gated);
}
