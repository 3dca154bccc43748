/*
 * The submit ring (command.proto) without command groups, as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_command, .timeout = 10);

static const uint8_t command_with_release_v0_1[] = {
	0x0a, 0x0a, /* release: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_command, command_with_release_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__Release release = SYCL__V1__RELEASE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_RELEASE;
	release.object = 0x300000100000002ull;
	message.release = &release;
	assert_golden(&message.base, BYTES_OF(command_with_release_v0_1));
}

static const uint8_t command_with_arena_create_v0_1[] = {
	0x12, 0x02, /* arena_create: */
		0x08, 0x08, /* arena = 8 */
};

Test(golden_command, command_with_arena_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ArenaCreate arena_create = SYCL__V1__ARENA_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_ARENA_CREATE;
	arena_create.arena = 8;
	message.arena_create = &arena_create;
	assert_golden(&message.base, BYTES_OF(command_with_arena_create_v0_1));
}

static const uint8_t command_with_arena_destroy_v0_1[] = {
	0x1a, 0x02, /* arena_destroy: */
		0x08, 0x08, /* arena = 8 */
};

Test(golden_command, command_with_arena_destroy_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ArenaDestroy arena_destroy = SYCL__V1__ARENA_DESTROY__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	arena_destroy.arena = 8;
	message.arena_destroy = &arena_destroy;
	assert_golden(&message.base, BYTES_OF(command_with_arena_destroy_v0_1));
}

static const uint8_t command_with_discover_v0_1[] = {
	0x22, 0x00, /* discover, empty */
};

Test(golden_command, command_with_discover_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__Discover discover = SYCL__V1__DISCOVER__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_DISCOVER;
	message.discover = &discover;
	assert_golden(&message.base, BYTES_OF(command_with_discover_v0_1));
}

static const uint8_t command_with_context_create_v0_1[] = {
	0x2a, 0x0a, /* context_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000002 */
};

Test(golden_command, command_with_context_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ContextCreate context_create = SYCL__V1__CONTEXT_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_CONTEXT_CREATE;
	context_create.context = 0x100000100000002ull;
	message.context_create = &context_create;
	assert_golden(&message.base, BYTES_OF(command_with_context_create_v0_1));
}

static const uint8_t command_with_queue_create_v0_1[] = {
	0x32, 0x0a, /* queue_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
};

Test(golden_command, command_with_queue_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__QueueCreate queue_create = SYCL__V1__QUEUE_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_QUEUE_CREATE;
	queue_create.queue = 0x200000100000002ull;
	message.queue_create = &queue_create;
	assert_golden(&message.base, BYTES_OF(command_with_queue_create_v0_1));
}

static const uint8_t command_with_buffer_create_v0_1[] = {
	0x3a, 0x0a, /* buffer_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
};

Test(golden_command, command_with_buffer_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BufferCreate buffer_create = SYCL__V1__BUFFER_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	buffer_create.buffer = 0x300000100000002ull;
	message.buffer_create = &buffer_create;
	assert_golden(&message.base, BYTES_OF(command_with_buffer_create_v0_1));
}

static const uint8_t command_with_bundle_build_v0_1[] = {
	0x42, 0x10, /* bundle_build: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
		0x32, 0x04, 0x00, 0x7f, 0x80, 0xff, /* inline_source = 4 bytes */
};

Test(golden_command, command_with_bundle_build_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BundleBuild bundle_build = SYCL__V1__BUNDLE_BUILD__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	bundle_build.bundle = 0x400000100000002ull;
	bundle_build.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	bundle_build.inline_source = BYTES(0x00, 0x7f, 0x80, 0xff);
	message.bundle_build = &bundle_build;
	assert_golden(&message.base, BYTES_OF(command_with_bundle_build_v0_1));
}

