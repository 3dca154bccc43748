/*
 * NVML by its own names: no header of it is needed, since what is used here has not changed since
 * its first versions.
 */
#include "backend_sensors.h"
#include "nvml_gpm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1, UUID_TEXT_BYTES = 48 };

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned int gpu, memory;
};

typedef void *nvml_device;

struct nvml {
	void *handle;
	int (*init)(void);
	int (*device_of_uuid)(const char *uuid, nvml_device *device_out);
	/* Any of these may be missing. */
	int (*memory)(nvml_device device, struct nvml_memory *memory_out);
	int (*temperature)(nvml_device device, int sensor, unsigned int *celsius_out);
	int (*power)(nvml_device device, unsigned int *milliwatts_out);
	int (*power_limit)(nvml_device device, unsigned int *milliwatts_out);
	int (*clock)(nvml_device device, int type, unsigned int *mhz_out);
	int (*clock_most)(nvml_device device, int type, unsigned int *mhz_out);
	int (*utilization)(nvml_device device, struct nvml_utilization *utilization_out);
};

/* One for each process: the library has one state. */
static struct nvml nvml;

static void find_function(const char *name, void *place)
{
	void *address = dlsym(nvml.handle, name);
	memcpy(place, &address, sizeof(address));
}

static int nvml_refuse(char *reason_out, int error, const char *reason)
{
	(void)snprintf(reason_out, SENSORS_REASON_BYTES, "%s", reason);
	return error;
}

static int nvml_open(const char *library, char *reason_out)
{
	if (nvml.handle)
		return 0;
	void *handle = dlopen(library ? library : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return nvml_refuse(reason_out, -ENODEV, "libnvidia-ml.so.1 cannot be opened");
	nvml.handle = handle;
	find_function("nvmlInit_v2", &nvml.init);
	find_function("nvmlDeviceGetHandleByUUID", &nvml.device_of_uuid);
	find_function("nvmlDeviceGetMemoryInfo", &nvml.memory);
	find_function("nvmlDeviceGetTemperature", &nvml.temperature);
	find_function("nvmlDeviceGetPowerUsage", &nvml.power);
	find_function("nvmlDeviceGetEnforcedPowerLimit", &nvml.power_limit);
	find_function("nvmlDeviceGetClockInfo", &nvml.clock);
	find_function("nvmlDeviceGetMaxClockInfo", &nvml.clock_most);
	find_function("nvmlDeviceGetUtilizationRates", &nvml.utilization);
	nvml_gpm_find(handle);
	if (nvml.init && nvml.device_of_uuid && nvml.init() == NVML_SUCCESS)
		return 0;
	/* It is tried again: a driver may be loaded later. */
	nvml.handle = NULL;
	(void)dlclose(handle);
	return nvml_refuse(reason_out, -ENODEV, "libnvidia-ml.so.1 does not start");
}

static void write_uuid(const uint8_t uuid[16], char text_out[UUID_TEXT_BYTES])
{
	char *end = text_out + snprintf(text_out, UUID_TEXT_BYTES, "GPU");
	for (unsigned i = 0; i < 16; i++)
		end += snprintf(end, 4,
				i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				uuid[i]);
}

/* 0 where the library does not have the function, or the device has no such sensor. */
static uint32_t nvml_read_clock(int (*read)(nvml_device, int, unsigned int *), nvml_device device,
				int kind)
{
	unsigned int value = 0;
	return read && read(device, kind, &value) == NVML_SUCCESS ? value : 0;
}

static uint32_t nvml_read_power(int (*read)(nvml_device, unsigned int *), nvml_device device)
{
	unsigned int value = 0;
	return read && read(device, &value) == NVML_SUCCESS ? value : 0;
}

int backend_sensors_read(const char *library, const uint8_t uuid[16],
			 struct backend_sensors *sensors_out, char reason_out[SENSORS_REASON_BYTES])
{
	char text[UUID_TEXT_BYTES];
	nvml_device device = NULL;
	struct nvml_memory memory = {0};
	struct nvml_utilization utilization = {0};
	int r = nvml_open(library, reason_out);
	if (r < 0)
		return r;
	write_uuid(uuid, text);
	if (nvml.device_of_uuid(text, &device) != NVML_SUCCESS)
		return nvml_refuse(reason_out, -ENODEV,
				   "libnvidia-ml.so.1 does not find the device");
	struct backend_sensors sensors = {
		.temperature_celsius =
			nvml_read_clock(nvml.temperature, device, NVML_TEMPERATURE_GPU),
		.power_milliwatts = nvml_read_power(nvml.power, device),
		.power_limit_milliwatts = nvml_read_power(nvml.power_limit, device),
		.clock_mhz = nvml_read_clock(nvml.clock, device, NVML_CLOCK_SM),
		.clock_most_mhz = nvml_read_clock(nvml.clock_most, device, NVML_CLOCK_SM),
	};
	if (nvml.memory && nvml.memory(device, &memory) == NVML_SUCCESS) {
		sensors.total_bytes = memory.total;
		sensors.used_bytes = memory.used;
		sensors.free_bytes = memory.free;
	}
	sensors.utilisation_known =
		nvml.utilization && nvml.utilization(device, &utilization) == NVML_SUCCESS;
	if (sensors.utilisation_known)
		sensors.utilisation_percent = utilization.gpu;
	sensors.sm_occupancy_known = nvml_gpm_occupancy(device, &sensors.sm_occupancy_permille);
	*sensors_out = sensors;
	return 0;
}
