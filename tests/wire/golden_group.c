/*
 * A command group in the submit ring (command.proto), as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_group, .timeout = 10);

static const uint8_t command_group_with_launch_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x18, 0x01, /* wants_slot = 1 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000003 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */
	0x42, 0x0a, /* launch: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x60, 0x01, /* after_all = 1 */
};

Test(golden_group, command_group_with_launch_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__Requirement requirements0 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement requirements1 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__EventRef depends_on0 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef depends_on1 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.wants_slot = true;
	message.slot = 11;
	message.slot_value = 12;
	requirements0.buffer = 0x300000100000002ull;
	requirements1.buffer = 0x300000100000003ull;
	message.n_requirements = 2;
	message.requirements = (Sycl__V1__Requirement *[]){ &requirements0, &requirements1 };
	depends_on0.queue = 0x200000100000002ull;
	depends_on1.queue = 0x200000100000003ull;
	message.n_depends_on = 2;
	message.depends_on = (Sycl__V1__EventRef *[]){ &depends_on0, &depends_on1 };
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	launch.kernel = 0x500000100000002ull;
	message.launch = &launch;
	message.after_all = true;
	assert_golden(&message.base, BYTES_OF(command_group_with_launch_v0_1));
}

static const uint8_t command_group_with_copy_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x18, 0x01, /* wants_slot = 1 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000003 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */
	0x4a, 0x06, /* copy: */
		0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x60, 0x01, /* after_all = 1 */
};

Test(golden_group, command_group_with_copy_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__Requirement requirements0 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement requirements1 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__EventRef depends_on0 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef depends_on1 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__Copy copy = SYCL__V1__COPY__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.wants_slot = true;
	message.slot = 11;
	message.slot_value = 12;
	requirements0.buffer = 0x300000100000002ull;
	requirements1.buffer = 0x300000100000003ull;
	message.n_requirements = 2;
	message.requirements = (Sycl__V1__Requirement *[]){ &requirements0, &requirements1 };
	depends_on0.queue = 0x200000100000002ull;
	depends_on1.queue = 0x200000100000003ull;
	message.n_depends_on = 2;
	message.depends_on = (Sycl__V1__EventRef *[]){ &depends_on0, &depends_on1 };
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	copy.size_bytes = 4294971392ull;
	message.copy = &copy;
	message.after_all = true;
	assert_golden(&message.base, BYTES_OF(command_group_with_copy_v0_1));
}

static const uint8_t command_group_with_fill_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x18, 0x01, /* wants_slot = 1 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000003 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */
	0x52, 0x02, /* fill: */
		0x08, 0x08, /* requirement = 8 */
	0x60, 0x01, /* after_all = 1 */
};

Test(golden_group, command_group_with_fill_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__Requirement requirements0 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement requirements1 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__EventRef depends_on0 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef depends_on1 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.wants_slot = true;
	message.slot = 11;
	message.slot_value = 12;
	requirements0.buffer = 0x300000100000002ull;
	requirements1.buffer = 0x300000100000003ull;
	message.n_requirements = 2;
	message.requirements = (Sycl__V1__Requirement *[]){ &requirements0, &requirements1 };
	depends_on0.queue = 0x200000100000002ull;
	depends_on1.queue = 0x200000100000003ull;
	message.n_depends_on = 2;
	message.depends_on = (Sycl__V1__EventRef *[]){ &depends_on0, &depends_on1 };
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	fill.requirement = 8;
	message.fill = &fill;
	message.after_all = true;
	assert_golden(&message.base, BYTES_OF(command_group_with_fill_v0_1));
}

static const uint8_t command_group_with_host_update_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x18, 0x01, /* wants_slot = 1 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x32, 0x0a, /* requirements: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000003 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x3a, 0x0a, /* depends_on: */
		0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */
	0x5a, 0x02, /* host_update: */
		0x08, 0x08, /* requirement = 8 */
	0x60, 0x01, /* after_all = 1 */
};

