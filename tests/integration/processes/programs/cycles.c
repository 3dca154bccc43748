/* Connections one after the other, and long sequences of work on one. */
#include "processes/programs/worker.h"
#include "processes/programs/lines.h"

#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char count_source[] = "SYCL_KERNEL void count_up(SYCL_GLOBAL(uint) y) { y[0] += 1; }";

static uint32_t cycles_program_first_word(sycl_buffer buffer)
{
	sycl_host_accessor accessor;
	void *pointer;
	worker_must(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		    "sycl_host_accessor_create");
	worker_must(sycl_host_accessor_get_pointer(accessor, &pointer),
		    "sycl_host_accessor_get_pointer");
	uint32_t word = *(const uint32_t *)pointer;
	worker_must(sycl_host_accessor_release(accessor), "sycl_host_accessor_release");
	return word;
}

static void submit_count_up(struct worker *worker, sycl_kernel kernel, sycl_buffer buffer,
			    sycl_event *event_out)
{
	for (;;) {
		sycl_handler h;
		worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
		worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE),
			    "accessor");
		worker_must(sycl_handler_single_task(h, kernel), "single_task");
		sycl_result r = sycl_handler_submit(h, event_out);
		if (r != SYCL_ERROR_QUOTA) {
			worker_must(r, "sycl_handler_submit");
			return;
		}
		/* This many are in flight already. */
		worker_must(sycl_queue_wait(worker->queue), "sycl_queue_wait");
	}
}

static void cycle(struct worker *worker)
{
	uint32_t zero[4] = {0};
	sycl_buffer buffer;
	worker_must(sycl_platform_open(worker->endpoint, &worker->platform), "sycl_platform_open");
	worker_must(sycl_queue_create_default(worker->platform, &worker->queue),
		    "sycl_queue_create_default");
	sycl_kernel kernel = worker_kernel(worker, count_source, "count_up");
	worker_must(sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_BORROWED,
				       &buffer),
		    "sycl_buffer_create");
	for (int i = 0; i < 3; i++)
		submit_count_up(worker, kernel, buffer, NULL);
	worker_check(cycles_program_first_word(buffer) == 3,
		     "three kernels counted to something else");
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	worker_check(zero[0] == 3, "the count was not written back");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
}

struct own_footprint {
	uint32_t descriptors, mappings;
	uint64_t resident_kib, allocated_kib;
};

/*
 * `line`: of /proc/self/maps. AddressSanitizer gives each large block a mapping and keeps freed
 * ones for a while. So with it only mappings of files count: arenas, rings and libraries.
 */
static bool is_own_mapping(const char *line)
{
#ifdef __SANITIZE_ADDRESS__
	return strchr(line, '/') != NULL;
#else
	(void)line;
	return true;
#endif
}

static struct own_footprint own_footprint(void)
{
	struct own_footprint footprint = {0};
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		footprint.descriptors++;
	if (folder)
		(void)closedir(folder);
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512];
	while (file && fgets(line, sizeof(line), file))
		footprint.mappings += is_own_mapping(line);
	if (file)
		(void)fclose(file);
	file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "VmRSS:", 6) == 0)
			footprint.resident_kib = strtoull(line + 6, NULL, 10);
	}
	if (file)
		(void)fclose(file);
	footprint.allocated_kib = mallinfo2().uordblks / 1024;
	return footprint;
}

int worker_cycles(struct worker *worker)
{
	/* The allocator's memory stops growing after the first few. */
	enum { WARM_UP = 250, MORE_KIB = 64, MORE_RESIDENT_KIB = 8192, MORE_MAPPINGS = 4 };
	struct own_footprint base = {0};
	for (uint64_t i = 0; i < worker->count; i++) {
		cycle(worker);
		if (i == WARM_UP)
			base = own_footprint();
		if (i % WORKER_CYCLES_TOLD == WORKER_CYCLES_TOLD - 1)
			worker_say("cycles");
	}
	if (worker->count > WARM_UP) {
		struct own_footprint end = own_footprint();
		worker_check(end.descriptors == base.descriptors,
			     "the client's descriptors have become more");
		worker_check(end.mappings <= base.mappings + MORE_MAPPINGS,
			     "the client's mappings have become more");
		worker_check(end.allocated_kib <= base.allocated_kib + MORE_KIB,
			     "the client has not freed its memory");
		/* Memory that one session's tables have left may not suit those of the next
		 * session. */
		worker_check(end.resident_kib <= base.resident_kib + MORE_RESIDENT_KIB,
			     "the client's memory has grown");
	}
	worker_say("ok");
	return 0;
}

int worker_count(struct worker *worker)
{
	static uint32_t zero[4];
	worker_connect(worker);
	sycl_kernel kernel = worker_kernel(worker, count_source, "count_up");
	sycl_buffer buffer;
	worker_must(
		sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST, &buffer),
		"sycl_buffer_create");
	worker_say("ready");
	for (uint64_t i = 0; i < worker->count; i++) {
		sycl_event event = NULL;
		submit_count_up(worker, kernel, buffer, i % 16 == 0 ? &event : NULL);
		if (event)
			worker_must(sycl_event_release(event), "sycl_event_release");
		if (i == worker->count / 4)
			worker_say("quarter");
	}
	worker_check(cycles_program_first_word(buffer) == worker->count,
		     "the kernels counted to something else");
	worker_must(sycl_buffer_release(buffer), "sycl_buffer_release");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
