/*
 * USM (command.proto), as version 0.1 sends it. If a test here fails, old peers break: add a field, never change one,
 * and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_usm, .timeout = 10);

#define ALLOCATION 0x800000100000002ull
#define CONTEXT    0x100000100000001ull
#define QUEUE      0x200000100000003ull
#define KERNEL     0x500000100000004ull
#define ADDRESS    0x120000200040ull

static const uint8_t command_with_placed_arena_v0_1[] = {
	0x12, 0x0f, /* arena_create: */
		0x08, 0x01, /* arena = 1 */
		0x10, 0x80, 0x80, 0x80, 0x02, /* size_bytes = 4 MiB */
		0x18, 0x80, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200000 */
};

Test(golden_usm, command_with_placed_arena_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ArenaCreate arena_create = SYCL__V1__ARENA_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_ARENA_CREATE;
	arena_create.arena = 1;
	arena_create.size_bytes = 4u << 20;
	arena_create.address = 0x120000200000ull;
	message.arena_create = &arena_create;
	assert_golden(&message.base, BYTES_OF(command_with_placed_arena_v0_1));
}

static const uint8_t command_with_usm_allocate_v0_1[] = {
	0xaa, 0x01, 0x27, /* usm_allocate: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x08, /* allocation = 0x800000100000002 */
		0x10, 0x81, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, /* context = 0x100000100000001 */
		0x18, 0x03, /* device = 3 */
		0x20, 0x03, /* kind = USM_KIND_SHARED */
		0x28, 0x80, 0x20, /* size_bytes = 4096 */
		0x30, 0x40, /* alignment_bytes = 64 */
		0x38, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200040 */
		0x40, 0x01, /* arena = 1 */
};

Test(golden_usm, command_with_usm_allocate_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__UsmAllocate usm_allocate = SYCL__V1__USM_ALLOCATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_USM_ALLOCATE;
	usm_allocate.allocation = ALLOCATION;
	usm_allocate.context = CONTEXT;
	usm_allocate.device = 3;
	usm_allocate.kind = SYCL__V1__USM_KIND__USM_KIND_SHARED;
	usm_allocate.size_bytes = 4096;
	usm_allocate.alignment_bytes = 64;
	usm_allocate.address = ADDRESS;
	usm_allocate.arena = 1;
	message.usm_allocate = &usm_allocate;
	assert_golden(&message.base, BYTES_OF(command_with_usm_allocate_v0_1));
}

static const uint8_t command_with_usm_free_v0_1[] = {
	0xb2, 0x01, 0x0a, /* usm_free: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x08, /* allocation = 0x800000100000002 */
};

Test(golden_usm, command_with_usm_free_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__UsmFree usm_free = SYCL__V1__USM_FREE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_USM_FREE;
	usm_free.allocation = ALLOCATION;
	message.usm_free = &usm_free;
	assert_golden(&message.base, BYTES_OF(command_with_usm_free_v0_1));
}

static const uint8_t reply_with_usm_allocated_v0_1[] = {
	0x08, 0x09, /* number = 9 */
	0x7a, 0x12, /* usm_allocated: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x08, /* allocation = 0x800000100000002 */
		0x10, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200040 */
};

Test(golden_usm, reply_with_usm_allocated_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__UsmAllocated usm_allocated = SYCL__V1__USM_ALLOCATED__INIT;
	message.number = 9;
	message.body_case = SYCL__V1__REPLY__BODY_USM_ALLOCATED;
	usm_allocated.allocation = ALLOCATION;
	usm_allocated.address = ADDRESS;
	message.usm_allocated = &usm_allocated;
	assert_golden(&message.base, BYTES_OF(reply_with_usm_allocated_v0_1));
}

/* A group with only this action. */
static Sycl__V1__CommandGroup group_with(Sycl__V1__CommandGroup__ActionCase action)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = QUEUE;
	group.group = 5;
	group.action_case = action;
	return group;
}

#define GROUP_V0_1                                                                                                     \
	0x08, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */                   \
		0x10, 0x05                                            /* group = 5 */

static const uint8_t group_with_usm_copy_v0_1[] = {
	GROUP_V0_1,
	0x82, 0x01, 0x15, /* usm_copy: */
		0x08, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* destination = 0x120000200040 */
		0x18, 0x80, 0x02, /* size_bytes = 256 */
		0x2a, 0x08, /* source_arena: */
			0x08, 0x02, /* arena = 2 */
			0x10, 0x80, 0x40, /* offset_bytes = 8192 */
			0x18, 0x80, 0x02, /* size_bytes = 256 */
};

