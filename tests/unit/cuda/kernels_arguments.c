/* Arguments in the form that the kernel reads, and arguments that must be refused. */
#include "cuda/program/arguments.h"
#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

TestSuite(cuda_arguments, .timeout = 10);

static const struct cuda_parameter parameters[] = {
	{.offset_bytes = 0, .size_bytes = 8, .kind = BACKEND_ARGUMENT_GLOBAL},
	{.offset_bytes = 8, .size_bytes = 1, .kind = BACKEND_ARGUMENT_VALUE},
	{.offset_bytes = 16, .size_bytes = 16, .kind = BACKEND_ARGUMENT_VALUE},
	{.offset_bytes = 32,
	 .size_bytes = 8,
	 .kind = BACKEND_ARGUMENT_UNKNOWN,
	 .local = CUDA_LOCAL_GENERIC},
	{.offset_bytes = 40,
	 .size_bytes = 4,
	 .kind = BACKEND_ARGUMENT_LOCAL,
	 .local = CUDA_LOCAL_PLACE},
	{.offset_bytes = 48,
	 .size_bytes = 8,
	 .kind = BACKEND_ARGUMENT_LOCAL,
	 .local = CUDA_LOCAL_SHARED},
};
enum { PARAMETERS = 6, STORAGE = 136 };

static const struct cuda_layout layout = {
	.count = PARAMETERS,
	.parameters = parameters,
	.has_record = true,
	.record_at = 56,
	.bytes = STORAGE,
	.base_known = true,
	.generic_base = 0x700000000400,
	.shared_base = 0x400,
	.local_bytes_max = 1000,
};

static struct backend_memory memory = {.address = 0x10000, .size_bytes = 100};
static const unsigned char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

struct call {
	struct backend_argument arguments[PARAMETERS];
	unsigned char storage[STORAGE + 8];
	void *places[PARAMETERS + 1];
	uint64_t local_bytes;
	struct backend_fault fault;
};

static struct call usual(void)
{
	struct call call = {.arguments = {
				    {.kind = BACKEND_ARGUMENT_GLOBAL,
				     .global = {.memory = &memory, .offset_bytes = 12}},
				    {.kind = BACKEND_ARGUMENT_VALUE, .value = {bytes, 1}},
				    {.kind = BACKEND_ARGUMENT_VALUE, .value = {bytes, 16}},
				    {.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 33},
				    {.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4},
				    {.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 8},
			    }};
	memset(call.storage, 0xee, sizeof(call.storage));
	call.local_bytes = 77;
	return call;
}

static int pack(struct call *call, const struct cuda_layout *with)
{
	return cuda_arguments_pack(with, call->arguments, PARAMETERS, call->storage, STORAGE,
				   call->places, PARAMETERS + 1, &call->local_bytes, &call->fault);
}

static uint64_t word_at(const struct call *call, size_t offset, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, call->storage + offset, size);
	return word;
}

Test(cuda_arguments, E14_E15_each_lies_where_the_driver_says)
{
	struct call call = usual();

	cr_assert_eq(pack(&call, &layout), 0, "%s", call.fault.text);
	for (int i = 0; i < PARAMETERS; i++)
		cr_assert_eq(call.places[i], call.storage + parameters[i].offset_bytes);
	cr_assert_eq(call.places[PARAMETERS], call.storage + 56);
	cr_assert_eq(word_at(&call, 0, 8), 0x10000 + 12);
	cr_assert_eq(word_at(&call, 8, 1), 1);
	cr_assert_eq(call.storage[9], 0xee, "a value of one byte wrote more");
	cr_assert_arr_eq(call.storage + 16, bytes, 16);
	/* Local memory: a generic pointer, a place, an address of shared memory; in multiples of 16
	 * bytes. */
	cr_assert_eq(word_at(&call, 32, 8), 0x700000000400);
	cr_assert_eq(word_at(&call, 40, 4), 48);
	cr_assert_eq(word_at(&call, 44, 4), 0xeeeeeeee, "a place of 4 bytes wrote more");
	cr_assert_eq(word_at(&call, 48, 8), 0x400 + 64);
	cr_assert_eq(call.local_bytes, 80);
	cr_assert_eq(word_at(&call, STORAGE, 8), 0xeeeeeeeeeeeeeeee, "beyond the storage");
}

Test(cuda_arguments, E15_a_plain_pointer_takes_accessors_values_and_local_memory)
{
	struct call call = usual();
	const uint64_t address = 0x123456789abcdef0;

	call.arguments[3] = (struct backend_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
						      .global = {.memory = &memory}};
	cr_assert_eq(pack(&call, &layout), 0);
	cr_assert_eq(word_at(&call, 32, 8), 0x10000);
	call.arguments[3] =
		(struct backend_argument){.kind = BACKEND_ARGUMENT_VALUE, .value = {&address, 8}};
	cr_assert_eq(pack(&call, &layout), 0);
	cr_assert_eq(word_at(&call, 32, 8), address);
	/* A buffer of 0 bytes has no memory. */
	call.arguments[3] = (struct backend_argument){.kind = BACKEND_ARGUMENT_GLOBAL};
	cr_assert_eq(pack(&call, &layout), 0);
	cr_assert_eq(word_at(&call, 32, 8), 0);
}