static const uint8_t command_with_kernel_create_v0_1[] = {
	0x4a, 0x0a, /* kernel_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
};

Test(golden_command, command_with_kernel_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__KernelCreate kernel_create = SYCL__V1__KERNEL_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_KERNEL_CREATE;
	kernel_create.kernel = 0x500000100000002ull;
	message.kernel_create = &kernel_create;
	assert_golden(&message.base, BYTES_OF(command_with_kernel_create_v0_1));
}

static const uint8_t command_with_command_group_v0_1[] = {
	0x52, 0x0a, /* command_group: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
};

Test(golden_command, command_with_command_group_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__CommandGroup command_group = SYCL__V1__COMMAND_GROUP__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command_group.queue = 0x200000100000002ull;
	message.command_group = &command_group;
	assert_golden(&message.base, BYTES_OF(command_with_command_group_v0_1));
}

static const uint8_t command_with_host_access_v0_1[] = {
	0x5a, 0x0a, /* host_access: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x06, /* accessor = 0x600000100000002 */
};

Test(golden_command, command_with_host_access_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__HostAccess host_access = SYCL__V1__HOST_ACCESS__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	host_access.accessor = 0x600000100000002ull;
	message.host_access = &host_access;
	assert_golden(&message.base, BYTES_OF(command_with_host_access_v0_1));
}

static const uint8_t command_with_usage_query_v0_1[] = {
	0x62, 0x00, /* usage_query, empty */
};

Test(golden_command, command_with_usage_query_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__UsageQuery usage_query = SYCL__V1__USAGE_QUERY__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_USAGE_QUERY;
	message.usage_query = &usage_query;
	assert_golden(&message.base, BYTES_OF(command_with_usage_query_v0_1));
}

static const uint8_t command_with_profile_query_v0_1[] = {
	0x6a, 0x0a, /* profile_query: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
};

Test(golden_command, command_with_profile_query_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ProfileQuery profile_query = SYCL__V1__PROFILE_QUERY__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_PROFILE_QUERY;
	profile_query.queue = 0x200000100000002ull;
	message.profile_query = &profile_query;
	assert_golden(&message.base, BYTES_OF(command_with_profile_query_v0_1));
}

static const uint8_t command_with_ping_v0_1[] = {
	0x72, 0x00, /* ping, empty */
};

Test(golden_command, command_with_ping_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__Ping ping = SYCL__V1__PING__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_PING;
	message.ping = &ping;
	assert_golden(&message.base, BYTES_OF(command_with_ping_v0_1));
}

static const uint8_t release_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_command, release_bytes_never_change)
{
	Sycl__V1__Release message = SYCL__V1__RELEASE__INIT;
	message.object = 0x300000100000002ull;
	assert_golden(&message.base, BYTES_OF(release_v0_1));
}

static const uint8_t arena_create_v0_1[] = {
	0x08, 0x08, /* arena = 8 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
};

Test(golden_command, arena_create_bytes_never_change)
{
	Sycl__V1__ArenaCreate message = SYCL__V1__ARENA_CREATE__INIT;
	message.arena = 8;
	message.size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(arena_create_v0_1));
}

static const uint8_t arena_destroy_v0_1[] = {
	0x08, 0x08, /* arena = 8 */
};

Test(golden_command, arena_destroy_bytes_never_change)
{
	Sycl__V1__ArenaDestroy message = SYCL__V1__ARENA_DESTROY__INIT;
	message.arena = 8;
	assert_golden(&message.base, BYTES_OF(arena_destroy_v0_1));
}

static const uint8_t arena_range_v0_1[] = {
	0x08, 0x08, /* arena = 8 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
};

Test(golden_command, arena_range_bytes_never_change)
{
	Sycl__V1__ArenaRange message = SYCL__V1__ARENA_RANGE__INIT;
	message.arena = 8;
	message.offset_bytes = 4294971392ull;
	message.size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(arena_range_v0_1));
}

Test(golden_command, discover_bytes_never_change)
{
	Sycl__V1__Discover message = SYCL__V1__DISCOVER__INIT;
	assert_golden(&message.base, NO_BYTES);
}

Test(golden_command, ping_bytes_never_change)
{
	Sycl__V1__Ping message = SYCL__V1__PING__INIT;
	assert_golden(&message.base, NO_BYTES);
}

static const uint8_t context_create_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000002 */
	0x12, 0x03, 0x09, 0x8b, 0x01, /* devices = 9, 139 */
};

Test(golden_command, context_create_bytes_never_change)
{
	Sycl__V1__ContextCreate message = SYCL__V1__CONTEXT_CREATE__INIT;
	message.context = 0x100000100000002ull;
	message.n_devices = 2;
	message.devices = (uint32_t[]){ 9, 139 };
	assert_golden(&message.base, BYTES_OF(context_create_v0_1));
}

