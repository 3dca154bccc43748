/*
 * Variables of programs, as version 0.1 sends them. If a test here fails, old peers break: add a field, never change one, and leave
 * this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_variable, .timeout = 10);

static const uint8_t usm_allocate_variable_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x08, /* allocation = 0x800000100000002 */
	0x20, 0x01,                                                 /* kind = USM_KIND_DEVICE */
	0x48, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000003 */
	0x52, 0x05, 't', 'a', 'b', 'l', 'e',                        /* variable = "table" */
};

Test(golden_variable, usm_allocate_of_a_variable_bytes_never_change)
{
	Sycl__V1__UsmAllocate message = SYCL__V1__USM_ALLOCATE__INIT;
	message.allocation = 0x800000100000002ull;
	message.kind = SYCL__V1__USM_KIND__USM_KIND_DEVICE;
	message.bundle = 0x400000100000003ull;
	message.variable = (char *)(uintptr_t)"table";
	assert_golden(&message.base, BYTES_OF(usm_allocate_variable_v0_1));
}

static const uint8_t usm_allocated_variable_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x08, /* allocation = 0x800000100000002 */
	0x10, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04,             /* address = 0x120000200040 */
	0x18, 0xac, 0x02,                                           /* size_bytes = 300 */
};

Test(golden_variable, usm_allocated_of_a_variable_bytes_never_change)
{
	Sycl__V1__UsmAllocated message = SYCL__V1__USM_ALLOCATED__INIT;
	message.allocation = 0x800000100000002ull;
	message.address = 0x120000200040ull;
	message.size_bytes = 300;
	assert_golden(&message.base, BYTES_OF(usm_allocated_variable_v0_1));
}
