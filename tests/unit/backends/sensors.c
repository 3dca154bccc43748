/* The readings of a device by NVML, with a double of it. */
#include "backend_sensors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <errno.h>

static const uint8_t uuid[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TestSuite(sensors, .timeout = 30);

Test(sensors, of_a_device_are_read_and_missing_ones_are_0)
{
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES];
	cr_assert(eq(int, backend_sensors_read(FAKE_NVML, uuid, &sensors, reason), 0));
	cr_expect(eq(u64, sensors.total_bytes, 80ull << 30));
	cr_expect(eq(u64, sensors.used_bytes, 20ull << 30));
	cr_expect(eq(u64, sensors.free_bytes, 60ull << 30));
	cr_expect(eq(u32, sensors.temperature_celsius, 61));
	cr_expect(eq(u32, sensors.power_milliwatts, 123456));
	cr_expect(eq(u32, sensors.power_limit_milliwatts, 0), "the device has none");
	cr_expect(eq(u32, sensors.clock_mhz, 1755));
	cr_expect(eq(u32, sensors.clock_most_mhz, 0), "the library has no such function");
	cr_expect(sensors.utilisation_known);
	cr_expect(eq(u32, sensors.utilisation_percent, 42));
}

static void *of_double(const char *name)
{
	void *library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
	cr_assert(ne(ptr, library, NULL));
	void *address = dlsym(library, name);
	cr_assert(ne(ptr, address, NULL));
	return address;
}

/* The double refuses samples that do not follow each other. */
Test(sensors, have_the_occupancy_between_two_samples)
{
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES];
	for (unsigned i = 0; i < 3; i++) {
		cr_assert(eq(int, backend_sensors_read(FAKE_NVML, uuid, &sensors, reason), 0));
		cr_expect(sensors.sm_occupancy_known);
		cr_expect(eq(u32, sensors.sm_occupancy_permille, 375));
	}
}

Test(sensors, have_no_occupancy_of_a_gpu_without_such_counters)
{
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES];
	*(unsigned int *)of_double("fake_nvml_has_gpm") = 0;
	cr_assert(eq(int, backend_sensors_read(FAKE_NVML, uuid, &sensors, reason), 0));
	cr_expect(not(sensors.sm_occupancy_known));
	cr_expect(eq(u32, sensors.clock_mhz, 1755));
}

Test(sensors, do_not_take_an_occupancy_that_is_no_percentage)
{
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES];
	double *occupancy = of_double("fake_nvml_occupancy");
	static const double wrong[] = {-1, 100.5, 0.0 / 0.0};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		*occupancy = wrong[i];
		cr_assert(eq(int, backend_sensors_read(FAKE_NVML, uuid, &sensors, reason), 0));
		cr_expect(not(sensors.sm_occupancy_known));
	}
}

Test(sensors, of_a_device_that_the_library_does_not_know_are_missing)
{
	const uint8_t other[16] = {7};
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES] = "";
	cr_expect(eq(int, backend_sensors_read(FAKE_NVML, other, &sensors, reason), -ENODEV));
	cr_expect(eq(str, reason, "libnvidia-ml.so.1 does not find the device"));
}

Test(sensors, without_the_library_have_a_reason)
{
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES] = "";
	cr_expect(
		eq(int, backend_sensors_read("/nowhere/nvml.so", uuid, &sensors, reason), -ENODEV));
	cr_expect(eq(str, reason, "libnvidia-ml.so.1 cannot be opened"));
}
