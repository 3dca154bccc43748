/* USM: the kinds of allocations, the commands that may name them, and their end. */
#include "library/usm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(usm, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

static const sycl_usm_kind kinds[] = {SYCL_USM_DEVICE, SYCL_USM_HOST, SYCL_USM_SHARED};
enum { KINDS = 3 };

Test(usm, every_kind_at_every_alignment_and_size)
{
	static const uint64_t sizes[] = {1, 63, 64, 65, 2047, 2048, 2049, 4096, 100000, 3u << 20};
	for (uint32_t k = 0; k < KINDS; k++) {
		void *all[64];
		uint32_t count = 0;
		for (uint64_t alignment = 0; alignment <= 4096;
		     alignment = alignment ? alignment * 4 : 1) {
			for (uint32_t s = 0; s < sizeof(sizes) / sizeof(*sizes) && count < 64;
			     s++) {
				struct sycl_usm_info info = SYCL_USM_INFO_INIT;
				void *pointer = NULL;
				MUST(sycl_usm_malloc(context, device, kinds[k], sizes[s], alignment,
						     &pointer));
				cr_assert(eq(u64, (uintptr_t)pointer % (alignment ? alignment : 16),
					     0));
				MUST(sycl_usm_get_pointer_info(
					context, (char *)pointer + sizes[s] - 1, &info));
				cr_assert(eq(ptr, info.base, pointer));
				cr_assert(eq(u64, info.size_bytes, sizes[s]));
				cr_assert(eq(u32, info.kind, kinds[k]));
				if (kinds[k] != SYCL_USM_DEVICE)
					memset(pointer, (int)count, sizes[s]);
				all[count++] = pointer;
			}
		}
		for (uint32_t i = 0; i < count; i++)
			usm_give(all[i]);
	}
}

