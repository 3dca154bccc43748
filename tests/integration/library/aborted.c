/*
 * An engine of a private service ends because native code in it fails an assertion, or calls
 * abort(), on the CPU device. The service's log has the message. The client's error contains it and
 * blames no command group.
 */
#include "private_service.h"
#include "syclclient.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(aborted, .timeout = 120);

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

static struct private_service *service;

static void build_and_launch(sycl_queue queue, const char *source, const char *name)
{
	sycl_context context = NULL;
	sycl_kernel_bundle input = NULL, bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_OPENCL_C, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_build(input, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_single_task(handler, kernel));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_result result = sycl_queue_wait(queue);
	cr_assert(ne(int, result, SYCL_SUCCESS));
}

static void abort_by(const char *source, const char *name, const char *logged, const char *reported)
{
	const char *arguments[] = {"--cache-dir", TEST_CACHE, NULL};
	sycl_platform platform = NULL;
	sycl_device device = NULL;
	sycl_queue queue = NULL;
	cr_assert(eq(int, private_service_start(NULL, arguments, &service), 0));
	service->faults = true;
	MUST(sycl_platform_open(service->endpoint, &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	build_and_launch(queue, source, name);
	cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), reported), NULL), "%s",
		  sycl_get_last_error_text());
	cr_expect(eq(ptr, strstr(sycl_get_last_error_text(), "one of them at fault"), NULL), "%s",
		  sycl_get_last_error_text());
	(void)sycl_queue_release(queue);
	(void)sycl_device_release(device);
	(void)sycl_platform_release(platform);
	bool has = private_service_has_logged(service, logged);
	for (int i = 0; i < 1000 && !has; i++) {
		json_decref(private_service_status(service));
		has = private_service_has_logged(service, logged);
	}
	if (!has)
		private_service_print_log(service);
	service = private_service_free(service);
	cr_assert(has, "the log does not say \"%s\"", logged);
}

/* PoCL links only its own functions, so the kernel makes the system call by instructions of this
 * processor. */
#if defined(__x86_64__)
Test(aborted, an_assertion_of_native_code_is_in_the_log_and_the_reason)
{
	abort_by(
		"__constant char what[] = \"found->ref_count > 0\", where[] = \"library.c\", who[] = \"f\";\n"
		"__kernel void fails(void)\n"
		"{ __asm__ volatile(\"andq $-16, %%rsp; call __assert_fail@PLT\" : : \"D\"((ulong)what), \"S\"((ulong)where),\n"
		"  \"d\"(12), \"c\"((ulong)who) : \"memory\"); }\n",
		"fails", "says: library.c:12: f: Assertion `found->ref_count > 0' failed.",
		"no command group is known to be at fault: library.c:12");
}

Test(aborted, that_native_code_has_called_abort_is_in_the_log_and_the_reason)
{
	abort_by(
		"__kernel void ends(void) { __asm__ volatile(\"andq $-16, %%rsp; call abort@PLT\" : : : \"memory\"); }\n",
		"ends", "aborted by itself: a library has called abort()",
		"no command group is known to be at fault: a library has called abort()");
}
#else
Test(aborted, nothing_is_known_of_this_processor)
{
	(void)abort_by;
	cr_skip_test("the kernels are written for x86-64");
}
#endif

/* The folder is new: it has no earlier builds. */
Test(aborted, what_is_being_built_is_in_the_log)
{
	static const char source[] = "__kernel void nothing_more(__global uint *to) { to[0] = 1; }";
	char folder[] = "/tmp/sycl-cold-build.XXXXXX", logged[160], name[128] = "", command[96];
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	const char *arguments[] = {"--cache-dir", folder, NULL};
	sycl_platform platform = NULL;
	sycl_device device = NULL;
	sycl_queue queue = NULL;
	sycl_context context = NULL;
	sycl_kernel_bundle input = NULL, bundle = NULL;
	cr_assert(eq(int, private_service_start(NULL, arguments, &service), 0));
	MUST(sycl_platform_open(service->endpoint, &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_OPENCL_C, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_build(input, NULL, &bundle));
	(void)snprintf(logged, sizeof(logged),
		       "says: builds kernel 'nothing_more' (%zu bytes of OpenCL C) for %.20s",
		       strlen(source), name);
	bool has = private_service_has_logged(service, logged);
	for (int i = 0; i < 1000 && !has; i++) {
		json_decref(private_service_status(service));
		has = private_service_has_logged(service, logged);
	}
	if (!has)
		private_service_print_log(service);
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_context_release(context));
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(platform));
	service = private_service_free(service);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	cr_expect(eq(int, system(command), 0));
	cr_assert(has, "the log does not say \"%s\"", logged);
}
