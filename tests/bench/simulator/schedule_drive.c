#include "simulator/schedule_drive.h"

#include "access_mode.h"
#include "cleanup.h"
#include "clock.h"
#include "fake_control.h"
#include "scheduler/public/scheduler.h"

#include <errno.h>
#include <malloc.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER_BYTES = 4096, PARTS = 16, PART_BYTES = BUFFER_BYTES / PARTS, TURN = 128, FEW = 16 };

/* A session of the scheduler. */
struct drive {
	struct scheduler *scheduler;
	struct scheduler_device *device;
	struct sched_program *program;
	struct sched_kernel *kernel;
	struct sched_buffer *buffers[SCHEDULE_BUFFERS];
	struct task_request request;
	struct task_requirement requirements[SCHEDULE_REQUIREMENTS];
	struct task_argument arguments[SCHEDULE_REQUIREMENTS];
	void *host;
	sem_t bell;
	uint64_t random;
	uint32_t open, freed;
	int32_t failed; /* the first status that was not success */
	bool ready;     /* the kernel is made */
};

static void on_task_done(void *context, void *owner, struct task *task,
			 const struct task_outcome *outcome)
{
	struct drive *drive = context;
	(void)owner;
	(void)task;
	drive->open--;
	if (outcome->fault.status && !drive->failed)
		drive->failed = outcome->fault.status;
}

static void on_buffer_freed(void *context, void *owner)
{
	struct drive *drive = context;
	(void)owner;
	drive->freed++;
}

static void on_program_loaded(void *context, void *owner, struct sched_program *program,
			      const char *kernel_names, const struct backend_fault *fault)
{
	struct drive *drive = context;
	(void)owner;
	(void)program;
	(void)kernel_names;
	if (fault->status)
		drive->failed = fault->status;
}

static void on_kernel_created(void *context, void *owner, struct sched_kernel *kernel,
			      const struct backend_kernel_facts *facts,
			      const struct backend_fault *fault)
{
	struct drive *drive = context;
	(void)owner;
	(void)kernel;
	(void)facts;
	drive->ready = true;
	if (fault->status)
		drive->failed = fault->status;
}

static void wake_front(void *context)
{
	(void)sem_post(&((struct drive *)context)->bell);
}

/* A turn of the loop, after a sleep if there is nothing to do. Submitted tasks have been
 * flushed. */
static void turn_drive(struct drive *drive)
{
	if (scheduler_sleep(drive->scheduler)) {
		while (sem_wait(&drive->bell) < 0 && errno == EINTR)
			continue;
		scheduler_awake(drive->scheduler);
	}
	scheduler_progress(drive->scheduler);
}

static uint32_t draw_random(struct drive *drive, uint32_t below)
{
	drive->random ^= drive->random >> 12;
	drive->random ^= drive->random << 25;
	drive->random ^= drive->random >> 27;
	return (uint32_t)(((drive->random * 2685821657736338717ull) >> 33) * below >> 31);
}

/* The nodes of a tree from the leaves to the root, repeatedly. */
static void choose_tree(uint64_t number, uint32_t *buffers)
{
	const uint32_t inner = (SCHEDULE_BUFFERS - 1) / 2;
	uint32_t node = inner - 1 - (uint32_t)(number % inner);
	buffers[0] = node;
	buffers[1] = 2 * node + 1;
	buffers[2] = 2 * node + 2;
}

static void choose_random(struct drive *drive, uint32_t *buffers, uint32_t *modes)
{
	static const uint32_t all[] = {ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE,
				       ACCESS_MODE_WRITE_NO_INIT};
	buffers[0] = draw_random(drive, SCHEDULE_BUFFERS);
	buffers[1] =
		(buffers[0] + 1 + draw_random(drive, SCHEDULE_BUFFERS / 2 - 1)) % SCHEDULE_BUFFERS;
	buffers[2] =
		(buffers[0] + SCHEDULE_BUFFERS / 2 + draw_random(drive, SCHEDULE_BUFFERS / 2)) %
		SCHEDULE_BUFFERS;
	for (uint32_t i = 0; i < SCHEDULE_REQUIREMENTS; i++)
		modes[i] = all[draw_random(drive, 3)];
}