Test(usm, what_cannot_be_is_refused)
{
	void *pointer = &pointer;
	REFUSED(sycl_usm_malloc(context, device, SYCL_USM_UNKNOWN, 64, 0, &pointer),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_usm_malloc(context, device, (sycl_usm_kind)4, 64, 0, &pointer),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_usm_malloc(context, device, SYCL_USM_HOST, 64, 3, &pointer),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_usm_malloc(context, device, SYCL_USM_HOST, 64, 8192, &pointer),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_usm_malloc(context, device, SYCL_USM_DEVICE, 64, 0, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_malloc_host(NULL, 64, 0, &pointer), SYCL_ERROR_INVALID_HANDLE);
	for (uint32_t k = 0; k < KINDS; k++) {
		sycl_result result =
			sycl_usm_malloc(context, device, kinds[k], 1ull << 50, 0, &pointer);
		cr_assert(result == SYCL_ERROR_QUOTA || result == SYCL_ERROR_MEMORY_ALLOCATION,
			  "%d", (int)result);
	}
	cr_assert(eq(ptr, pointer, &pointer), "untouched");
	/* An allocation of no bytes is no error. */
	MUST(sycl_malloc_shared(queue, 0, 0, &pointer));
	cr_assert(eq(ptr, pointer, NULL));
	MUST(sycl_free(queue, NULL));
	REFUSED(sycl_free(queue, &pointer), SYCL_ERROR_INVALID);
	/* Host USM belongs to no device. */
	MUST(sycl_usm_malloc(context, NULL, SYCL_USM_HOST, 64, 0, &pointer));
	REFUSED(sycl_free(queue, (char *)pointer + 1), SYCL_ERROR_INVALID);
	MUST(sycl_free(queue, pointer));
	REFUSED(sycl_free(queue, pointer), SYCL_ERROR_INVALID);
}

Test(usm, a_device_without_it_says_so)
{
	void *pointer = NULL;
	uint32_t has = 0;
	for (uint32_t k = 0; k < KINDS; k++) {
		static const sycl_aspect aspects[] = {SYCL_ASPECT_USM_DEVICE_ALLOCATIONS,
						      SYCL_ASPECT_USM_HOST_ALLOCATIONS,
						      SYCL_ASPECT_USM_SHARED_ALLOCATIONS};
		MUST(sycl_device_has(device, aspects[k], &has));
		sycl_result result = sycl_usm_malloc(context, device, kinds[k], 64, 0, &pointer);
		cr_assert(eq(int, result, has ? SYCL_SUCCESS : SYCL_ERROR_FEATURE_NOT_SUPPORTED));
		if (has)
			usm_give(pointer);
	}
	MUST(sycl_device_has(device, SYCL_ASPECT_USM_SYSTEM_ALLOCATIONS, &has));
	cr_assert(eq(u32, has, 0), "memory that nobody has allocated as USM is no argument");
}

Test(usm, pointers_are_known_for_what_they_are)
{
	sycl_usm_kind kind = SYCL_USM_SHARED;
	int local = 0;
	for (uint32_t k = 0; k < KINDS; k++) {
		char *pointer = (char *)usm_bytes(kinds[k], 100);
		sycl_device its = NULL;
		MUST(sycl_usm_get_pointer_type(context, pointer + 99, &kind));
		cr_assert(eq(int, (int)kind, (int)kinds[k]));
		MUST(sycl_usm_get_pointer_type(context, pointer + 100, &kind));
		cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
		MUST(sycl_usm_get_pointer_device(context, pointer, &its));
		cr_assert(eq(ptr, its, device));
		MUST(sycl_device_release(its));
		usm_give(pointer);
		MUST(sycl_usm_get_pointer_type(context, pointer, &kind));
		cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
		REFUSED(sycl_usm_get_pointer_device(context, pointer, &its), SYCL_ERROR_INVALID);
	}
	MUST(sycl_usm_get_pointer_type(context, &local, &kind));
	cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
	MUST(sycl_usm_get_pointer_type(context, NULL, &kind));
	cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	REFUSED(sycl_usm_get_pointer_info(context, &local, &info), SYCL_ERROR_INVALID);
	info.struct_bytes = 8;
	REFUSED(sycl_usm_get_pointer_info(context, &local, &info), SYCL_ERROR_INVALID);
}

static sycl_result submit_argument(sycl_queue on, sycl_kernel kernel, const void *pointer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	sycl_result result = sycl_handler_set_usm(handler, 0, pointer);
	if (result) {
		MUST(sycl_handler_discard(handler));
		return result;
	}
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	return sycl_handler_submit(handler, NULL);
}

Test(usm, B27_a_pointer_belongs_to_its_context)
{
	sycl_context other = NULL;
	sycl_queue there = NULL;
	sycl_usm_kind kind = SYCL_USM_SHARED;
	MUST(sycl_context_create(1, &device, &other));
	MUST(sycl_queue_create(other, device, NULL, &there));
	sycl_kernel increment = portable_kernel(there, "increment_u32");
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]);
		REFUSED(submit_argument(there, increment, words), SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memset(there, words, 0, 4, 0, NULL, NULL), SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memcpy(there, words, words + 4, 4, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_prefetch(there, words, 4, 0, NULL, NULL), SYCL_ERROR_INVALID);
		REFUSED(sycl_free(there, words), SYCL_ERROR_INVALID);
		MUST(sycl_usm_get_pointer_type(other, words, &kind));
		cr_assert(eq(int, (int)kind, SYCL_USM_UNKNOWN));
		usm_give(words);
	}
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(there));
	MUST(sycl_context_release(other));
}

static void refuse_pointers_and_values_exchanged(sycl_kernel fill, uint32_t *words)
{
	uint32_t value = 1;
	/* An address that is passed as a value is not a pointer. */
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_value(handler, 0, sizeof(words), &words));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(1)));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	/* And a pointer is not a value. */
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_usm(handler, 1, words));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(1)));
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
}