static void expect_pack_refused(struct call *call, const struct cuda_layout *with, int32_t status)
{
	cr_assert_eq(pack(call, with), -EINVAL);
	cr_assert_eq(call->fault.status, status, "%s", call->fault.text);
	cr_assert_neq(call->fault.text[0], '\0');
	cr_assert_eq(call->local_bytes, 77, "the output was touched");
}

Test(cuda_arguments, E14_wrong_kinds_and_sizes_never_reach_the_driver)
{
	struct call call = usual();

	call.arguments[1].value.size_bytes = 2;
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[2].value.size_bytes = 15;
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[3] =
		(struct backend_argument){.kind = BACKEND_ARGUMENT_VALUE, .value = {bytes, 4}};
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[0] = call.arguments[2];
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[2] = call.arguments[0];
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[0] = call.arguments[3];
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[4] = call.arguments[0];
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[5].kind = BACKEND_ARGUMENT_UNKNOWN;
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
	call = usual();
	call.arguments[0].global.offset_bytes = 101;
	expect_pack_refused(&call, &layout, STATUS_KERNEL_ARGUMENT);
}

Test(cuda_arguments, E14_a_wrong_count_and_too_little_room_are_told)
{
	struct call call = usual();

	cr_assert_eq(cuda_arguments_pack(&layout, call.arguments, 5, call.storage, STORAGE,
					 call.places, 7, &call.local_bytes, &call.fault),
		     -EINVAL);
	cr_assert_eq(call.fault.status, STATUS_KERNEL_ARGUMENT);
	cr_assert_eq(cuda_arguments_pack(&layout, call.arguments, PARAMETERS, call.storage,
					 STORAGE - 1, call.places, 7, &call.local_bytes,
					 &call.fault),
		     -ENOSPC);
	cr_assert_eq(cuda_arguments_pack(&layout, call.arguments, PARAMETERS, call.storage, STORAGE,
					 call.places, 6, &call.local_bytes, &call.fault),
		     -ENOSPC);
	cr_assert_eq(call.storage[0], 0xee, "something was written");
}

Test(cuda_arguments, local_memory_beyond_the_kernels_room_is_refused)
{
	struct call call = usual();

	call.arguments[3].local_bytes = 1001;
	expect_pack_refused(&call, &layout, STATUS_MEMORY_ALLOCATION);
	call = usual();
	call.arguments[5].local_bytes = 1000 - 64 + 1;
	expect_pack_refused(&call, &layout, STATUS_MEMORY_ALLOCATION);
	call = usual();
	call.arguments[5].local_bytes = UINT64_MAX;
	expect_pack_refused(&call, &layout, STATUS_MEMORY_ALLOCATION);
	/* To the last byte, whose offset is not aligned. */
	call = usual();
	call.arguments[5].local_bytes = 1000 - 64;
	cr_assert_eq(pack(&call, &layout), 0, "%s", call.fault.text);
	cr_assert_eq(call.local_bytes, 1000);
}

/* A cubin made by hand. If its largest end was not checked, the first parameter would be written
 * behind the storage. */
Test(cuda_arguments, parameters_in_no_order_take_room_up_to_the_last_byte_of_any)
{
	static const struct cuda_parameter odd[] = {
		{.offset_bytes = 32000, .size_bytes = 700, .kind = BACKEND_ARGUMENT_VALUE},
		{.offset_bytes = 8, .size_bytes = 8, .kind = BACKEND_ARGUMENT_VALUE},
		{.offset_bytes = 0, .size_bytes = 8, .kind = BACKEND_ARGUMENT_VALUE},
	};
	cr_assert_eq(cuda_parameters_bytes(odd, 0), 0);
	cr_assert_eq(cuda_parameters_bytes(odd, 3), 32700);
	cr_assert_eq(cuda_parameters_bytes(odd + 1, 2), 16);
	cr_assert_eq(cuda_parameters_bytes(parameters, PARAMETERS), 56);
}

Test(cuda_arguments, E15_without_the_window_local_memory_is_only_for_portable_kernels)
{
	struct cuda_layout unknown = layout;
	struct call call = usual();

	unknown.base_known = false;
	expect_pack_refused(&call, &unknown, STATUS_KERNEL_ARGUMENT);
	call.arguments[3] = (struct backend_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
						      .global = {.memory = &memory}};
	expect_pack_refused(&call, &unknown, STATUS_KERNEL_ARGUMENT); /* the one in shared memory */
	static const struct cuda_parameter place = {
		.size_bytes = 4, .kind = BACKEND_ARGUMENT_LOCAL, .local = CUDA_LOCAL_PLACE};
	struct cuda_layout portable = {
		.count = 1, .parameters = &place, .bytes = 4, .local_bytes_max = 100};
	cr_assert_eq(cuda_arguments_pack(&portable, call.arguments + 4, 1, call.storage, STORAGE,
					 call.places, 1, &call.local_bytes, &call.fault),
		     0);
	cr_assert_eq(word_at(&call, 0, 4), 0);
}