static void choose(struct drive *drive, enum schedule_shape shape, uint64_t number,
		   uint32_t *buffers, uint32_t *modes)
{
	for (uint32_t i = 0; i < SCHEDULE_REQUIREMENTS; i++) {
		buffers[i] = (uint32_t)((number + i) % SCHEDULE_BUFFERS);
		modes[i] = shape == SCHEDULE_CHAIN ? ACCESS_MODE_READ_WRITE : ACCESS_MODE_READ;
	}
	if (shape == SCHEDULE_TREE) {
		choose_tree(number, buffers);
		modes[0] = ACCESS_MODE_READ_WRITE;
	} else if (shape == SCHEDULE_RANDOM || shape == SCHEDULE_PARTS) {
		choose_random(drive, buffers, modes);
	}
}

/* The values that all groups of a shape have. */
static void prepare_request(struct drive *drive, enum schedule_shape shape)
{
	drive->request = (struct task_request){
		.device = drive->device,
		.owner = drive,
		.what = "noop",
		.requirements = drive->requirements,
		.requirement_count = SCHEDULE_REQUIREMENTS,
		.action = TASK_LAUNCH,
		.launch = {.kernel = drive->kernel,
			   .dimensions = 1,
			   .global = {1},
			   .arguments = drive->arguments,
			   .argument_count = SCHEDULE_REQUIREMENTS},
	};
	for (uint32_t i = 0; i < SCHEDULE_REQUIREMENTS; i++) {
		drive->requirements[i].size_bytes =
			shape == SCHEDULE_PARTS ? PART_BYTES : BUFFER_BYTES;
		drive->arguments[i] =
			(struct task_argument){.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = i};
	}
}

static int submit_shape(struct drive *drive, enum schedule_shape shape, uint64_t number)
{
	uint32_t buffers[SCHEDULE_REQUIREMENTS], modes[SCHEDULE_REQUIREMENTS];
	struct task *task;
	choose(drive, shape, number, buffers, modes);
	for (uint32_t i = 0; i < SCHEDULE_REQUIREMENTS; i++) {
		struct task_requirement *requirement = &drive->requirements[i];
		requirement->buffer = drive->buffers[buffers[i]];
		requirement->mode = modes[i];
		if (shape != SCHEDULE_PARTS)
			continue;
		requirement->offset_bytes = requirement->order_offset_bytes =
			(uint64_t)PART_BYTES * draw_random(drive, PARTS);
		requirement->order_size_bytes = PART_BYTES;
	}
	drive->open++;
	int r = task_submit(drive->scheduler, &drive->request, &task);
	if (r < 0)
		drive->open--;
	return r;
}

static int submit_all(struct drive *drive, enum schedule_shape shape, uint64_t groups,
		      uint32_t open)
{
	prepare_request(drive, shape);
	for (uint64_t i = 0; i < groups; i++) {
		int r = submit_shape(drive, shape, i);
		if (r < 0)
			return r;
		if (i % TURN == TURN - 1 || drive->open >= open)
			scheduler_progress(drive->scheduler);
		while (drive->open >= open)
			turn_drive(drive);
	}
	scheduler_flush(drive->scheduler);
	while (drive->open > 0)
		turn_drive(drive);
	return drive->failed ? -EIO : 0;
}

static int load_kernel(struct drive *drive)
{
	static const char text[] = "noop\n";
	CLEANUP(free_pointer) void *binary = NULL;
	CLEANUP(free_pointer) char *log = NULL;
	struct backend_fault fault;
	size_t bytes;
	int r = backend_fake_ops.build(NULL, 0, BACKEND_SOURCE_BUILTIN, text, sizeof(text) - 1, "",
				       &binary, &bytes, &log, &fault);
	if (r == 0)
		r = sched_program_load(drive->scheduler, drive->device, binary, bytes, drive,
				       &drive->program);
	if (r == 0)
		r = sched_kernel_create(drive->scheduler, drive->program, "noop", drive,
					&drive->kernel);
	scheduler_flush(drive->scheduler);
	while (r == 0 && !drive->ready)
		turn_drive(drive);
	return r < 0 ? r : drive->failed ? -EIO : 0;
}