static const uint8_t group_with_usm_copy_back_v0_1[] = {
	GROUP_V0_1,
	0x82, 0x01, 0x15, /* usm_copy: */
		0x10, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* source = 0x120000200040 */
		0x18, 0x80, 0x02, /* size_bytes = 256 */
		0x22, 0x08, /* destination_arena: */
			0x08, 0x02, /* arena = 2 */
			0x10, 0x80, 0x40, /* offset_bytes = 8192 */
			0x18, 0x80, 0x02, /* size_bytes = 256 */
};

Test(golden_usm, group_with_usm_copy_bytes_never_change)
{
	Sycl__V1__CommandGroup message = group_with(SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY);
	Sycl__V1__UsmCopy usm_copy = SYCL__V1__USM_COPY__INIT;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.arena = 2;
	range.offset_bytes = 8192;
	range.size_bytes = 256;
	usm_copy.destination = ADDRESS;
	usm_copy.size_bytes = 256;
	usm_copy.source_arena = &range;
	message.usm_copy = &usm_copy;
	assert_golden(&message.base, BYTES_OF(group_with_usm_copy_v0_1));
	usm_copy.destination = 0;
	usm_copy.source_arena = NULL;
	usm_copy.source = ADDRESS;
	usm_copy.destination_arena = &range;
	assert_golden(&message.base, BYTES_OF(group_with_usm_copy_back_v0_1));
}

static const uint8_t group_with_usm_fill_v0_1[] = {
	GROUP_V0_1,
	0x8a, 0x01, 0x0e, /* usm_fill: */
		0x08, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200040 */
		0x10, 0x10, /* size_bytes = 16 */
		0x1a, 0x02, 0xab, 0xcd, /* pattern */
};

Test(golden_usm, group_with_usm_fill_bytes_never_change)
{
	Sycl__V1__CommandGroup message = group_with(SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL);
	Sycl__V1__UsmFill usm_fill = SYCL__V1__USM_FILL__INIT;
	usm_fill.address = ADDRESS;
	usm_fill.size_bytes = 16;
	usm_fill.pattern = BYTES(0xab, 0xcd);
	message.usm_fill = &usm_fill;
	assert_golden(&message.base, BYTES_OF(group_with_usm_fill_v0_1));
}

static const uint8_t group_with_usm_prefetch_v0_1[] = {
	GROUP_V0_1,
	0x92, 0x01, 0x0a, /* usm_prefetch: */
		0x08, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200040 */
		0x10, 0x10, /* size_bytes = 16 */
};

Test(golden_usm, group_with_usm_prefetch_bytes_never_change)
{
	Sycl__V1__CommandGroup message = group_with(SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH);
	Sycl__V1__UsmRange usm_prefetch = SYCL__V1__USM_RANGE__INIT;
	usm_prefetch.address = ADDRESS;
	usm_prefetch.size_bytes = 16;
	message.usm_prefetch = &usm_prefetch;
	assert_golden(&message.base, BYTES_OF(group_with_usm_prefetch_v0_1));
}

static const uint8_t group_with_usm_advise_v0_1[] = {
	GROUP_V0_1,
	0x9a, 0x01, 0x0c, /* usm_advise: */
		0x08, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* address = 0x120000200040 */
		0x10, 0x10, /* size_bytes = 16 */
		0x18, 0x07, /* advice = 7 */
};

Test(golden_usm, group_with_usm_advise_bytes_never_change)
{
	Sycl__V1__CommandGroup message = group_with(SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE);
	Sycl__V1__UsmAdvise usm_advise = SYCL__V1__USM_ADVISE__INIT;
	usm_advise.address = ADDRESS;
	usm_advise.size_bytes = 16;
	usm_advise.advice = 7;
	message.usm_advise = &usm_advise;
	assert_golden(&message.base, BYTES_OF(group_with_usm_advise_v0_1));
}

static const uint8_t group_with_usm_argument_v0_1[] = {
	GROUP_V0_1,
	0x42, 0x17, /* launch: */
		0x08, 0x84, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000004 */
		0x12, 0x01, 0x04, /* global = 4 */
		0x2a, 0x08, /* arguments: */
			0x28, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04, /* usm_address = 0x120000200040 */
};

Test(golden_usm, group_with_usm_argument_bytes_never_change)
{
	Sycl__V1__CommandGroup message = group_with(SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH);
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	Sycl__V1__Argument argument = SYCL__V1__ARGUMENT__INIT;
	Sycl__V1__Argument *arguments[] = { &argument };
	uint64_t global[] = { 4 };
	launch.kernel = KERNEL;
	launch.n_global = 1;
	launch.global = global;
	argument.value_case = SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS;
	argument.usm_address = ADDRESS;
	launch.n_arguments = 1;
	launch.arguments = arguments;
	message.launch = &launch;
	assert_golden(&message.base, BYTES_OF(group_with_usm_argument_v0_1));
}
