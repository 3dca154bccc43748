/*
 * Orders of operators, to the supervisor (admin.proto) and on to engines (control.proto), as version 0.1 sends them. If a test
 * here fails, old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_order, .timeout = 10);

static const uint8_t control_with_order_v0_1[] = {
	0x62, 0x10, /* order: */
		0x08, 0x07, /* session = 7 */
		0x10, 0x04, /* act = 4 */
		0x1a, 0x01, 0x72, /* reason = "r" */
		0x22, 0x05, 0x61, 0x72, 0x65, 0x6e, 0x61, /* limit = "arena" */
		0x28, 0x09, /* value = 9 */
};

Test(golden_order, control_with_order_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__SessionOrder order = SYCL__V1__SESSION_ORDER__INIT;
	order.session = 7;
	order.act = SYCL__V1__SESSION_ORDER__ACT__ACT_LIMIT;
	order.reason = (char *)(uintptr_t) "r";
	order.limit = (char *)(uintptr_t) "arena";
	order.value = 9;
	message.body_case = SYCL__V1__CONTROL__BODY_ORDER;
	message.order = &order;
	assert_golden(&message.base, BYTES_OF(control_with_order_v0_1));
}

static const uint8_t request_with_order_v0_1[] = {
	0x08, 0x01, /* protocol = 1 */
	0x32, 0x12, /* order: */
		0x08, 0x05, /* order = 5 */
		0x10, 0x03, /* session = 3 */
		0x18, 0x01, /* of_user = true */
		0x20, 0x04, /* uid = 4 */
		0x28, 0x01, /* of_everybody = true */
		0x32, 0x01, 0x6c, /* limit = "l" */
		0x38, 0x06, /* value = 6 */
		0x42, 0x01, 0x72, /* reason = "r" */
};

Test(golden_order, request_with_order_bytes_never_change)
{
	Sycl__V1__AdminRequest message = SYCL__V1__ADMIN_REQUEST__INIT;
	Sycl__V1__OrderCommand order = SYCL__V1__ORDER_COMMAND__INIT;
	order.order = SYCL__V1__ORDER__ORDER_LIMIT;
	order.session = 3;
	order.of_user = true;
	order.uid = 4;
	order.of_everybody = true;
	order.limit = (char *)(uintptr_t) "l";
	order.value = 6;
	order.reason = (char *)(uintptr_t) "r";
	message.protocol = 1;
	message.body_case = SYCL__V1__ADMIN_REQUEST__BODY_ORDER;
	message.order = &order;
	assert_golden(&message.base, BYTES_OF(request_with_order_v0_1));
}

static const uint8_t reply_with_ordered_v0_1[] = {
	0x38, 0x02, /* ordered = 2 */
};

Test(golden_order, reply_with_ordered_bytes_never_change)
{
	Sycl__V1__AdminReply message = SYCL__V1__ADMIN_REPLY__INIT;
	message.ordered = 2;
	assert_golden(&message.base, BYTES_OF(reply_with_ordered_v0_1));
}
