/*
 * A double of NVML for tests without a GPU: one device, whose UUID is 00 01 02 .. 0f. It has no
 * power limit, as some GPUs do not. A test can take its SM occupancy from it.
 */
#include <string.h>

#define API __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

struct memory {
	unsigned long long total, free, used;
};

struct utilization {
	unsigned int gpu, memory;
};

struct gpm_support {
	unsigned int version, is_supported;
};

struct gpm_metric {
	unsigned int id;
	int result;
	double value;
	const char *names[3];
};

struct gpm_question {
	unsigned int version, count;
	const int *first, *second;
	struct gpm_metric metrics[];
};

static int only_device, begun, samples[4], sample_count, sampled;

API unsigned int fake_nvml_has_gpm = 1;
API double fake_nvml_occupancy = 37.5;

API int nvmlInit_v2(void);
API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device_out);
API int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory_out);
API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius_out);
API int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts_out);
API int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *milliwatts_out);
API int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz_out);
API int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization_out);
API int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *support);
API int nvmlGpmSampleAlloc(int **sample_out);
API int nvmlGpmSampleGet(void *device, int *sample);
API int nvmlGpmMetricsGet(struct gpm_question *question);

int nvmlInit_v2(void)
{
	begun = 1;
	return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device_out)
{
	if (!begun || strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") != 0)
		return NOT_FOUND;
	*device_out = &only_device;
	return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory_out)
{
	(void)device;
	*memory_out =
		(struct memory){.total = 80ull << 30, .free = 60ull << 30, .used = 20ull << 30};
	return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius_out)
{
	(void)device;
	*celsius_out = 61;
	return sensor == 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts_out)
{
	(void)device;
	*milliwatts_out = 123456;
	return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *milliwatts_out)
{
	(void)device;
	*milliwatts_out = 99; /* must not be read */
	return NOT_SUPPORTED;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz_out)
{
	(void)device;
	*mhz_out = 1755;
	return type == 1 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization_out)
{
	(void)device;
	*utilization_out = (struct utilization){.gpu = 42, .memory = 7};
	return SUCCESS;
}

int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *support)
{
	(void)device;
	support->is_supported = fake_nvml_has_gpm;
	return support->version == 1 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlGpmSampleAlloc(int **sample_out)
{
	if (sample_count == 4)
		return NOT_SUPPORTED;
	*sample_out = &samples[sample_count++];
	return SUCCESS;
}

int nvmlGpmSampleGet(void *device, int *sample)
{
	*sample = ++sampled;
	return device == &only_device ? SUCCESS : NOT_FOUND;
}

/* The second sample must be the one after the first. */
int nvmlGpmMetricsGet(struct gpm_question *question)
{
	if (question->version != 1 || question->count != 1 || question->metrics[0].id != 3 ||
	    *question->second != *question->first + 1)
		return NOT_SUPPORTED;
	question->metrics[0].result = SUCCESS;
	question->metrics[0].value = fake_nvml_occupancy;
	return SUCCESS;
}
