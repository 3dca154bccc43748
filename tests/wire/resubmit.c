/*
 * The record that repeats a command group of a known shape is a struct, not a message. These are
 * its bytes as version 0.1 sends them. If the test fails, peers of another version misunderstand
 * this one.
 */
#include "resubmit.h"

#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* On a little-endian machine, as all supported ones are. */
static const uint8_t resubmit_record_v0_1[] = {
	0x80, 0x00, 0x00, 0x00,                         /* shape = 128 */
	0x2c, 0x01, 0x00, 0x00,                         /* generation = 300 */
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* group */
	0x01, 0x00, 0x00, 0x00,                         /* flags: needs a slot */
	0x0b, 0x00, 0x00, 0x00,                         /* slot = 11 */
	0x0c, 0x00, 0x00, 0x00,                         /* slot_value = 12 */
	0x10, 0x00, 0x00, 0x00,                         /* rest_bytes = 16 */
	0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x02, /* the event's queue = 0x200000100000002 */
	0x2c, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* and group = 300 */
};

Test(golden_shape, resubmit_record_bytes_never_change)
{
	const struct resubmit_record head = {128, 300, 0x0102030405060708, RESUBMIT_WANTS_SLOT, 11,
					     12,  16};
	const struct resubmit_event event = {0x200000100000002, 300};
	uint8_t bytes[sizeof(head) + sizeof(event)];
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &event, sizeof(event));
	cr_assert(eq(sz, sizeof(bytes), sizeof(resubmit_record_v0_1)));
	cr_assert(eq(int, memcmp(bytes, resubmit_record_v0_1, sizeof(bytes)), 0));
}