Test(golden_group, command_group_with_host_update_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__Requirement requirements0 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement requirements1 = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__EventRef depends_on0 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef depends_on1 = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__HostUpdate host_update = SYCL__V1__HOST_UPDATE__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.wants_slot = true;
	message.slot = 11;
	message.slot_value = 12;
	requirements0.buffer = 0x300000100000002ull;
	requirements1.buffer = 0x300000100000003ull;
	message.n_requirements = 2;
	message.requirements = (Sycl__V1__Requirement *[]){ &requirements0, &requirements1 };
	depends_on0.queue = 0x200000100000002ull;
	depends_on1.queue = 0x200000100000003ull;
	message.n_depends_on = 2;
	message.depends_on = (Sycl__V1__EventRef *[]){ &depends_on0, &depends_on1 };
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
	host_update.requirement = 8;
	message.host_update = &host_update;
	message.after_all = true;
	assert_golden(&message.base, BYTES_OF(command_group_with_host_update_v0_1));
}

static const uint8_t requirement_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x10, 0x09, /* mode = 9 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
};

Test(golden_group, requirement_bytes_never_change)
{
	Sycl__V1__Requirement message = SYCL__V1__REQUIREMENT__INIT;
	message.buffer = 0x300000100000002ull;
	message.mode = 9;
	message.offset_bytes = 4294971392ull;
	message.size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(requirement_v0_1));
}

static const uint8_t event_ref_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
};

Test(golden_group, event_ref_bytes_never_change)
{
	Sycl__V1__EventRef message = SYCL__V1__EVENT_REF__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	assert_golden(&message.base, BYTES_OF(event_ref_v0_1));
}

static const uint8_t launch_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x12, 0x04, 0xac, 0x02, 0xad, 0x02, /* global = 300, 301 */
	0x1a, 0x04, 0xac, 0x02, 0xad, 0x02, /* local = 300, 301 */
	0x22, 0x04, 0xac, 0x02, 0xad, 0x02, /* offset = 300, 301 */
	0x2a, 0x08, /* arguments: */
		0x08, 0x08, /* accessor = 8 */
		0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x2a, 0x09, /* arguments: */
		0x08, 0x8a, 0x01, /* accessor = 138 */
		0x20, 0x80, 0xc0, 0x80, 0x80, 0x10, /* offset_bytes = 4294975488 */
};

Test(golden_group, launch_bytes_never_change)
{
	Sycl__V1__Launch message = SYCL__V1__LAUNCH__INIT;
	Sycl__V1__Argument arguments0 = SYCL__V1__ARGUMENT__INIT;
	Sycl__V1__Argument arguments1 = SYCL__V1__ARGUMENT__INIT;
	message.kernel = 0x500000100000002ull;
	message.n_global = 2;
	message.global = (uint64_t[]){ 300, 301 };
	message.n_local = 2;
	message.local = (uint64_t[]){ 300, 301 };
	message.n_offset = 2;
	message.offset = (uint64_t[]){ 300, 301 };
	arguments0.value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	arguments0.accessor = 8;
	arguments0.offset_bytes = 4294971392ull;
	arguments1.value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	arguments1.accessor = 138;
	arguments1.offset_bytes = 4294975488ull;
	message.n_arguments = 2;
	message.arguments = (Sycl__V1__Argument *[]){ &arguments0, &arguments1 };
	assert_golden(&message.base, BYTES_OF(launch_v0_1));
}

static const uint8_t argument_with_accessor_v0_1[] = {
	0x08, 0x08, /* accessor = 8 */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
};

Test(golden_group, argument_with_accessor_bytes_never_change)
{
	Sycl__V1__Argument message = SYCL__V1__ARGUMENT__INIT;
	message.value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	message.accessor = 8;
	message.offset_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(argument_with_accessor_v0_1));
}

static const uint8_t argument_with_bytes_v0_1[] = {
	0x12, 0x04, 0x00, 0x7f, 0x80, 0xff, /* bytes = 4 bytes */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
};

