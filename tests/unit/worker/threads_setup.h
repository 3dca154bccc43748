/* Three devices, for the tests of devices' threads. */
#ifndef TESTS_UNIT_WORKER_THREADS_SETUP_H
#define TESTS_UNIT_WORKER_THREADS_SETUP_H

#include "scheduler/harness.h"

#include <criterion/criterion.h>

static inline void threads_open_devices_with(struct harness *h, uint32_t features, uint32_t lanes,
					     uint32_t processors)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features,
								    .preferred_lanes = lanes});
	harness_start_with(h, 3, &(struct scheduler_config){.processors = processors});
}

/* Each has four lanes. */
static inline void threads_open_devices(struct harness *h, uint32_t features, uint32_t processors)
{
	threads_open_devices_with(h, features, 4, processors);
}

static inline void threads_launch(struct harness *h, uint32_t device, const char *kernel,
				  struct probe *probe)
{
	(void)harness_launch(h, &(struct launch){.device = device, .kernel = kernel}, probe);
}

/* Makes a kernel before it is used, so that its launches need no turn of the front thread. */
static inline void threads_make_kernel(struct harness *h, const char *name)
{
	(void)harness_kernel(h, 0, name);
	cr_assert(harness_settle(h));
}

#endif
