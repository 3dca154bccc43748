/*
 * What was used of devices (command.proto, control.proto, admin.proto), and what a service keeps of that in its folder, as version
 * 0.1 writes it. If a test here fails, older engines, askers or services break: add a field, never change one, and leave this file
 * as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_usage, .timeout = 10);

#define DEVICE_USAGE                                                   \
	0x08, 0x02,                         /* backend = CUDA */       \
		0x10, 0x01,                 /* index = 1 */            \
		0x18, 0xac, 0x02,           /* commands = 300 */       \
		0x20, 0x02,                 /* failed = 2 */           \
		0x28, 0x05,                 /* device_ns = 5 */        \
		0x30, 0x06,                 /* bytes_to_device = 6 */  \
		0x38, 0x07,                 /* bytes_to_host = 7 */    \
		0x40, 0x08,                 /* spills = 8 */           \
		0x48, 0x09,                 /* spilled_bytes = 9 */    \
		0x50, 0x29,                 /* first_delay = 41 */     \
		0x5a, 0x03, 0x01, 0xac, 0x02 /* delays = 1, 300 */

static uint64_t delays[] = { 1, 300 };

static Sycl__V1__DeviceUsage device_usage(void)
{
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	usage.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	usage.index = 1;
	usage.commands = 300;
	usage.failed = 2;
	usage.device_ns = 5;
	usage.bytes_to_device = 6;
	usage.bytes_to_host = 7;
	usage.spills = 8;
	usage.spilled_bytes = 9;
	usage.first_delay = 41;
	usage.n_delays = 2;
	usage.delays = delays;
	return usage;
}

static const uint8_t session_report_with_devices_v0_1[] = {
	0x08, 0x09, /* session = 9 */
	0x4a, 0x1a, /* devices: */
		DEVICE_USAGE,
};

Test(golden_usage, session_report_with_devices_bytes_never_change)
{
	Sycl__V1__SessionReport message = SYCL__V1__SESSION_REPORT__INIT;
	Sycl__V1__DeviceUsage usage = device_usage(), *usages[] = { &usage };
	message.session = 9;
	message.n_devices = 1;
	message.devices = usages;
	assert_golden(&message.base, BYTES_OF(session_report_with_devices_v0_1));
}

static const uint8_t session_state_with_devices_v0_1[] = {
	0x08, 0x09, /* session = 9 */
	0x10, 0x02, /* state = CLOSED */
	0x32, 0x1a, /* devices: */
		DEVICE_USAGE,
};

Test(golden_usage, session_state_with_devices_bytes_never_change)
{
	Sycl__V1__SessionState message = SYCL__V1__SESSION_STATE__INIT;
	Sycl__V1__DeviceUsage usage = device_usage(), *usages[] = { &usage };
	message.session = 9;
	message.state = SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED;
	message.n_devices = 1;
	message.devices = usages;
	assert_golden(&message.base, BYTES_OF(session_state_with_devices_v0_1));
}

static const uint8_t request_for_accounts_v0_1[] = {
	0x08, 0x01, /* protocol = 1 */
	0x3a, 0x10, /* accounts: */
		0x08, 0x06,             /* by = 6 */
		0x10, 0x01,             /* of_user */
		0x18, 0x09,             /* uid = 9 */
		0x22, 0x02, 0x2f, 0x61, /* cgroup = "/a" */
		0x28, 0x01,             /* of_device */
		0x30, 0x02,             /* backend = CUDA */
		0x38, 0x01,             /* index = 1 */
};

Test(golden_usage, request_for_accounts_bytes_never_change)
{
	Sycl__V1__AdminRequest message = SYCL__V1__ADMIN_REQUEST__INIT;
	Sycl__V1__AccountsQuery query = SYCL__V1__ACCOUNTS_QUERY__INIT;
	query.by = 6;
	query.of_user = true;
	query.uid = 9;
	query.cgroup = TEXT("/a");
	query.of_device = true;
	query.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	query.index = 1;
	message.protocol = 1;
	message.body_case = SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS;
	message.accounts = &query;
	assert_golden(&message.base, BYTES_OF(request_for_accounts_v0_1));
}

static const uint8_t reply_with_account_rows_v0_1[] = {
	0x52, 0x1c, /* account_rows: */
		0x08, 0x09,             /* uid = 9 */
		0x12, 0x02, 0x2f, 0x61, /* cgroup = "/a" */
		0x18, 0x03,             /* session = 3 */
		0x20, 0x07,             /* pid = 7 */
		0x2a, 0x01, 0x78,       /* command = "x" */
		0x32, 0x02, 0x08, 0x02, /* used: backend = CUDA */
		0x38, 0x03,             /* sessions = 3 */
		0x40, 0x01,             /* faults = 1 */
		0x48, 0xac, 0x02,       /* delays = 300 */
		0x50, 0x05,             /* delay_p50_ns = 5 */
		0x58, 0x06,             /* delay_p99_ns = 6 */
	0x58, 0x06, /* accounts_by = 6 */
};

Test(golden_usage, reply_with_account_rows_bytes_never_change)
{
	Sycl__V1__AdminReply message = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__AccountRow row = SYCL__V1__ACCOUNT_ROW__INIT, *rows[] = { &row };
	Sycl__V1__DeviceUsage used = SYCL__V1__DEVICE_USAGE__INIT;
	used.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	row.uid = 9;
	row.cgroup = TEXT("/a");
	row.session = 3;
	row.pid = 7;
	row.command = TEXT("x");
	row.used = &used;
	row.sessions = 3;
	row.faults = 1;
	row.delays = 300;
	row.delay_p50_ns = 5;
	row.delay_p99_ns = 6;
	message.n_account_rows = 1;
	message.account_rows = rows;
	message.accounts_by = 6;
	assert_golden(&message.base, BYTES_OF(reply_with_account_rows_v0_1));
}

static const uint8_t kept_accounts_v0_1[] = {
	0x0a, 0x02, /* rows: */
		0x08, 0x09, /* uid = 9 */
	0x12, 0x06, /* sessions: */
		0x08, 0x05,             /* session = 5 */
		0x12, 0x02, 0x2f, 0x61, /* cgroup = "/a" */
};

Test(golden_usage, kept_accounts_bytes_never_change)
{
	Sycl__V1__KeptAccounts message = SYCL__V1__KEPT_ACCOUNTS__INIT;
	Sycl__V1__AccountRow row = SYCL__V1__ACCOUNT_ROW__INIT, *rows[] = { &row };
	Sycl__V1__KeptSession session = SYCL__V1__KEPT_SESSION__INIT, *sessions[] = { &session };
	row.uid = 9;
	session.session = 5;
	session.cgroup = TEXT("/a");
	message.n_rows = 1;
	message.rows = rows;
	message.n_sessions = 1;
	message.sessions = sessions;
	assert_golden(&message.base, BYTES_OF(kept_accounts_v0_1));
}