Test(golden_group, argument_with_bytes_bytes_never_change)
{
	Sycl__V1__Argument message = SYCL__V1__ARGUMENT__INIT;
	message.value_case = SYCL__V1__ARGUMENT__VALUE_BYTES;
	message.bytes = BYTES(0x00, 0x7f, 0x80, 0xff);
	message.offset_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(argument_with_bytes_v0_1));
}

static const uint8_t argument_with_local_bytes_v0_1[] = {
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* local_bytes = 4294971392 */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
};

Test(golden_group, argument_with_local_bytes_bytes_never_change)
{
	Sycl__V1__Argument message = SYCL__V1__ARGUMENT__INIT;
	message.value_case = SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES;
	message.local_bytes = 4294971392ull;
	message.offset_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(argument_with_local_bytes_v0_1));
}

static const uint8_t memory_end_with_requirement_v0_1[] = {
	0x08, 0x08, /* requirement = 8 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
};

Test(golden_group, memory_end_with_requirement_bytes_never_change)
{
	Sycl__V1__MemoryEnd message = SYCL__V1__MEMORY_END__INIT;
	message.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	message.requirement = 8;
	message.offset_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(memory_end_with_requirement_v0_1));
}

static const uint8_t memory_end_with_arena_v0_1[] = {
	0x12, 0x02, /* arena: */
		0x08, 0x08, /* arena = 8 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
};

Test(golden_group, memory_end_with_arena_bytes_never_change)
{
	Sycl__V1__MemoryEnd message = SYCL__V1__MEMORY_END__INIT;
	Sycl__V1__ArenaRange arena = SYCL__V1__ARENA_RANGE__INIT;
	message.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	arena.arena = 8;
	message.arena = &arena;
	message.offset_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(memory_end_with_arena_v0_1));
}

static const uint8_t copy_v0_1[] = {
	0x0a, 0x08, /* source: */
		0x08, 0x08, /* requirement = 8 */
		0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x12, 0x08, /* destination: */
		0x08, 0x08, /* requirement = 8 */
		0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
};

Test(golden_group, copy_bytes_never_change)
{
	Sycl__V1__Copy message = SYCL__V1__COPY__INIT;
	Sycl__V1__MemoryEnd source = SYCL__V1__MEMORY_END__INIT;
	Sycl__V1__MemoryEnd destination = SYCL__V1__MEMORY_END__INIT;
	source.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	source.requirement = 8;
	source.offset_bytes = 4294971392ull;
	message.source = &source;
	destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	destination.requirement = 8;
	destination.offset_bytes = 4294971392ull;
	message.destination = &destination;
	message.size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(copy_v0_1));
}

static const uint8_t fill_v0_1[] = {
	0x08, 0x08, /* requirement = 8 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x22, 0x04, 0x00, 0x7f, 0x80, 0xff, /* pattern = 4 bytes */
};

Test(golden_group, fill_bytes_never_change)
{
	Sycl__V1__Fill message = SYCL__V1__FILL__INIT;
	message.requirement = 8;
	message.offset_bytes = 4294971392ull;
	message.size_bytes = 4294971392ull;
	message.pattern = BYTES(0x00, 0x7f, 0x80, 0xff);
	assert_golden(&message.base, BYTES_OF(fill_v0_1));
}

static const uint8_t host_update_v0_1[] = {
	0x08, 0x08, /* requirement = 8 */
};

Test(golden_group, host_update_bytes_never_change)
{
	Sycl__V1__HostUpdate message = SYCL__V1__HOST_UPDATE__INIT;
	message.requirement = 8;
	assert_golden(&message.base, BYTES_OF(host_update_v0_1));
}

static const uint8_t host_access_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x06, /* accessor = 0x600000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x18, 0x0a, /* mode = 10 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
};

Test(golden_group, host_access_bytes_never_change)
{
	Sycl__V1__HostAccess message = SYCL__V1__HOST_ACCESS__INIT;
	message.accessor = 0x600000100000002ull;
	message.buffer = 0x300000100000002ull;
	message.mode = 10;
	message.slot = 11;
	message.slot_value = 12;
	assert_golden(&message.base, BYTES_OF(host_access_v0_1));
}
