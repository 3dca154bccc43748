/* SPDX-License-Identifier: Apache-2.0 */
/* Queues on one or several devices, which take turns. If a launch needs data of another device, the
 * service moves it. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

struct program_devices {
	sycl_queue queues[PROGRAM_DEVICES_MAX];
	uint32_t count, turn;
	/* A program's kernels for each of the other devices. Handle values are used again, so a
	 * lookup takes the latest entry. */
	struct {
		sycl_kernel first, others[PROGRAM_DEVICES_MAX - 1];
	} kernels[64];
	uint32_t kernel_count;
};

static bool is_like(const struct program_run *run, sycl_device device, sycl_device first)
{
	const sycl_device both[] = {device, first};
	uint32_t answers[2][3];
	for (int i = 0; i < 2; i++) {
		static const sycl_device_info infos[] = {SYCL_DEVICE_INFO_BACKEND,
							 SYCL_DEVICE_INFO_TYPE,
							 SYCL_DEVICE_INFO_IS_AVAILABLE};
		for (int k = 0; k < 3; k++)
			program_check(run,
				      sycl_device_get_info(both[i], infos[k], sizeof(uint32_t),
							   &answers[i][k], NULL),
				      "a device");
	}
	return device != first && answers[0][0] == answers[1][0] &&
	       answers[0][1] == answers[1][1] && answers[0][2];
}

static void devices_add(struct program_run *run, struct program_devices *devices,
			sycl_device device)
{
	char name[256];
	uint64_t most = 0;
	program_check(run,
		      sycl_queue_create(NULL, device, NULL, &devices->queues[devices->count++]),
		      "no queue");
	program_check(run,
		      sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL),
		      "the device");
	program_check(run,
		      sycl_device_get_info(device, SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE,
					   sizeof(most), &most, NULL),
		      "the device");
	if (devices->count == 1 || most < run->max_group)
		run->max_group = most;
	(void)printf("on %s\n", name);
}

void program_devices_begin(struct program_run *run, sycl_device first, uint32_t count)
{
	enum { LISTED = 64 };
	sycl_device all[LISTED];
	uint32_t listed = 0;
	struct program_devices *devices = program_allocate(run, 1, sizeof(*devices));
	run->devices = devices;
	devices_add(run, devices, first);
	run->queue = devices->queues[0];
	program_check(
		run,
		sycl_device_get_devices(run->platform, SYCL_DEVICE_TYPE_ALL, LISTED, all, &listed),
		"the devices");
	for (uint32_t i = 0; i < listed && i < LISTED; i++) {
		if (devices->count < count && is_like(run, all[i], first))
			devices_add(run, devices, all[i]);
		(void)sycl_device_release(all[i]);
	}
	if (devices->count == count)
		return;
	(void)fprintf(stderr, "sycl_programs: %u devices of this kind, not %u\n", devices->count,
		      count);
	exit(1);
}

void program_devices_forget_kernels(struct program_run *run)
{
	struct program_devices *devices = run->devices;
	for (uint32_t i = 0; i < devices->kernel_count; i++)
		for (uint32_t k = 0; k + 1 < devices->count; k++)
			(void)sycl_kernel_release(devices->kernels[i].others[k]);
	devices->kernel_count = 0;
}

void program_devices_end(struct program_run *run)
{
	program_devices_forget_kernels(run);
	for (uint32_t i = 0; i < run->devices->count; i++)
		(void)sycl_queue_release(run->devices->queues[i]);
	free(run->devices);
	run->devices = NULL;
}

void program_devices_wait(const struct program_run *run)
{
	for (uint32_t i = 0; i < run->devices->count; i++)
		program_check(run, sycl_queue_wait(run->devices->queues[i]), "waiting");
}

sycl_kernel program_kernel(const struct program_run *run, const char *source, const char *name)
{
	struct program_devices *devices = run->devices;
	sycl_kernel first;
	program_check(run, sycl_kernel_from_source(devices->queues[0], source, name, &first), name);
	if (devices->count == 1)
		return first;
	if (devices->kernel_count == sizeof(devices->kernels) / sizeof(*devices->kernels))
		program_check(run, SYCL_ERROR_QUOTA, "too many kernels of one program");
	for (uint32_t i = 1; i < devices->count; i++)
		program_check(run,
			      sycl_kernel_from_source(
				      devices->queues[i], source, name,
				      &devices->kernels[devices->kernel_count].others[i - 1]),
			      name);
	devices->kernels[devices->kernel_count++].first = first;
	return first;
}

sycl_queue program_next_queue(const struct program_run *run, sycl_kernel *kernel)
{
	struct program_devices *devices = run->devices;
	const uint32_t turn = devices->turn++ % devices->count;
	for (uint32_t i = devices->kernel_count; turn > 0 && i-- > 0;) {
		if (devices->kernels[i].first == *kernel) {
			*kernel = devices->kernels[i].others[turn - 1];
			return devices->queues[turn];
		}
	}
	return devices->queues[0];
}
