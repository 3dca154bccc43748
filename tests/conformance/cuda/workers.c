#include "cuda/workers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

static bool wrong(struct worker *worker, const char *what, const struct backend_fault *fault)
{
	const char *none = NULL;

	if (atomic_compare_exchange_strong(&worker->failed, &none, what))
		(void)snprintf(worker->text, sizeof(worker->text), "device %u: %.200s",
			       worker->index, fault->text);
	return false;
}

/* Waits until the lane has reported this sequence; false: it reported a failure. */
static bool await_sequence(struct worker *worker, uint64_t sequence)
{
	const struct timespec poll = {.tv_nsec = 20000};
	uint64_t completed = 0;

	while (completed < sequence) {
		struct backend_completion completions[8];
		uint32_t count = worker->ops->progress(worker->device, completions, 8);
		for (uint32_t i = 0; i < count; i++) {
			completed = completions[i].sequence;
			if (completions[i].fault.status)
				return wrong(worker, "a command", &completions[i].fault);
		}
		if (count == 0)
			(void)nanosleep(&poll, NULL);
	}
	return true;
}

bool worker_make(struct worker *worker, struct worker_objects *objects)
{
	const struct backend_ops *ops = worker->ops;
	struct backend_fault fault = {0};

	if (ops->lane_create(worker->device, BACKEND_LANE_COMPUTE, &objects->lane, &fault) < 0)
		return wrong(worker, "a lane", &fault);
	if (ops->memory_create(worker->device, WORKER_WORDS * 4, NULL, BACKEND_EXPORT_NONE,
			       &objects->memory, &fault) < 0)
		return wrong(worker, "memory", &fault);
	if (ops->program_load(worker->device, worker->binary, worker->binary_bytes,
			      &objects->program, &fault) < 0)
		return wrong(worker, "a program", &fault);
	if (ops->kernel_create(objects->program, "fill_u32", &objects->kernel, &fault) < 0)
		return wrong(worker, "a kernel", &fault);
	return true;
}

void worker_drop(struct worker *worker, struct worker_objects *objects)
{
	worker->ops->kernel_free(objects->kernel);
	worker->ops->program_free(objects->program);
	worker->ops->memory_free(objects->memory);
	if (objects->lane)
		worker->ops->lane_free(objects->lane);
}

bool worker_round(struct worker *worker, struct worker_objects *objects, uint64_t *sequence,
		  uint32_t value)
{
	const struct backend_argument arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .global = {.memory = objects->memory}},
		{.kind = BACKEND_ARGUMENT_VALUE, .value = {.bytes = &value, .size_bytes = 4}},
	};
	const struct backend_command launch = {
		.kind = BACKEND_COMMAND_LAUNCH,
		.launch = {.kernel = objects->kernel,
			   .dimensions = 1,
			   .global = {WORKER_WORDS, 1, 1},
			   .arguments = arguments,
			   .argument_count = 2},
	};
	uint32_t words[WORKER_WORDS] = {0};
	const struct backend_command read = {.kind = BACKEND_COMMAND_READ,
					     .transfer = {.memory = objects->memory,
							  .size_bytes = sizeof(words),
							  .host = words}};
	struct backend_fault fault = {0};

	if (worker->ops->submit(objects->lane, &launch, NULL, 0, ++*sequence, NULL, &fault) < 0 ||
	    worker->ops->submit(objects->lane, &read, NULL, 0, ++*sequence, NULL, &fault) < 0)
		return wrong(worker, "a submission", &fault);
	worker->ops->flush(worker->device);
	if (!await_sequence(worker, *sequence))
		return false;
	if (words[0] != value || words[WORKER_WORDS - 1] != value)
		return wrong(worker, "a result", &fault);
	return true;
}

static void *run_commands(void *argument)
{
	struct worker *worker = argument;
	struct backend_fault fault = {0};
	struct worker_objects objects = {0};
	uint64_t sequence = 0;

	if (worker->ops->device_open(worker->backend, worker->index, NULL, NULL, &worker->device,
				     &fault) < 0)
		(void)wrong(worker, "the device", &fault);
	(void)pthread_barrier_wait(&worker->opened);
	if (worker->device && worker_make(worker, &objects))
		for (uint32_t i = 0; i < worker->rounds && worker_round(worker, &objects, &sequence,
									worker->index * 1000 + i);
		     i++)
			;
	(void)pthread_barrier_wait(&worker->loaded);
	if (worker->device) {
		worker_drop(worker, &objects);
		worker->ops->device_close(worker->device);
	}
	return NULL;
}

static void *run_loads(void *argument)
{
	struct worker *worker = argument;
	const struct backend_ops *ops = worker->ops;
	struct backend_fault fault = {0};
	void *pages =
		mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)pthread_barrier_wait(&worker->opened);
	for (uint32_t i = 0; worker->device && i < worker->rounds / 4; i++) {
		struct backend_program *program = NULL;
		struct backend_kernel *kernel = NULL;
		struct backend_host *host = NULL;
		if (ops->program_load(worker->device, worker->binary, worker->binary_bytes,
				      &program, &fault) < 0 ||
		    ops->kernel_create(program, "mix_u32", &kernel, &fault) < 0)
			(void)wrong(worker, "loading", &fault);
		if (ops->host_register(worker->device, pages, 1 << 16, &host, &fault) < 0)
			(void)wrong(worker, "pinning", &fault);
		ops->host_unregister(host);
		ops->kernel_free(kernel);
		ops->program_free(program);
	}
	(void)munmap(pages, 1 << 16);
	(void)pthread_barrier_wait(&worker->loaded);
	return NULL;
}

int worker_start(struct worker *worker)
{
	(void)pthread_barrier_init(&worker->opened, NULL, 2);
	(void)pthread_barrier_init(&worker->loaded, NULL, 2);
	int error = pthread_create(&worker->commands, NULL, run_commands, worker);
	return error ? error : pthread_create(&worker->loads, NULL, run_loads, worker);
}

void worker_join(struct worker *worker)
{
	(void)pthread_join(worker->commands, NULL);
	(void)pthread_join(worker->loads, NULL);
}
