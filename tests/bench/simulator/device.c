#include "simulator/device.h"

static void make_ready(struct sim_device *device, uint32_t lane)
{
	device->ready[(device->ready_first + device->ready_count++) % SIM_LANES] = lane;
}

void sim_device_send(struct sim_device *device, struct sim_job *job)
{
	struct sim_lane *lane = &device->lanes[job->device_lane];
	job->next = NULL;
	if (lane->first)
		lane->last->next = job;
	else
		lane->first = job;
	lane->last = job;
	if (lane->first == job)
		make_ready(device, job->device_lane);
}

struct sim_job *sim_device_begin(struct sim_device *device)
{
	if (device->ready_count == 0)
		return NULL;
	struct sim_job *job = device->lanes[device->ready[device->ready_first]].first;
	if (device->width + job->width > SIM_WIDTH)
		return NULL;
	device->ready_first = (device->ready_first + 1) % SIM_LANES;
	device->ready_count--;
	device->width += job->width;
	return job;
}

void sim_device_end(struct sim_device *device, struct sim_job *job)
{
	struct sim_lane *lane = &device->lanes[job->device_lane];
	device->width -= job->width;
	lane->first = job->next;
	if (lane->first)
		make_ready(device, job->device_lane);
}
