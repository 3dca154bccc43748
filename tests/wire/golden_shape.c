/*
 * Shapes of command groups (command.proto), as version 0.1 sends them. If a test here fails, old peers break: add a field,
 * never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include <criterion/new/assert.h>

#include "command.pb-c.h"
#include "resubmit.h"

#include <string.h>

TestSuite(golden_shape, .timeout = 10);

static const uint8_t command_group_that_defines_a_shape_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x42, 0x0a, /* launch: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0xa0, 0x01, 0x80, 0x01, /* shape = 128 */
	0xa8, 0x01, 0xac, 0x02, /* shape_generation = 300 */
};

Test(golden_shape, command_group_that_defines_a_shape_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	launch.kernel = 0x500000100000002ull;
	message.launch = &launch;
	message.shape = 128;
	message.shape_generation = 300;
	assert_golden(&message.base, BYTES_OF(command_group_that_defines_a_shape_v0_1));
}

static const uint8_t usage_with_resubmitted_v0_1[] = {
	0x08, 0xac, 0x02, /* groups_submitted = 300 */
	0x48, 0x80, 0x02, /* groups_resubmitted = 256 */
};

Test(golden_shape, usage_with_resubmitted_bytes_never_change)
{
	Sycl__V1__Usage message = SYCL__V1__USAGE__INIT;
	message.groups_submitted = 300;
	message.groups_resubmitted = 256;
	assert_golden(&message.base, BYTES_OF(usage_with_resubmitted_v0_1));
}

/* On a machine that counts from the low byte, as all that the service runs on do. */
static const uint8_t resubmit_record_v0_1[] = {
	0x80, 0x00, 0x00, 0x00, /* shape = 128 */
	0x2c, 0x01, 0x00, 0x00, /* generation = 300 */
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* group */
	0x01, 0x00, 0x00, 0x00, /* flags: wants a slot */
	0x0b, 0x00, 0x00, 0x00, /* slot = 11 */
	0x0c, 0x00, 0x00, 0x00, /* slot_value = 12 */
	0x10, 0x00, 0x00, 0x00, /* rest_bytes = 16 */
	0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x02, /* the event's queue = 0x200000100000002 */
	0x2c, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* and group = 300 */
};

Test(golden_shape, resubmit_record_bytes_never_change)
{
	const struct resubmit_record head = {128, 300, 0x0102030405060708, RESUBMIT_WANTS_SLOT, 11, 12, 16};
	const struct resubmit_event event = {0x200000100000002, 300};
	uint8_t bytes[sizeof(head) + sizeof(event)];
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &event, sizeof(event));
	cr_assert(eq(sz, sizeof(bytes), sizeof(resubmit_record_v0_1)));
	cr_assert(eq(int, memcmp(bytes, resubmit_record_v0_1, sizeof(bytes)), 0));
}
