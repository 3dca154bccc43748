/*
 * Copies of spilled memory in a timeline of 'syclctl trace': over PoCL, behind a layer that makes
 * it a small device with memory of its own, and on the double of NVIDIA's driver.
 */
#include "processes/fake_service.h"
#include "timeline_check.h"

#include "syclclient.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(processes_spill_trace, .timeout = 280);

/* The devices have room for eight buffers. On CUDA that is beside the memory for kernels. */
enum {
	BUFFERS = 24,
	ROOM = 8,
	MIB = 1 << 20,
	WORDS = MIB / 4,
	PATH_BYTES = 256,
	TEXT_BYTES = 4 << 20
};

static const char configuration[] = "[service]\nspill = yes\nstandby = no\n";

static sycl_platform platform;
static sycl_queue queue;
static uint32_t wanted_backend;

static int32_t is_wanted(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	cr_assert_eq(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					  &backend, NULL),
		     0);
	return backend == wanted_backend ? 1 : -1;
}

static void open_queue(const char *endpoint, uint32_t backend)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_device device;
	wanted_backend = backend;
	cr_assert_eq(sycl_platform_open(endpoint, &platform), 0, "%s", sycl_get_last_error_text());
	cr_assert_eq(sycl_device_select(platform, is_wanted, NULL, &device), 0, "%s",
		     sycl_get_last_error_text());
	options.properties = SYCL_QUEUE_IN_ORDER;
	cr_assert_eq(sycl_queue_create(NULL, device, &options, &queue), 0);
	(void)sycl_device_release(device);
}

/* Fills three times what there is room for, and reads it back. */
static void fill_and_read(uint32_t count)
{
	static uint32_t words[WORDS];
	sycl_buffer buffers[BUFFERS];
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(sycl_buffer_create(platform, NULL, MIB, SYCL_HOST_NONE, &buffers[i]),
			     0);
		cr_assert_eq(sycl_queue_fill(queue, buffers[i], 0, MIB, &i, sizeof(i), NULL), 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(sycl_queue_copy_to_host(queue, buffers[i], 0, words, MIB, NULL), 0);
		cr_assert_eq(sycl_queue_wait(queue), 0, "%s", sycl_get_last_error_text());
		cr_expect(words[0] == i && words[WORDS - 1] == i, "%u %u in buffer %u", words[0],
			  words[WORDS - 1], i);
	}
	for (uint32_t i = 0; i < count; i++)
		(void)sycl_buffer_release(buffers[i]);
}

static bool trace_has_begun(void *service)
{
	return private_service_has_logged(service, "trace: 1 of backend");
}

