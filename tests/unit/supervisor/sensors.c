/* Which reading of a device is shown if several engines claim one. */
#include "admin/report_sensors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(sensors, .timeout = 10);

static Sycl__V1__DeviceSensors reading(uint32_t celsius, uint32_t watts)
{
	Sycl__V1__DeviceSensors sensors = SYCL__V1__DEVICE_SENSORS__INIT;
	sensors.total_bytes = 4096;
	sensors.temperature_celsius = celsius;
	sensors.power_milliwatts = watts * 1000;
	return sensors;
}

Test(sensors, a_reading_comes_before_a_reason_why_there_is_none)
{
	Sycl__V1__DeviceSensors good = reading(61, 300), none = reading(0, 0);
	none.total_bytes = 0;
	none.unavailable = (char *)(uintptr_t) "no library";
	cr_expect(eq(ptr, report_sensors_join(NULL, NULL), NULL));
	cr_expect(eq(ptr, report_sensors_join(NULL, &none), &none));
	cr_expect(eq(ptr, report_sensors_join(&none, NULL), &none));
	cr_expect(eq(ptr, report_sensors_join(&none, &good), &good));
	cr_expect(eq(ptr, report_sensors_join(&good, &none), &good));
}

Test(sensors, readings_that_differ_much_are_not_shown)
{
	Sycl__V1__DeviceSensors first = reading(61, 300), near = reading(64, 420);
	Sycl__V1__DeviceSensors hot = reading(90, 300), strong = reading(61, 1200);
	Sycl__V1__DeviceSensors large = first;
	Sycl__V1__DeviceSensors *others[] = {&hot, &strong, &large};
	large.total_bytes = 1 << 20;
	cr_expect(eq(ptr, report_sensors_join(&first, &near), &first));
	for (unsigned i = 0; i < 3; i++) {
		Sycl__V1__DeviceSensors *shown = report_sensors_join(&first, others[i]);
		cr_expect(ne(chr, *shown->unavailable, '\0'));
		cr_expect(eq(u32, shown->temperature_celsius, 0));
		cr_expect(eq(u32, shown->power_milliwatts, 0));
		/* No later claim restores the reading. */
		cr_expect(eq(ptr, report_sensors_join(shown, &first), shown));
	}
}