Test(usm, E22_only_usm_is_an_argument)
{
	static uint32_t plain[WORDS];
	uint32_t *heap = malloc(WORDS_BYTES), value = 1;
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	REFUSED(submit_argument(queue, increment, plain), SYCL_ERROR_INVALID);
	REFUSED(submit_argument(queue, increment, heap), SYCL_ERROR_INVALID);
	REFUSED(submit_argument(queue, increment, &value), SYCL_ERROR_INVALID);
	REFUSED(submit_argument(queue, increment, (void *)(uintptr_t)0x10), SYCL_ERROR_INVALID);
	REFUSED(submit_argument(queue, increment, (void *)UINTPTR_MAX), SYCL_ERROR_INVALID);
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]), *gone = usm_words(kinds[k]);
		usm_give(gone);
		REFUSED(submit_argument(queue, increment, gone), SYCL_ERROR_INVALID);
		REFUSED(submit_argument(queue, increment, words + WORDS), SYCL_ERROR_INVALID);
		REFUSED(submit_argument(queue, increment, (char *)words - 1), SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memset(queue, words, 0, WORDS_BYTES + 1, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memset(queue, words + 1, 0, WORDS_BYTES, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memset(queue, plain, 0, 4, 0, NULL, NULL), SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memcpy(queue, words, plain, WORDS_BYTES + 1, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memcpy(queue, plain, words + 1, WORDS_BYTES, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memcpy(queue, words, words + 1, 8, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memcpy(queue, words, NULL, 8, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_queue_memset(queue, words, 0, UINT64_MAX, 0, NULL, NULL),
			SYCL_ERROR_INVALID);
		/* The last byte is inside. */
		MUST(sycl_queue_memset(queue, (char *)words + WORDS_BYTES - 1, 0, 1, 0, NULL,
				       NULL));
		refuse_pointers_and_values_exchanged(fill, words);
		/* It is freed after the argument was set and before the group is sent. */
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_usm(handler, 0, words));
		MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(1)));
		usm_give(words);
		REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID);
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	free(heap);
}

Test(usm, E22_a_pointer_of_another_connection_is_none)
{
	sycl_platform second = portable_open(0);
	sycl_queue there = portable_queue(second, 0, 0);
	sycl_kernel increment = portable_kernel(there, "increment_u32");
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]);
		REFUSED(submit_argument(there, increment, words), SYCL_ERROR_INVALID);
		REFUSED(sycl_free(there, words), SYCL_ERROR_INVALID);
		usm_give(words);
	}
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(there));
	MUST(sycl_platform_release(second));
}

Test(usm, E14_a_pointer_into_the_middle_and_a_null_one)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	for (uint32_t k = 0; k < KINDS; k++) {
		uint32_t *words = usm_words(kinds[k]), got[WORDS];
		usm_run(
			&(struct usm_run){
				.on = queue, .kernel = increment, .to = words + 100, .items = 10},
			NULL);
		MUST(sycl_queue_wait(queue));
		MUST(sycl_queue_memcpy(queue, got, words, sizeof(got), 0, NULL, NULL));
		MUST(sycl_queue_wait(queue));
		for (uint32_t i = 0; i < WORDS; i++)
			cr_assert(eq(u32, got[i], i >= 100 && i < 110));
		usm_give(words);
	}
	/* In an empty range nothing runs, so no memory is accessed. */
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, NULL));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(0)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_kernel_release(increment));
}

