/*
 * What tenants have used (admin.proto), as version 0.1 sends it. If a test here fails, old askers break: add a field, never
 * change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"

TestSuite(golden_account, .timeout = 10);

static const uint8_t reply_with_accounts_v0_1[] = {
	0x42, 0x0b, /* accounts: */
		0x08, 0x09, /* uid = 9 */
		0x10, 0x03, /* sessions_ended = 3 */
		0x18, 0x01, /* engines_failed = 1 */
		0x22, 0x03, /* usage: */
			0x20, 0xac, 0x02, /* device_ns = 300 */
};

Test(golden_account, reply_with_accounts_bytes_never_change)
{
	Sycl__V1__AdminReply message = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__AccountFacts account = SYCL__V1__ACCOUNT_FACTS__INIT, *accounts[] = { &account };
	Sycl__V1__Usage usage = SYCL__V1__USAGE__INIT;
	usage.device_ns = 300;
	account.uid = 9;
	account.sessions_ended = 3;
	account.engines_failed = 1;
	account.usage = &usage;
	message.n_accounts = 1;
	message.accounts = accounts;
	assert_golden(&message.base, BYTES_OF(reply_with_accounts_v0_1));
}
