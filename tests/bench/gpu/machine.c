/* The means of a measurement on this machine: GPUs, a service that uses them, other users. */
#include "harness/client.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/driver.h"
#include "gpu/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETTLE_SECONDS = 15 };

static int driver_open(const char *argument, void **state_out)
{
	static struct gpu_driver driver;
	(void)argument;
	*state_out = gpu_driver_open(&driver, gpu_library(), false) ? &driver : NULL;
	return 0;
}

static int driver_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	const struct gpu_driver *driver = state;
	int devices = 0;
	(void)count;
	if (driver && driver->device_count(&devices) == 0)
		values_out[0] = devices;
	return 0;
}

static void nothing_close(void *state)
{
	(void)state;
}

static int machine_service_open(const char *argument, void **state_out)
{
	sycl_platform platform;
	if (!client_good(sycl_platform_open(argument, &platform), "sycl_platform_open"))
		return -EIO;
	*state_out = platform;
	return 0;
}

static int service_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	char why[256] = "";
	(void)count;
	values_out[0] = gpu_client_devices(state, why, sizeof(why));
	if (why[0])
		bench_complain("%s", why);
	return 0;
}

static void machine_service_close(void *state)
{
	(void)sycl_platform_release(state);
}

/* A separate process checks this, because syclbench itself must have no driver and no
 * connection. */
static unsigned machine_ask_agent(const struct agent_subject *subject, const char *argument)
{
	double values[AGENT_VALUES] = {0};
	struct agent agent = AGENT_INIT;
	int r = agent_start(subject, argument, &agent);
	if (r == 0)
		r = agent_measure(&agent, 0, values);
	agent_end(&agent);
	return r == 0 ? (unsigned)values[0] : 0;
}

unsigned gpu_device_count(void)
{
	static const struct agent_subject subject = {driver_open, driver_measure, nothing_close};
	static int known = -1;
	if (known < 0)
		known = (int)machine_ask_agent(&subject, "");
	return (unsigned)known;
}

static unsigned service_device_count(void)
{
	static const struct agent_subject subject = {machine_service_open, service_measure,
						     machine_service_close};
	static int known = -1;
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	if (known < 0)
		known = gpu_service(false, &service) == 0
				? (int)machine_ask_agent(&subject, service->endpoint)
				: 0;
	return (unsigned)known;
}

bool gpu_row_possible(struct bench *bench, const char *row, unsigned devices)
{
	char why[BENCH_NOTE_BYTES];
	if (gpu_device_count() == 0)
		(void)snprintf(why, sizeof(why), "this machine has no CUDA driver or no GPU");
	else if (gpu_device_count() < devices)
		(void)snprintf(why, sizeof(why), "this row needs %u GPUs, and there are %u",
			       devices, gpu_device_count());
	else if (service_device_count() < devices)
		(void)snprintf(why, sizeof(why), "the service shows %u CUDA devices",
			       service_device_count());
	else
		return true;
	bench_skip(bench, row, why);
	return false;
}

/* A library that replaces the driver may be where other users cannot read. */
static bool others_can_read(const char *path)
{
	int status = -1;
	pid_t child = fork();
	if (child == 0)
		_exit(setresgid(GPU_OTHER_UID, GPU_OTHER_UID, GPU_OTHER_UID) < 0 ||
		      setresuid(GPU_OTHER_UID, GPU_OTHER_UID, GPU_OTHER_UID) < 0 ||
		      access(path, R_OK) < 0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool gpu_users(void)
{
	const char *library = gpu_library();
	return geteuid() == 0 && (!library || !strchr(library, '/') || others_can_read(library));
}

int gpu_service_with(const char *lines, bool users, struct private_service **service_out)
{
	const char *library = gpu_library();
	char configuration[2048];
	const char *text = NULL;
	if (library || *lines || *gpu_settings()) {
		(void)snprintf(configuration, sizeof(configuration), "[cuda]\n%s%s%s%s%s",
			       library ? "library = " : "", library ? library : "",
			       library ? "\n" : "", gpu_settings(), lines);
		text = configuration;
	}
	return bench_service_with(text, users, service_out);
}

int gpu_service(bool users, struct private_service **service_out)
{
	return gpu_service_with("", users, service_out);
}

void gpu_settle(const struct private_service *service)
{
	if (private_service_wait_standby(service, SECONDS_NS(SETTLE_SECONDS)) == 0)
		bench_complain("no standby engine became ready: measured without one");
}

double gpu_engine_number(const struct private_service *service, const char *group, const char *name)
{
	json_t *status = private_service_status(service);
	const json_t *tenants = json_object_get(status, "tenants");
	double sum = 0;
	for (size_t i = 0; i < json_array_size(tenants); i++) {
		const json_t *tenant = json_array_get(tenants, i);
		sum += json_number_value(
			json_object_get(group ? json_object_get(tenant, group) : tenant, name));
	}
	json_decref(status);
	return sum;
}