/* Groups that were submitted before may still use it. Later ones cannot name it. */
Test(usm, a_free_waits_for_the_groups_before_it)
{
	static struct gate gate = GATE_INIT;
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_event behind = NULL, incremented = NULL, out = NULL;
	sycl_kernel increment = portable_kernel(on, "increment_u32");
	static uint32_t got[WORDS];
	void *pointer = NULL, *another = NULL;
	const uint32_t value = 40;
	MUST(sycl_malloc_device(on, WORDS_BYTES, 0, &pointer));
	MUST(sycl_queue_usm_fill(on, pointer, WORDS_BYTES, &value, sizeof(value), 0, NULL, NULL));
	MUST(sycl_queue_wait(on));
	int64_t before = usm_engine_bytes();
	run_task(on, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &behind);
	gate_await(&gate, 1);
	usm_run(&(struct usm_run){.on = on, .kernel = increment, .to = pointer, .after = behind},
		&incremented);
	MUST(sycl_queue_memcpy(on, got, pointer, sizeof(got), 1, &incremented, &out));
	MUST(sycl_free(on, pointer));
	REFUSED(sycl_queue_memset(on, pointer, 0, 4, 0, NULL, NULL), SYCL_ERROR_INVALID);
	/* A round trip, and a new allocation, which does not get that memory. */
	MUST(sycl_malloc_device(on, WORDS_BYTES, 0, &another));
	cr_assert(ne(ptr, another, pointer));
	MUST(sycl_queue_memset(on, another, 0, WORDS_BYTES, 0, NULL, NULL));
	if (before >= 0)
		cr_assert(eq(int, (int)(usm_engine_bytes() - before), WORDS_BYTES),
			  "the first is still there");
	MUST(sycl_free(on, another));
	gate_open(&gate);
	MUST(sycl_event_wait(out));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, got[i], 41));
	MUST(sycl_queue_wait(on));
	/* A round trip behind the end of both. */
	MUST(sycl_malloc_device(on, 64, 0, &another));
	MUST(sycl_free(on, another));
	MUST(sycl_event_release(behind));
	MUST(sycl_event_release(incremented));
	MUST(sycl_event_release(out));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

Test(usm, many_small_ones_are_cheap_and_lie_apart)
{
	enum { COUNT = 3000 };
	static uint64_t *all[COUNT];
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			uint64_t bytes = 8 + i % 7 * 40;
			all[i] = (uint64_t *)(void *)usm_bytes(
				i % 2 ? SYCL_USM_HOST : SYCL_USM_SHARED, bytes);
			all[i][0] = i;
			all[i][bytes / 8 - 1] = i;
		}
		for (uint32_t i = 0; i < COUNT; i++)
			cr_assert(eq(u64, all[i][0], i));
		for (uint32_t i = 0; i < COUNT; i++)
			usm_give(all[i]);
	}
}

Test(usm, what_is_left_ends_with_the_connection)
{
	sycl_platform second = portable_open(0);
	sycl_queue there = portable_queue(second, 0, 0);
	void *pointer = NULL;
	for (uint32_t i = 0; i < 20; i++) {
		MUST(sycl_malloc_device(there, 1000 * i + 1, 0, &pointer));
		MUST(sycl_queue_memset(there, pointer, 1, 1000 * i + 1, 0, NULL, NULL));
		MUST(sycl_malloc_host(there, 1000 * i + 1, 0, &pointer));
		MUST(sycl_malloc_shared(there, 1000 * i + 1, 0, &pointer));
	}
	MUST(sycl_queue_wait(there));
	MUST(sycl_queue_release(there));
	MUST(sycl_platform_release(second));
	/* The engine still works. */
	usm_give(usm_words(SYCL_USM_DEVICE));
}

/* Through a service the same bytes are at the same address in two processes. A third process does
 * not have them. */
Test(usm, a_forked_child_has_none_of_it)
{
	if (!usm_engine_is_remote())
		return;
	uint32_t *words = usm_words(SYCL_USM_SHARED);
	words[0] = 5;
	pid_t child = fork();
	cr_assert(ge(int, child, 0));
	if (child == 0) {
		(void)signal(SIGSEGV, SIG_DFL); /* a sanitizer's would report it */
		*(volatile uint32_t *)words = 6;
		_exit(0);
	}
	int status = 0;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(ne(int, WIFSIGNALED(status), 0));
	cr_assert(eq(u32, words[0], 5));
	usm_give(words);
}

/* The device's memory is not mapped in this process, and no pointer of the program can have such an
 * address. */
Test(usm, addresses_of_a_device_are_kept_free)
{
	if (!usm_engine_is_remote())
		return;
	enum { BYTES = 3 * 4096 + 100 };
	char *pointer = (char *)usm_bytes(SYCL_USM_DEVICE, BYTES);
	char *page = (char *)((uintptr_t)pointer & ~(uintptr_t)4095);
	for (; page < pointer + BYTES; page += 4096) {
		void *mapped = mmap(page, 4096, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		cr_assert(eq(ptr, mapped, MAP_FAILED), "something else can be there");
	}
	usm_give(pointer);
}