static const uint8_t queue_create_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000002 */
	0x18, 0x0a, /* device = 10 */
	0x20, 0x01, /* in_order = 1 */
	0x28, 0x01, /* enable_profiling = 1 */
	0x30, 0x0d, /* slot = 13 */
};

Test(golden_command, queue_create_bytes_never_change)
{
	Sycl__V1__QueueCreate message = SYCL__V1__QUEUE_CREATE__INIT;
	message.queue = 0x200000100000002ull;
	message.context = 0x100000100000002ull;
	message.device = 10;
	message.in_order = true;
	message.enable_profiling = true;
	message.slot = 13;
	assert_golden(&message.base, BYTES_OF(queue_create_v0_1));
}

static const uint8_t buffer_create_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x1a, 0x02, /* range: */
		0x08, 0x08, /* arena = 8 */
	0x20, 0x01, /* initialised = 1 */
};

Test(golden_command, buffer_create_bytes_never_change)
{
	Sycl__V1__BufferCreate message = SYCL__V1__BUFFER_CREATE__INIT;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	message.buffer = 0x300000100000002ull;
	message.size_bytes = 4294971392ull;
	range.arena = 8;
	message.range = &range;
	message.initialised = true;
	assert_golden(&message.base, BYTES_OF(buffer_create_v0_1));
}

static const uint8_t bundle_build_with_inline_source_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000002 */
	0x18, 0x0a, /* device = 10 */
	0x20, 0x02, /* kind = 2 */
	0x2a, 0x03, 0x2d, 0x4f, 0x32, /* options = "-O2" */
	0x32, 0x04, 0x00, 0x7f, 0x80, 0xff, /* inline_source = 4 bytes */
};

Test(golden_command, bundle_build_with_inline_source_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	message.bundle = 0x400000100000002ull;
	message.context = 0x100000100000002ull;
	message.device = 10;
	message.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_PORTABLE;
	message.options = TEXT("-O2");
	message.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	message.inline_source = BYTES(0x00, 0x7f, 0x80, 0xff);
	assert_golden(&message.base, BYTES_OF(bundle_build_with_inline_source_v0_1));
}

static const uint8_t bundle_build_with_arena_source_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000002 */
	0x18, 0x0a, /* device = 10 */
	0x20, 0x02, /* kind = 2 */
	0x2a, 0x03, 0x2d, 0x4f, 0x32, /* options = "-O2" */
	0x3a, 0x02, /* arena_source: */
		0x08, 0x08, /* arena = 8 */
};

Test(golden_command, bundle_build_with_arena_source_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	Sycl__V1__ArenaRange arena_source = SYCL__V1__ARENA_RANGE__INIT;
	message.bundle = 0x400000100000002ull;
	message.context = 0x100000100000002ull;
	message.device = 10;
	message.kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_PORTABLE;
	message.options = TEXT("-O2");
	message.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_ARENA_SOURCE;
	arena_source.arena = 8;
	message.arena_source = &arena_source;
	assert_golden(&message.base, BYTES_OF(bundle_build_with_arena_source_v0_1));
}

static const uint8_t kernel_create_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x1a, 0x05, 0x73, 0x61, 0x78, 0x70, 0x79, /* name = "saxpy" */
};

Test(golden_command, kernel_create_bytes_never_change)
{
	Sycl__V1__KernelCreate message = SYCL__V1__KERNEL_CREATE__INIT;
	message.kernel = 0x500000100000002ull;
	message.bundle = 0x400000100000002ull;
	message.name = TEXT("saxpy");
	assert_golden(&message.base, BYTES_OF(kernel_create_v0_1));
}

Test(golden_command, usage_query_bytes_never_change)
{
	Sycl__V1__UsageQuery message = SYCL__V1__USAGE_QUERY__INIT;
	assert_golden(&message.base, NO_BYTES);
}

static const uint8_t profile_query_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
};

Test(golden_command, profile_query_bytes_never_change)
{
	Sycl__V1__ProfileQuery message = SYCL__V1__PROFILE_QUERY__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	assert_golden(&message.base, BYTES_OF(profile_query_v0_1));
}
