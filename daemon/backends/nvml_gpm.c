/* NVML's own names, as in nvml.c. */
#include "nvml_gpm.h"

#include "clock.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

enum {
	SUCCESS = 0,
	VERSION = 1,
	SM_OCCUPANCY = 3,
	DEVICES_MOST = 64,
	/* The library's structure has room for all metrics, whose number grows. */
	METRICS_ROOM = 512,
};

/* The driver needs 100 ms between two samples, by its documentation. An H200 gives 0 after 20 ms.
 */
#define LEAST_NS 150000000ull
/* An average over a longer time is not the present. */
#define MOST_NS 2000000000ull

struct gpm_support {
	unsigned int version, is_supported;
};

struct gpm_metric {
	unsigned int id;
	int result;
	double value; /* percent */
	const char *names[3];
};

struct gpm_question {
	unsigned int version, count;
	void *first, *second;
	struct gpm_metric metrics[METRICS_ROOM];
};

struct gpm_device {
	void *device; /* NULL: this place is free */
	void *before, *after;
	uint64_t sampled_ns; /* when `before` was sampled; 0: never */
	bool is_supported, is_known;
	uint32_t permille; /* the last result */
};

static struct {
	int (*support)(void *device, struct gpm_support *support_out);
	int (*sample_alloc)(void **sample_out);
	int (*sample_get)(void *device, void *sample);
	int (*metrics)(struct gpm_question *question);
	struct gpm_device devices[DEVICES_MOST];
	struct gpm_question question;
} gpm;

static void gpm_find_function(void *library, const char *name, void *place)
{
	void *address = dlsym(library, name);
	memcpy(place, &address, sizeof(address));
}

void nvml_gpm_find(void *library)
{
	gpm_find_function(library, "nvmlGpmQueryDeviceSupport", &gpm.support);
	gpm_find_function(library, "nvmlGpmSampleAlloc", &gpm.sample_alloc);
	gpm_find_function(library, "nvmlGpmSampleGet", &gpm.sample_get);
	gpm_find_function(library, "nvmlGpmMetricsGet", &gpm.metrics);
}

static void gpm_device_init(struct gpm_device *at, void *device)
{
	struct gpm_support support = {.version = VERSION};
	at->device = device;
	at->is_supported = gpm.support && gpm.sample_alloc && gpm.sample_get && gpm.metrics &&
			   gpm.support(device, &support) == SUCCESS && support.is_supported &&
			   gpm.sample_alloc(&at->before) == SUCCESS &&
			   gpm.sample_alloc(&at->after) == SUCCESS;
}

/* NULL: there are too many devices. */
static struct gpm_device *gpm_device_of(void *device)
{
	for (unsigned i = 0; i < DEVICES_MOST; i++) {
		if (gpm.devices[i].device == device)
			return &gpm.devices[i];
		if (gpm.devices[i].device)
			continue;
		gpm_device_init(&gpm.devices[i], device);
		return &gpm.devices[i];
	}
	return NULL;
}

static bool gpm_sample_first(struct gpm_device *at)
{
	const struct timespec period = {.tv_nsec = (long)LEAST_NS};
	at->is_known = false;
	at->sampled_ns = 0;
	if (gpm.sample_get(at->device, at->before) != SUCCESS)
		return false;
	at->sampled_ns = clock_now_ns();
	(void)nanosleep(&period, NULL);
	return true;
}

static bool gpm_sample_next(struct gpm_device *at)
{
	struct gpm_metric *metric = gpm.question.metrics;
	at->is_known = false;
	if (gpm.sample_get(at->device, at->after) != SUCCESS)
		return false;
	gpm.question.version = VERSION;
	gpm.question.count = 1;
	gpm.question.first = at->before;
	gpm.question.second = at->after;
	*metric = (struct gpm_metric){.id = SM_OCCUPANCY};
	at->before = gpm.question.second;
	at->after = gpm.question.first;
	at->sampled_ns = clock_now_ns();
	/* A value that is no number fails the comparisons. */
	if (gpm.metrics(&gpm.question) != SUCCESS || metric->result != SUCCESS ||
	    !(metric->value >= 0 && metric->value <= 100))
		return false;
	at->permille = (uint32_t)(metric->value * 10 + 0.5);
	at->is_known = true;
	return true;
}

bool nvml_gpm_occupancy(void *device, uint32_t *permille_out)
{
	struct gpm_device *at = gpm_device_of(device);
	if (!at || !at->is_supported)
		return false;
	uint64_t age_ns = clock_now_ns() - at->sampled_ns;
	bool is_old = !at->sampled_ns || age_ns > MOST_NS;
	if (is_old && !gpm_sample_first(at))
		return false;
	if (is_old || age_ns >= LEAST_NS)
		(void)gpm_sample_next(at);
	*permille_out = at->permille;
	return at->is_known;
}
