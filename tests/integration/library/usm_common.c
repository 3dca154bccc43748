#include "library/usm.h"

#include <string.h>

sycl_context context;
sycl_device device;

void usm_test_begin(void)
{
	portable_begin();
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_queue_get_device(queue, &device));
}

void usm_test_end(void)
{
	MUST(sycl_device_release(device));
	MUST(sycl_context_release(context));
	portable_end();
}

sycl_device usm_other_device(void)
{
	enum { LOOKS = 8 };
	for (uint32_t i = 0; i < LOOKS; i++) {
		sycl_device other = portable_device(platform, i);
		if (other != device)
			return other;
		MUST(sycl_device_release(other));
	}
	MUST(sycl_device_retain(device));
	return device;
}

bool usm_has(sycl_aspect aspect)
{
	uint32_t has = 0;
	MUST(sycl_device_has(device, aspect, &has));
	return has != 0;
}

uint32_t *usm_bytes(sycl_usm_kind kind, uint64_t size_bytes)
{
	void *pointer = NULL;
	MUST(sycl_usm_malloc(context, device, kind, size_bytes, 0, &pointer));
	cr_assert(ne(ptr, pointer, NULL));
	return pointer;
}

uint32_t *usm_words(sycl_usm_kind kind)
{
	uint32_t *words = usm_bytes(kind, WORDS_BYTES);
	usm_set(queue, words, 0);
	return words;
}

void usm_give(void *pointer)
{
	MUST(sycl_usm_free(context, pointer));
}

void usm_set(sycl_queue on, void *pointer, uint32_t value)
{
	sycl_event event = NULL;
	MUST(sycl_queue_usm_fill(on, pointer, WORDS_BYTES, &value, sizeof(value), 0, NULL, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

bool usm_are(sycl_queue on, const void *pointer, uint32_t value)
{
	static uint32_t words[WORDS];
	sycl_event event = NULL;
	memset(words, 0x77, sizeof(words));
	MUST(sycl_queue_memcpy(on, words, pointer, sizeof(words), 0, NULL, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	for (uint32_t i = 0; i < WORDS; i++) {
		if (words[i] != value)
			return false;
	}
	return true;
}

void usm_run(const struct usm_run *run, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(run->on, &handler));
	MUST(sycl_handler_set_usm(handler, 0, run->to));
	if (run->from)
		MUST(sycl_handler_set_usm(handler, 1, run->from));
	if (run->value)
		MUST(sycl_handler_set_value(handler, 1, sizeof(*run->value), run->value));
	if (run->after)
		MUST(sycl_handler_depends_on(handler, run->after));
	MUST(sycl_handler_parallel_for(handler, run->kernel,
				       sycl_range1(run->items ? run->items : WORDS)));
	MUST(sycl_handler_submit(handler, event_out));
}
