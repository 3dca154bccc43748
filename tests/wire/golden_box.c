/*
 * Boxes, ranges of host accesses, ranges that order (command.proto), as version 0.1 sends them. If a test here fails, old
 * peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_box, .timeout = 10);

static const uint8_t copy_with_box_v0_1[] = {
	0x0a, 0x04, /* source: */
		0x08, 0x08, /* requirement = 8 */
		0x18, 0x10, /* offset_bytes = 16 */
	0x12, 0x02, /* destination: */
		0x08, 0x09, /* requirement = 9 */
	0x22, 0x16, /* box: */
		0x08, 0xac, 0x02, /* width_bytes = 300 */
		0x10, 0x08, /* rows = 8 */
		0x18, 0x02, /* slices = 2 */
		0x20, 0x80, 0x04, /* source_row_pitch = 512 */
		0x28, 0x80, 0xa0, 0x80, 0x80, 0x10, /* source_slice_pitch = 4294971392 */
		0x30, 0xac, 0x02, /* destination_row_pitch = 300 */
		0x38, 0xe0, 0x12, /* destination_slice_pitch = 2400 */
};

Test(golden_box, copy_with_box_bytes_never_change)
{
	Sycl__V1__Copy message = SYCL__V1__COPY__INIT;
	Sycl__V1__MemoryEnd source = SYCL__V1__MEMORY_END__INIT, destination = SYCL__V1__MEMORY_END__INIT;
	Sycl__V1__Box box = SYCL__V1__BOX__INIT;
	source.place_case = destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	source.requirement = 8;
	source.offset_bytes = 16;
	destination.requirement = 9;
	message.source = &source;
	message.destination = &destination;
	box.width_bytes = 300;
	box.rows = 8;
	box.slices = 2;
	box.source_row_pitch = 512;
	box.source_slice_pitch = 4294971392ull;
	box.destination_row_pitch = 300;
	box.destination_slice_pitch = 2400;
	message.box = &box;
	assert_golden(&message.base, BYTES_OF(copy_with_box_v0_1));
}

static const uint8_t host_access_of_a_part_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x06, /* accessor = 0x600000100000002 */
	0x10, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x18, 0x05, /* mode = 5 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x30, 0x80, 0x20, /* offset_bytes = 4096 */
	0x38, 0xac, 0x02, /* size_bytes = 300 */
	0x40, 0x80, 0x08, /* order_offset_bytes = 1024 */
	0x48, 0x80, 0xa0, 0x80, 0x80, 0x10, /* order_size_bytes = 4294971392 */
};

Test(golden_box, host_access_of_a_part_bytes_never_change)
{
	Sycl__V1__HostAccess message = SYCL__V1__HOST_ACCESS__INIT;
	message.accessor = 0x600000100000002ull;
	message.buffer = 0x300000100000002ull;
	message.mode = 5;
	message.slot = 11;
	message.slot_value = 12;
	message.offset_bytes = 4096;
	message.size_bytes = 300;
	message.order_offset_bytes = 1024;
	message.order_size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(host_access_of_a_part_v0_1));
}

static const uint8_t requirement_of_a_part_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x10, 0x07, /* mode = 7 */
	0x18, 0x80, 0x10, /* offset_bytes = 2048 */
	0x20, 0xac, 0x02, /* size_bytes = 300 */
	0x28, 0x80, 0x08, /* order_offset_bytes = 1024 */
	0x30, 0x80, 0xa0, 0x80, 0x80, 0x10, /* order_size_bytes = 4294971392 */
};

Test(golden_box, requirement_of_a_part_bytes_never_change)
{
	Sycl__V1__Requirement message = SYCL__V1__REQUIREMENT__INIT;
	message.buffer = 0x300000100000002ull;
	message.mode = 7;
	message.offset_bytes = 2048;
	message.size_bytes = 300;
	message.order_offset_bytes = 1024;
	message.order_size_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(requirement_of_a_part_v0_1));
}
