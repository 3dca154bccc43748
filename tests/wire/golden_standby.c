/*
 * The standby engine on the control socket (control.proto), as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "control.pb-c.h"

TestSuite(golden_standby, .timeout = 10);

static const uint8_t control_with_devices_in_use_v0_1[] = {
	0x42, 0x06, /* devices_in_use: */
		0x0a, 0x04, /* devices: */
			0x08, 0x02, /* backend = 2 */
			0x10, 0x05, /* devices = 5 */
};

Test(golden_standby, control_with_devices_in_use_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__BackendDevices row = SYCL__V1__BACKEND_DEVICES__INIT, *rows[] = { &row };
	Sycl__V1__DevicesInUse in_use = SYCL__V1__DEVICES_IN_USE__INIT;
	row.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	row.devices = 5;
	in_use.n_devices = 1;
	in_use.devices = rows;
	message.body_case = SYCL__V1__CONTROL__BODY_DEVICES_IN_USE;
	message.devices_in_use = &in_use;
	assert_golden(&message.base, BYTES_OF(control_with_devices_in_use_v0_1));
}

static const uint8_t control_with_standby_prepare_v0_1[] = {
	0x4a, 0x07, /* standby_prepare: */
		0x0a, 0x05, /* devices: */
			0x08, 0x02, /* backend = 2 */
			0x10, 0xac, 0x02, /* devices = 300 */
};

Test(golden_standby, control_with_standby_prepare_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__BackendDevices row = SYCL__V1__BACKEND_DEVICES__INIT, *rows[] = { &row };
	Sycl__V1__StandbyPrepare prepare = SYCL__V1__STANDBY_PREPARE__INIT;
	row.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	row.devices = 300;
	prepare.n_devices = 1;
	prepare.devices = rows;
	message.body_case = SYCL__V1__CONTROL__BODY_STANDBY_PREPARE;
	message.standby_prepare = &prepare;
	assert_golden(&message.base, BYTES_OF(control_with_standby_prepare_v0_1));
}

static const uint8_t control_with_standby_ready_v0_1[] = {
	0x52, 0x07, /* standby_ready: */
		0x08, 0x08, /* pid = 8 */
		0x12, 0x03, 0x33, 0x2e, 0x31, /* version = "3.1" */
};

Test(golden_standby, control_with_standby_ready_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__StandbyReady ready = SYCL__V1__STANDBY_READY__INIT;
	ready.pid = 8;
	ready.version = TEXT("3.1");
	message.body_case = SYCL__V1__CONTROL__BODY_STANDBY_READY;
	message.standby_ready = &ready;
	assert_golden(&message.base, BYTES_OF(control_with_standby_ready_v0_1));
}

static const uint8_t control_with_adopt_v0_1[] = {
	0x5a, 0x0f, /* adopt: */
		0x08, 0x01, /* change_user = 1 */
		0x10, 0x09, /* uid = 9 */
		0x18, 0x0a, /* gid = 10 */
		0x22, 0x04, 0x2f, 0x61, 0x2f, 0x62, /* cache_directory = "/a/b" */
		0x28, 0xac, 0x02, /* open_devices = 300 */
};

Test(golden_standby, control_with_adopt_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineAdopt adopt = SYCL__V1__ENGINE_ADOPT__INIT;
	adopt.change_user = true;
	adopt.uid = 9;
	adopt.gid = 10;
	adopt.cache_directory = TEXT("/a/b");
	adopt.open_devices = 300;
	message.body_case = SYCL__V1__CONTROL__BODY_ADOPT;
	message.adopt = &adopt;
	assert_golden(&message.base, BYTES_OF(control_with_adopt_v0_1));
}