static int make_buffers(struct drive *drive)
{
	drive->host = aligned_alloc(4096, (size_t)SCHEDULE_BUFFERS * BUFFER_BYTES);
	if (!drive->host)
		return -ENOMEM;
	memset(drive->host, 0, (size_t)SCHEDULE_BUFFERS * BUFFER_BYTES);
	for (uint32_t i = 0; i < SCHEDULE_BUFFERS; i++) {
		uint8_t *host = (uint8_t *)drive->host + (size_t)i * BUFFER_BYTES;
		int r = sched_buffer_create(drive->scheduler, BUFFER_BYTES, host, true, drive,
					    &drive->buffers[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static void drive_cleanup(struct drive *drive)
{
	uint32_t buffers = 0;
	for (uint32_t i = 0; i < SCHEDULE_BUFFERS; i++) {
		if (!drive->buffers[i])
			continue;
		sched_buffer_release(drive->buffers[i]);
		buffers++;
	}
	if (drive->kernel)
		sched_kernel_release(drive->kernel);
	if (drive->program)
		sched_program_release(drive->program);
	if (drive->scheduler)
		scheduler_flush(drive->scheduler);
	while (drive->freed < buffers)
		turn_drive(drive);
	(void)scheduler_free(drive->scheduler);
	free(drive->host);
	(void)sem_destroy(&drive->bell);
}

static double heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();
	return (double)(info.uordblks + info.hblkhd);
}

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec time;
	(void)clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int open_drive(struct drive *drive)
{
	static const struct backend_ops *const backends[] = {&backend_fake_ops, NULL};
	static const struct scheduler_callbacks callbacks = {
		.on_task_done = on_task_done,
		.on_buffer_freed = on_buffer_freed,
		.on_program_loaded = on_program_loaded,
		.on_kernel_created = on_kernel_created,
		.wake_front = wake_front,
	};
	const struct scheduler_config config = {.backends = backends};
	fake_reset();
	(void)fake_devices(1);
	fake_device_options(0, (struct fake_device_options){.manual = true});
	int r = scheduler_create(&config, &callbacks, drive, &drive->scheduler);
	if (r < 0)
		return r;
	scheduler_awake(drive->scheduler);
	r = scheduler_device(drive->scheduler, 0, &drive->device);
	if (r == 0)
		r = make_buffers(drive);
	return r < 0 ? r : load_kernel(drive);
}

/*
 * First all memories are made, with few tasks. Then as many tasks as may be open exist at once.
 * Then enough pass through that every part of every buffer has been used.
 */
static int warm_up(struct drive *drive, enum schedule_shape shape, uint32_t open,
		   double *open_bytes_out)
{
	int r = submit_all(drive, shape, 2 * (uint64_t)SCHEDULE_BUFFERS, FEW);
	double before = heap_bytes();
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < open && r == 0; i++)
		r = submit_shape(drive, shape, i);
	scheduler_flush(drive->scheduler);
	*open_bytes_out = (heap_bytes() - before) / (open - FEW);
	fake_device_gate_open(0);
	return r < 0 ? r : submit_all(drive, shape, 4 * (uint64_t)SCHEDULE_BUFFERS * PARTS, open);
}

int schedule_drive(enum schedule_shape shape, uint64_t groups, uint32_t open,
		   struct schedule_result *result_out)
{
	if (groups == 0 || open <= FEW)
		return -EINVAL;
	CLEANUP(drive_cleanup) struct drive drive = {.random = 88172645463325252ull};
	struct schedule_result result = {.wall_ns = 0};
	if (sem_init(&drive.bell, 0, 0) < 0)
		return -errno;
	int r = open_drive(&drive);
	if (r == 0)
		r = warm_up(&drive, shape, open, &result.open_bytes);
	if (r < 0)
		return r;
	double heap = heap_bytes();
	uint64_t wall = clock_now_ns(), front = cpu_ns(CLOCK_THREAD_CPUTIME_ID),
		 all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	r = submit_all(&drive, shape, groups, open);
	if (r < 0)
		return r;
	front = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - front;
	all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
	result.wall_ns = (double)(clock_now_ns() - wall) / (double)groups;
	result.front_ns = (double)front / (double)groups;
	result.device_ns = (double)(all - front) / (double)groups;
	result.grown_bytes = heap_bytes() - heap;
	*result_out = result;
	return 0;
}

const char *schedule_shape_name(enum schedule_shape shape)
{
	static const char *const names[SCHEDULE_SHAPES] = {"independent", "chain", "tree", "random",
							   "parts"};
	return names[shape];
}
