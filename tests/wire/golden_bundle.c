/*
 * Objects and what is linked of them (command.proto, build.proto), as version 0.1 sends it. If a test here fails, old peers
 * break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "build.pb-c.h"
#include "command.pb-c.h"

TestSuite(golden_bundle, .timeout = 10);

#define BUNDLE  0x400000100000002ull
#define OTHER   0x400000100000003ull
#define CONTEXT 0x100000100000001ull

static const uint8_t command_with_bundle_link_v0_1[] = {
	0xba, 0x01, 0x2f, /* bundle_link: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
		0x10, 0x81, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000001 */
		0x18, 0x03, /* device = 3 */
		0x22, 0x12, /* bundles: */
			0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* 0x400000100000002 */
			0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* 0x400000100000003 */
		0x2a, 0x03, 0x2d, 0x4f, 0x32, /* options = "-O2" */
};

Test(golden_bundle, command_with_bundle_link_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BundleLink link = SYCL__V1__BUNDLE_LINK__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_LINK;
	message.bundle_link = &link;
	link.bundle = BUNDLE;
	link.context = CONTEXT;
	link.device = 3;
	link.n_bundles = 2;
	link.bundles = (uint64_t[]){ BUNDLE, OTHER };
	link.options = TEXT("-O2");
	assert_golden(&message.base, BYTES_OF(command_with_bundle_link_v0_1));
}

static const uint8_t bundle_build_of_an_object_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x20, 0x07, /* kind = SPIRV */
	0x40, 0x01, /* compile_only = 1 */
};

Test(golden_bundle, bundle_build_of_an_object_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	message.bundle = BUNDLE;
	message.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_SPIRV;
	message.compile_only = true;
	assert_golden(&message.base, BYTES_OF(bundle_build_of_an_object_v0_1));
}

static const uint8_t build_result_with_more_kernels_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x30, 0xac, 0x02, /* kernels_left_out = 300 */
};

Test(golden_bundle, build_result_with_more_kernels_bytes_never_change)
{
	Sycl__V1__BuildResult message = SYCL__V1__BUILD_RESULT__INIT;
	message.bundle = BUNDLE;
	message.kernels_left_out = 300;
	assert_golden(&message.base, BYTES_OF(build_result_with_more_kernels_v0_1));
}

static const uint8_t argument_facts_with_an_address_v0_1[] = {
	0x08, 0x02, /* kind = GLOBAL */
	0x30, 0x03, /* address = constant */
};

Test(golden_bundle, argument_facts_with_an_address_bytes_never_change)
{
	Sycl__V1__ArgumentFacts message = SYCL__V1__ARGUMENT_FACTS__INIT;
	message.kind = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL;
	message.address = 3;
	assert_golden(&message.base, BYTES_OF(argument_facts_with_an_address_v0_1));
}

static const uint8_t build_job_that_links_v0_1[] = {
	0x08, 0x07, /* job = 7 */
	0x10, 0x02, /* backend = 2 */
	0x50, 0x02, /* action = LINK */
};

Test(golden_bundle, build_job_that_links_bytes_never_change)
{
	Sycl__V1__BuildJob message = SYCL__V1__BUILD_JOB__INIT;
	message.job = 7;
	message.backend = 2;
	message.action = SYCL__V1__BUILD_ACTION__BUILD_ACTION_LINK;
	assert_golden(&message.base, BYTES_OF(build_job_that_links_v0_1));
}
