/* The part of `worker chaos` that works on USM of the kinds that its device has. */
#include "processes/programs/chaos.h"

#include <stdlib.h>

enum { USM_WORDS = 2048, USM_BYTES = USM_WORDS * 4, KERNELS_MAX = 6 };

struct work {
	struct chaos *chaos;
	uint32_t *there, *here;
	sycl_event last; /* the predecessor of the next command: addresses order nothing */
};

static sycl_result chaos_usm_allocate_usm(struct work *work)
{
	static const sycl_aspect aspects[] = {SYCL_ASPECT_USM_DEVICE_ALLOCATIONS,
					      SYCL_ASPECT_USM_HOST_ALLOCATIONS,
					      SYCL_ASPECT_USM_SHARED_ALLOCATIONS};
	static const sycl_usm_kind kinds[] = {SYCL_USM_DEVICE, SYCL_USM_HOST, SYCL_USM_SHARED};
	uint32_t has[3] = {0}, which[2] = {worker_random(work->chaos->worker, 3),
					   1 + worker_random(work->chaos->worker, 2)};
	void *pointers[2] = {NULL};
	sycl_result r = 0;
	/* Both doubles of the driver begin with the same addresses. An address of the engine's
	 * double may then be in use in this program. */
	if (getenv("SYCLD_CUDA_LIBRARY") && which[0] == 0)
		which[0] = 1;
	for (int i = 0; i < 3 && r == 0; i++)
		r = sycl_device_has(work->chaos->device, aspects[i], &has[i]);
	if (r || !has[which[0]] || !has[which[1]])
		return r;
	for (int i = 0; i < 2 && r == 0; i++)
		r = sycl_usm_malloc(work->chaos->context, work->chaos->device, kinds[which[i]],
				    USM_BYTES, 0, &pointers[i]);
	work->there = pointers[0];
	work->here = pointers[1];
	return r;
}

static sycl_event take_last(struct work *work)
{
	sycl_event last = work->last;
	work->last = NULL;
	return last;
}

static sycl_result add_to_usm(struct work *work, uint32_t n)
{
	sycl_event before = take_last(work);
	sycl_handler handler = NULL;
	sycl_result r = sycl_handler_begin(work->chaos->queue, &handler);
	if (r == 0) {
		worker_must(sycl_handler_set_usm(handler, 0, work->there), "set_usm");
		worker_must(sycl_handler_set_value(handler, 1, sizeof(n), &n), "value");
		worker_must(sycl_handler_depends_on(handler, before), "depends_on");
		worker_must(sycl_handler_single_task(handler, work->chaos->kernel), "single_task");
		r = sycl_handler_submit(handler, &work->last);
	}
	(void)sycl_event_release(before);
	return r;
}

static sycl_result fetch(struct work *work)
{
	sycl_event before = take_last(work);
	sycl_result r = sycl_queue_memcpy(work->chaos->queue, work->here, work->there, USM_BYTES, 1,
					  &before, &work->last);
	(void)sycl_event_release(before);
	return r ? r : sycl_event_wait(work->last);
}

static sycl_result run_usm(struct work *work)
{
	uint32_t word = worker_random(work->chaos->worker, 1u << 30),
		 kernels = worker_random(work->chaos->worker, KERNELS_MAX);
	struct chaos_contents contents = {word, word};
	sycl_result r = sycl_queue_usm_fill(work->chaos->queue, work->there, USM_BYTES, &word,
					    sizeof(word), 0, NULL, &work->last);
	for (uint32_t i = 0; i < kernels && r == 0; i++) {
		uint32_t n = worker_random(work->chaos->worker, 1000);
		contents.first += n;
		r = add_to_usm(work, n);
	}
	if (r == 0)
		r = fetch(work);
	if (r == 0)
		chaos_compare(work->here, USM_BYTES, contents, "USM's");
	return r;
}

sycl_result chaos_usm_round(struct chaos *chaos)
{
	struct work work = {.chaos = chaos};
	sycl_result r = chaos_usm_allocate_usm(&work);
	if (r == 0 && work.there && work.here) {
		r = run_usm(&work);
		chaos->did.usm += r == 0;
	}
	if (work.last)
		(void)sycl_event_release(work.last);
	if (work.there)
		(void)sycl_usm_free(chaos->context, work.there);
	if (work.here)
		(void)sycl_usm_free(chaos->context, work.here);
	return r;
}
