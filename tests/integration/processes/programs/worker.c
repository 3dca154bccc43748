#include "processes/programs/worker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_SECONDS = 600 };

static const struct {
	const char *name;
	worker_command *run;
} commands[] = {
	{"mix", worker_mix},
	{"usm", worker_usm},
	{"calls", worker_calls},
	{"breed", worker_breed},
	{"breed-threads", worker_breed_threads},
	{"eat", worker_eat},
	{"sizes", worker_sizes},
	{"loads", worker_loads},
	{"churn", worker_churn},
	{"chaos", worker_chaos},
	{"endless", worker_endless},
	{"blocked", worker_blocked},
	{"task", worker_task},
	{"steps", worker_steps},
	{"cycles", worker_cycles},
	{"open", worker_open},
	{"build-fails", worker_build_fails},
	{"build-eats", worker_build_eats},
	{"build-endless", worker_build_endless},
	{"null", worker_null},
	{"count", worker_count},
	{"crowd", worker_crowd},
	{"storm", worker_storm},
	{"share", worker_share},
	{"fault", worker_fault},
	{"trips", worker_trips},
	{"stream", worker_stream},
	{"take", worker_take},
	{"split", worker_split},
	{"split-portable", worker_split_portable},
	{"parts", worker_parts},
	{"beside", worker_beside},
	{"undrained", worker_undrained},
	{"gpu-steps", worker_gpu_steps},
	{"gpu-illegal", worker_gpu_illegal},
	{"gpu-misaligned", worker_gpu_misaligned},
	{"gpu-asserts", worker_gpu_asserts},
	{"gpu-traps", worker_gpu_traps},
	{"gpu-recurses", worker_gpu_recurses},
};

void worker_say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vprintf(format, arguments);
	va_end(arguments);
	(void)putchar('\n');
	(void)fflush(stdout);
}

void worker_must(sycl_result result, const char *what)
{
	if (result == 0)
		return;
	worker_say("FAIL %s: %s: %s", what, sycl_result_name(result), sycl_get_last_error_text());
	_exit(1);
}

void worker_check(bool holds, const char *what)
{
	if (holds)
		return;
	worker_say("FAIL %s", what);
	_exit(1);
}

void worker_say_result(sycl_result result)
{
	worker_say("result %d %s %s", (int)result, sycl_result_name(result),
		   result ? sycl_get_last_error_text() : "");
}

bool worker_next_line(void)
{
	char text[512];
	return fgets(text, sizeof(text), stdin) != NULL;
}

uint32_t worker_random(struct worker *worker, uint32_t bound)
{
	worker->seed = worker->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((worker->seed >> 33) % bound);
}

void worker_connect(struct worker *worker)
{
	/* A virtual machine without KVM can need longer to start a service than the default. */
	struct sycl_open_options patient = SYCL_OPEN_OPTIONS_INIT;
	patient.timeout_ns = OPEN_SECONDS * UINT64_C(1000000000);
	worker_must(sycl_platform_open_with(worker->endpoint, &patient, &worker->platform),
		    "sycl_platform_open_with");
	uint64_t session = 0;
	worker_must(sycl_platform_get_info(worker->platform, SYCL_PLATFORM_INFO_SESSION,
					   sizeof(session), &session, NULL),
		    "session number");
	sycl_device device;
	worker_must(sycl_device_select(worker->platform, sycl_default_selector, NULL, &device),
		    "sycl_device_select");
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	worker_must(sycl_queue_create(NULL, device, &options, &worker->queue), "sycl_queue_create");
	worker_must(sycl_device_release(device), "sycl_device_release");
	worker_say("session %llu", (unsigned long long)session);
}

static int32_t choose_fake(sycl_device device, void *name)
{
	char of_device[64];
	sycl_result r = sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(of_device),
					     of_device, NULL);
	return r == 0 && strcmp(of_device, name) == 0 ? 1 : -1;
}

void worker_connect_fake(struct worker *worker, uint32_t properties)
{
	sycl_device device;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	char name[64];
	(void)snprintf(name, sizeof(name), "Fake device %u", worker->device);
	options.properties = properties;
	worker_must(sycl_platform_open(worker->endpoint, &worker->platform), "sycl_platform_open");
	worker_must(sycl_device_select(worker->platform, choose_fake, name, &device),
		    "sycl_device_select");
	worker_must(sycl_queue_create(NULL, device, &options, &worker->queue), "sycl_queue_create");
	worker_must(sycl_device_release(device), "sycl_device_release");
}

void worker_disconnect(struct worker *worker)
{
	worker_must(sycl_queue_release(worker->queue), "sycl_queue_release");
	worker_must(sycl_platform_release(worker->platform), "sycl_platform_release");
}

sycl_kernel worker_kernel(struct worker *worker, const char *source, const char *name)
{
	sycl_kernel kernel = NULL;
	sycl_result r = sycl_kernel_from_source(worker->queue, source, name, &kernel);
	if (r != 0)
		worker_say("log %s", sycl_get_build_log());
	worker_must(r, "sycl_kernel_from_source");
	return kernel;
}

/* Runs as a program of that user. The user may be unable to read the program file itself. */
static bool become(const char *text)
{
	uid_t uid = (uid_t)strtoul(text, NULL, 10);
	return setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0;
}

static bool take_option(struct worker *worker, const char *name, const char *value)
{
	if (strcmp(name, "--endpoint") == 0)
		worker->endpoint = value;
	else if (strcmp(name, "--seed") == 0)
		worker->seed = strtoull(value, NULL, 10);
	else if (strcmp(name, "--count") == 0)
		worker->count = strtoull(value, NULL, 10);
	else if (strcmp(name, "--device") == 0)
		worker->device = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "--uid") == 0)
		return become(value);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct worker worker = {.seed = 1, .count = 1};
	bool good = argc >= 2;
	for (int i = 2; i < argc && good; i++) {
		if (strcmp(argv[i], "--fork-child") == 0)
			worker.fork_child = true;
		else
			good = i + 1 < argc && take_option(&worker, argv[i], argv[i + 1]), i++;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands) && good; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(&worker);
	(void)fprintf(
		stderr,
		"usage: worker COMMAND [--endpoint E] [--seed N] [--count N] [--device N] [--uid N] [--fork-child]\n");
	return 2;
}