/* Returns the timeline of fill_and_read. */
static const char *record(const struct private_service *service, const char *device)
{
	static char path[PATH_BYTES], said[ANSWER_BYTES], text[TEXT_BYTES];
	char program[PATH_BYTES * 4];
	struct child recorder = CHILD_INIT;
	(void)snprintf(path, sizeof(path), "%s/trace.json", service->directory);
	const char *const argv[] = {
		program, "--runtime-dir",   service->runtime, "trace", path, "--seconds",
		"200",   "--format=chrome", "--device",       device,  NULL};
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	cr_assert_eq(child_start(argv, NULL, &recorder), 0);
	cr_assert(wait_until(trace_has_begun, (void *)(uintptr_t)service, SOON));
	json_decref(private_service_status(service)); /* the engine has begun it */
	fill_and_read(BUFFERS);
	cr_assert_eq(kill(recorder.pid, SIGINT), 0);
	cr_assert_geq(child_read_all(&recorder, said, sizeof(said), SOON), 0);
	cr_assert_eq(child_wait(&recorder, SOON), 0, "%s", said);
	child_end(&recorder);
	FILE *file = fopen(path, "re");
	cr_assert(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

struct copies {
	json_int_t spills, spilled_bytes, returns, returned_bytes;
};

/* The copies of the timeline, each of which has the members of its kind. */
static struct copies copies_of(const json_t *timeline)
{
	struct copies copies = {0};
	const json_t *event, *events = json_object_get(timeline, "traceEvents");
	size_t i;
	json_array_foreach(events, i, event)
	{
		const char *category = json_string_value(json_object_get(event, "cat")),
			   *name = json_string_value(json_object_get(event, "name"));
		const json_t *arguments = json_object_get(event, "args");
		json_int_t bytes = json_integer_value(json_object_get(arguments, "bytes"));
		if (!category || strcmp(category, "spill") != 0)
			continue;
		cr_expect_eq(json_integer_value(json_object_get(event, "pid")), 1,
			     "it is the device's");
		cr_expect_gt(json_integer_value(json_object_get(arguments, "session")), 0);
		cr_expect_gt(json_integer_value(json_object_get(arguments, "memory")), 0);
		cr_expect_eq(bytes, MIB);
		cr_expect_eq(json_object_get(arguments, "failed"), NULL);
		if (strcmp(name, "return") == 0)
			copies.returns++, copies.returned_bytes += bytes;
		else if (strcmp(name, "spill") == 0)
			copies.spills++, copies.spilled_bytes += bytes;
		else
			cr_expect_str_eq(name, "spill, needed again");
	}
	return copies;
}

static void expect_all_copies(const struct private_service *service, const char *text)
{
	char error[TIMELINE_ERROR_BYTES] = "";
	struct timeline_counts counts;
	json_t *timeline = NULL, *status = private_service_status(service);
	cr_assert_eq(timeline_check(text, &timeline, &counts, error), 0, "%s in %.4000s", error,
		     text);
	struct copies copies = copies_of(timeline);
	const json_t *claimed =
		json_object_get(json_array_get(json_object_get(status, "tenants"), 0), "spill");
	cr_expect_geq(copies.spills, BUFFERS - ROOM);
	cr_expect_geq(copies.returns, BUFFERS - ROOM);
	cr_expect_eq(copies.spills, json_integer_value(json_object_get(claimed, "spills")));
	cr_expect_eq(copies.spilled_bytes,
		     json_integer_value(json_object_get(claimed, "spilled_bytes")));
	cr_expect_eq(copies.returns, json_integer_value(json_object_get(claimed, "returns")));
	cr_expect_eq(copies.returned_bytes,
		     json_integer_value(json_object_get(claimed, "returned_bytes")));
	const json_t *facts = json_object_get(timeline, "otherData");
	cr_expect_geq(json_integer_value(json_object_get(facts, "spills")),
		      copies.spills + copies.returns);
	cr_expect_eq(json_integer_value(json_object_get(facts, "lost")), 0);
	json_decref(timeline);
	json_decref(status);
}

/* The first spill is reported at once. Later ones would be ten seconds later. */
static void expect_event(const struct private_service *service, const char *device)
{
	static const char *const words[ORDER_WORDS_MAX] = {"events", "--once", "--kind", "spill"};
	char said[ANSWER_BYTES], full[64];
	(void)snprintf(full, sizeof(full), ": %s is full: ", device);
	cr_assert_eq(processes_order(service, words, said), 0, "%s", said);
	cr_expect(strstr(said, full), "%s", said);
	cr_expect(strstr(said, "was spilled to the host"), "%s", said);
	char *second = strchr(said, '\n');
	cr_expect(second && !second[1], "there is one event: %s", said);
}

static void expect_spills_are_traced(const struct private_service *service, uint32_t backend,
				     const char *device)
{
	open_queue(service->endpoint, backend);
	fill_and_read(1); /* the device is open */
	expect_all_copies(service, record(service, device));
	expect_event(service, device);
	(void)sycl_queue_release(queue);
	(void)sycl_platform_release(platform);
}

/* A service passes no OPENCL_LAYERS to its engines, so these are started by a script that sets it.
 */
static void write_engine(char path[PATH_BYTES])
{
	char engine[PATH_BYTES * 4], layer[PATH_BYTES * 4];
	cr_assert_eq(build_path("bin", "sycl-engine", engine, sizeof(engine)), 0);
	cr_assert_eq(build_path("tests", "libopencl_discrete.so", layer, sizeof(layer)), 0);
	(void)snprintf(path, PATH_BYTES, "/tmp/sycld-engine.XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	FILE *file = fdopen(fd, "w");
	cr_assert(file);
	(void)fprintf(
		file,
		"#!/bin/sh\nexport OPENCL_LAYERS='%s' OPENCL_DISCRETE_BYTES=%d\nexec '%s' \"$@\"\n",
		layer, ROOM * MIB, engine);
	cr_assert_eq(fchmod(fd, 0755), 0);
	cr_assert_eq(fclose(file), 0);
}

Test(processes_spill_trace, TG15_copies_of_a_full_cpu_are_in_the_timeline)
{
	char engine[PATH_BYTES];
	struct private_service *service = NULL;
	write_engine(engine);
	const char *const options[] = {"--engine", engine, NULL};
	cr_assert_eq(private_service_start(configuration, options, &service), 0);
	expect_spills_are_traced(service, SYCL_BACKEND_KIND_OPENCL, "opencl:0");
	(void)private_service_free(service);
	(void)unlink(engine);
}

Test(processes_spill_trace, TG15_copies_of_a_full_gpu_are_in_the_timeline)
{
	struct fake_service fake = FAKE_SERVICE_INIT;
	fake_service_start(&fake, "memory 276824064", configuration, false);
	expect_spills_are_traced(fake.service, SYCL_BACKEND_KIND_CUDA, "cuda:0");
	fake_service_end(&fake);
}
