/*
 * USM of a context of two devices: which device can access which memory (F6, B27, and usm.h's
 * kinds). With one device it is used as both and can access all of it.
 */
#include "library/usm.h"

TestSuite(usm_devices, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

enum { DEVICES = 2 };

struct both {
	sycl_device devices[DEVICES];
	sycl_context context;
	sycl_queue queues[DEVICES];
	sycl_kernel increment[DEVICES], copy[DEVICES];
};

static void both_begin(struct both *both)
{
	both->devices[0] = device;
	MUST(sycl_device_retain(device));
	both->devices[1] = usm_other_device();
	MUST(sycl_context_create(both->devices[0] == both->devices[1] ? 1 : DEVICES, both->devices,
				 &both->context));
	for (uint32_t i = 0; i < DEVICES; i++) {
		MUST(sycl_queue_create(both->context, both->devices[i], NULL, &both->queues[i]));
		both->increment[i] = portable_kernel(both->queues[i], "increment_u32");
		both->copy[i] = portable_kernel(both->queues[i], "copy_u32");
	}
}

static void both_end(struct both *both)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		MUST(sycl_kernel_release(both->increment[i]));
		MUST(sycl_kernel_release(both->copy[i]));
		MUST(sycl_queue_release(both->queues[i]));
		MUST(sycl_device_release(both->devices[i]));
	}
	MUST(sycl_context_release(both->context));
}

/* Allocates WORDS words, all 0, of the device. */
static uint32_t *words_of(const struct both *both, uint32_t which, sycl_usm_kind kind)
{
	void *pointer = NULL;
	MUST(sycl_usm_malloc(both->context, both->devices[which], kind, WORDS_BYTES, 0, &pointer));
	usm_set(both->queues[which], pointer, 0);
	return pointer;
}

static const sycl_usm_kind reached[] = {SYCL_USM_HOST, SYCL_USM_SHARED};

/* Kernels of both devices and the program take turns, which only events order. */
Test(usm_devices, B19_kernels_of_both_devices_reach_host_and_shared_usm_of_either)
{
	enum { TURNS = 20 };
	struct both both;
	both_begin(&both);
	for (uint32_t k = 0; k < 2 * DEVICES; k++) {
		uint32_t *words = words_of(&both, k % 2, reached[k / 2]);
		sycl_event before = NULL;
		for (uint32_t turn = 0; turn < TURNS; turn++) {
			sycl_event event = NULL;
			const uint32_t q = (turn + k / 2) % 2;
			usm_run(&(struct usm_run){.on = both.queues[q],
						  .kernel = both.increment[q],
						  .to = words,
						  .after = before},
				&event);
			if (before)
				MUST(sycl_event_release(before));
			before = event;
		}
		MUST(sycl_event_wait(before));
		MUST(sycl_event_release(before));
		for (uint32_t i = 0; i < WORDS; i++) {
			cr_assert(eq(u32, words[i], TURNS), "case %u, word %u", k, i);
			words[i] += i;
		}
		/* The device that does not own the memory reads what the program wrote. */
		const uint32_t other = 1 - k % 2;
		uint32_t *target = words_of(&both, other, SYCL_USM_DEVICE);
		sycl_event copied = NULL;
		static uint32_t got[WORDS];
		usm_run(&(struct usm_run){.on = both.queues[other],
					  .kernel = both.copy[other],
					  .to = target,
					  .from = words},
			&copied);
		MUST(sycl_queue_memcpy(both.queues[other], got, target, WORDS_BYTES, 1, &copied,
				       NULL));
		MUST(sycl_queue_wait(both.queues[other]));
		for (uint32_t i = 0; i < WORDS; i++)
			cr_assert(eq(u32, got[i], TURNS + i), "case %u, word %u", k, i);
		MUST(sycl_event_release(copied));
		MUST(sycl_usm_free(both.context, target));
		MUST(sycl_usm_free(both.context, words));
	}
	both_end(&both);
}

/* From every kind on either device to every kind on either device, by either queue. */
Test(usm_devices, F6_copies_between_all_kinds_on_both_devices)
{
	enum { PLACES = 5 };
	static const struct {
		sycl_usm_kind kind;
		uint32_t device;
	} kinds[PLACES] = {{SYCL_USM_DEVICE, 0},
			   {SYCL_USM_DEVICE, 1},
			   {SYCL_USM_SHARED, 0},
			   {SYCL_USM_SHARED, 1},
			   {SYCL_USM_HOST, 0}};
	struct both both;
	uint32_t *places[PLACES], value = 1;
	both_begin(&both);
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = words_of(&both, kinds[i].device, kinds[i].kind);
	for (uint32_t c = 0; c < PLACES * PLACES * DEVICES; c++) {
		const uint32_t from = c % PLACES, to = c / PLACES % PLACES,
			       q = c / (PLACES * PLACES);
		sycl_event event = NULL;
		if (from == to)
			continue;
		usm_set(both.queues[kinds[from].device], places[from], ++value);
		MUST(sycl_queue_memcpy(both.queues[q], places[to], places[from], WORDS_BYTES, 0,
				       NULL, &event));
		MUST(sycl_event_wait(event));
		MUST(sycl_event_release(event));
		cr_assert(usm_are(both.queues[1 - q], places[to], value), "from %u to %u by %u",
			  from, to, q);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		MUST(sycl_usm_free(both.context, places[i]));
	both_end(&both);
}

/* Only its own device can access device USM, also inside of one context. */
Test(usm_devices, B27_device_usm_of_the_other_device_is_no_argument)
{
	struct both both;
	const uint32_t value = 7;
	both_begin(&both);
	for (uint32_t i = 0; i < DEVICES; i++) {
		uint32_t *words = words_of(&both, i, SYCL_USM_DEVICE);
		sycl_queue other = both.queues[1 - i];
		sycl_device its = NULL;
		sycl_handler handler = NULL;
		MUST(sycl_usm_get_pointer_device(both.context, words, &its));
		cr_assert(eq(ptr, its, both.devices[i]));
		MUST(sycl_device_release(its));
		MUST(sycl_handler_begin(other, &handler));
		sycl_result result = sycl_handler_set_usm(handler, 0, words);
		if (result == SYCL_SUCCESS) {
			MUST(sycl_handler_parallel_for(handler, both.increment[1 - i],
						       sycl_range1(WORDS)));
			result = sycl_handler_submit(handler, NULL);
		} else {
			MUST(sycl_handler_discard(handler));
		}
		const bool alone = both.devices[0] == both.devices[1];
		cr_assert(eq(int, result, alone ? SYCL_SUCCESS : SYCL_ERROR_INVALID));
		MUST(sycl_queue_wait(other));
		cr_assert(usm_are(both.queues[i], words, alone),
			  "an increment of its own device, and of no other");
		result = sycl_queue_usm_fill(other, words, WORDS_BYTES, &value, sizeof(value), 0,
					     NULL, NULL);
		cr_assert(eq(int, result, alone ? SYCL_SUCCESS : SYCL_ERROR_INVALID));
		MUST(sycl_queue_wait(other));
		cr_assert(usm_are(both.queues[i], words, alone ? value : 0));
		MUST(sycl_usm_free(both.context, words));
	}
	both_end(&both);
}
