/* Objects and links in the bare protocol: requests that the library would never send are refused,
 * and the session continues. */
#include "protocol/groups_fixture.h"

#include <string.h>

enum { FIRST_OBJECT = 40, SECOND_OBJECT = 41, LINKED = 50, KERNEL = 60 };

static void start_with_linker(uint32_t features)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features});
	groups_start();
}

static const Sycl__V1__Reply *compile(uint32_t index, Sycl__V1__SourceKind kind, const char *source)
{
	Sycl__V1__BundleBuild build = SYCL__V1__BUNDLE_BUILD__INIT;
	build.bundle = raw_id(OBJECT_BUNDLE, index);
	build.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	build.device = device;
	build.kind = kind;
	build.compile_only = true;
	build.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	build.inline_source = (ProtobufCBinaryData){strlen(source), (uint8_t *)(uintptr_t)source};
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = &build;
	return raw_reply_to(client, raw_send(client, &command));
}

static uint64_t send_link(uint32_t index, uint32_t of_device, size_t count, uint64_t *bundles)
{
	Sycl__V1__BundleLink link = SYCL__V1__BUNDLE_LINK__INIT;
	link.bundle = raw_id(OBJECT_BUNDLE, index);
	link.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	link.device = of_device;
	link.n_bundles = count;
	link.bundles = bundles;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_LINK;
	command.bundle_link = &link;
	return raw_send(client, &command);
}

/* A link that must fail with this status. */
static void refuse_link(uint32_t index, uint32_t of_device, size_t count, uint64_t *bundles,
			int32_t code)
{
	const Sycl__V1__Reply *reply =
		raw_reply_to(client, send_link(index, of_device, count, bundles));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_BUILD));
	cr_assert(ne(ptr, reply->status, NULL));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
}

Test(groups, J19_objects_become_a_program)
{
	start_with_linker(BACKEND_FEATURE_LINK);
	const Sycl__V1__Reply *reply =
		compile(FIRST_OBJECT, SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C,
			"fill_u32\nextern noop\n");
	cr_assert(eq(ptr, reply->status, NULL));
	cr_assert(eq(sz, reply->build->n_kernels, 0));
	reply = compile(SECOND_OBJECT, SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C, "noop\n");
	cr_assert(eq(ptr, reply->status, NULL));
	reply = groups_kernel(KERNEL, FIRST_OBJECT, "fill_u32");
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID));
	uint64_t bundles[] = {raw_id(OBJECT_BUNDLE, FIRST_OBJECT),
			      raw_id(OBJECT_BUNDLE, SECOND_OBJECT)};
	refuse_link(LINKED, device, 1, bundles, STATUS_BUILD);
	/* The objects may be released before the answer comes. */
	uint64_t number = send_link(LINKED + 1, device, 2, bundles);
	(void)raw_release(client, bundles[0]);
	(void)raw_release(client, bundles[1]);
	reply = raw_reply_to(client, number);
	cr_assert(eq(ptr, reply->status, NULL));
	cr_assert(eq(sz, reply->build->n_kernels, 2));
	reply = groups_kernel(KERNEL + 1, LINKED + 1, "fill_u32");
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_KERNEL));
	groups_stop();
}

Test(groups, J19_M12_links_of_what_is_no_object_are_refused)
{
	start_with_linker(BACKEND_FEATURE_LINK);
	uint64_t executable = raw_id(OBJECT_BUNDLE, BUNDLE), many[65];
	for (int i = 0; i < 65; i++)
		many[i] = executable;
	refuse_link(LINKED, device, 1, &executable, STATUS_INVALID);
	refuse_link(LINKED + 1, device, 0, NULL, STATUS_INVALID);
	refuse_link(LINKED + 2, device, 65, many, STATUS_INVALID);
	refuse_link(LINKED + 3, device + 1, 1, &executable, STATUS_INVALID);
	const Sycl__V1__Reply *reply =
		compile(FIRST_OBJECT, SYCL__V1__SOURCE_KIND__SOURCE_KIND_BUILTIN, "noop");
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID));
	uint64_t failed = raw_id(OBJECT_BUNDLE, FIRST_OBJECT);
	refuse_link(LINKED + 4, device, 1, &failed, STATUS_INVALID);
	groups_stop();
}

Test(groups, E19_J19_a_device_that_cannot_link_refuses_both)
{
	start_with_linker(0);
	const Sycl__V1__Reply *reply =
		compile(FIRST_OBJECT, SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C, "fill_u32\n");
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	uint64_t executable = raw_id(OBJECT_BUNDLE, BUNDLE);
	refuse_link(LINKED, device, 1, &executable, STATUS_FEATURE_NOT_SUPPORTED);
	reply = compile(SECOND_OBJECT, SYCL__V1__SOURCE_KIND__SOURCE_KIND_SPIRV,
			"\x03\x02\x23\x07");
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	groups_stop();
}
