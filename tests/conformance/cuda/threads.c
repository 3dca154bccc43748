/* Many devices, each with a thread for commands and one for loading: in every call the right
 * context is current (F4). */
#include "cuda/double.h"
#include "cuda/workers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 4u
#define ROUNDS  60u

TestSuite(cuda_threads, .timeout = 120);

struct program {
	void *binary;
	size_t binary_bytes;
	char *log;
};

static void open_workers(struct fixture *fixture, struct worker workers[DEVICES],
			 struct program *program)
{
	struct backend_fault fault = {0};

	*fixture = (struct fixture){.wake_fd = -1};
	*program = (struct program){0};
	double_command("devices %u", DEVICES);
	fixture_open_backend(fixture);
	cr_assert_eq(fixture->ops->build(fixture->backend, 0, conformance_target.source_kind,
					 conformance_target.source,
					 strlen(conformance_target.source), "", &program->binary,
					 &program->binary_bytes, &program->log, &fault),
		     0, "%s", fault.text);
	for (uint32_t i = 0; i < DEVICES; i++)
		workers[i] = (struct worker){.ops = fixture->ops,
					     .backend = fixture->backend,
					     .index = i,
					     .rounds = ROUNDS,
					     .binary = program->binary,
					     .binary_bytes = program->binary_bytes};
}

static void close_workers(struct fixture *fixture, struct program *program)
{
	fixture->ops->close(fixture->backend);
	double_check(true);
	free(program->binary);
	free(program->log);
}

Test(cuda_threads, F4_threads_and_devices_at_once)
{
	static struct worker workers[DEVICES];
	struct fixture fixture;
	struct program program;

	open_workers(&fixture, workers, &program);
	for (uint32_t i = 0; i < DEVICES; i++)
		cr_assert_eq(worker_start(&workers[i]), 0);
	for (uint32_t i = 0; i < DEVICES; i++)
		worker_join(&workers[i]);
	for (uint32_t i = 0; i < DEVICES; i++)
		cr_assert_null(workers[i].failed, "%s: %s", workers[i].failed, workers[i].text);
	cr_assert_eq(double_count("contexts_created"), DEVICES);
	close_workers(&fixture, &program);
}

/* One thread for all devices, in turn: nothing depends on the context of the call before. */
Test(cuda_threads, F4_one_thread_and_many_devices)
{
	static struct worker workers[DEVICES];
	static struct worker_objects objects[DEVICES];
	uint64_t sequences[DEVICES] = {0};
	struct backend_fault fault = {0};
	struct fixture fixture;
	struct program program;
	unsigned seed = 7;

	open_workers(&fixture, workers, &program);
	for (uint32_t i = 0; i < DEVICES; i++) {
		cr_assert_eq(fixture.ops->device_open(fixture.backend, i, NULL, NULL,
						      &workers[i].device, &fault),
			     0, "%s", fault.text);
		cr_assert(worker_make(&workers[i], &objects[i]), "%s", workers[i].text);
	}
	for (uint32_t i = 0; i < 4 * ROUNDS; i++) {
		uint32_t at = (uint32_t)rand_r(&seed) % DEVICES;
		cr_assert(worker_round(&workers[at], &objects[at], &sequences[at], i), "%s: %s",
			  workers[at].failed, workers[at].text);
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		worker_drop(&workers[i], &objects[i]);
		fixture.ops->device_close(workers[i].device);
	}
	close_workers(&fixture, &program);
}
