/*
 * The part of `worker chaos` that sends native commands of CUDA in a context of this program. The
 * driver is the one that the library itself uses (SYCLD_CUDA_LIBRARY). On a device without such a
 * bridge it does nothing.
 */
#include "processes/programs/chaos.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NATIVE_BYTES = 64 << 10, COMMANDS_MAX = 4 };

/* cuMemsetD32Async, as cuda.h has it. */
typedef int set_words(unsigned long long address, unsigned value, size_t count, void *stream);

static set_words *find_driver(void)
{
	static set_words *function;
	const char *name = getenv("SYCLD_CUDA_LIBRARY");
	if (function || !name)
		return function;
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	worker_check(library != NULL, "the driver's library cannot be opened");
	void *symbol = dlsym(library, "cuMemsetD32Async");
	memcpy(&function, &symbol, sizeof(function));
	return function;
}

/* Sets all words but the first, which belongs to the kernels. */
static sycl_result set_rest(sycl_interop_handle interop, void *user_data)
{
	const uint32_t *value = user_data;
	uint64_t stream = 0, memory = 0, offset = 0;
	sycl_result r = sycl_interop_get_native_queue(interop, &stream);
	if (r == 0)
		r = sycl_interop_get_native_memory(interop, 0, &memory, &offset);
	if (r)
		return r;
	const uint64_t rest = memory + offset + sizeof(*value);
	return find_driver()(rest, *value, NATIVE_BYTES / sizeof(*value) - 1,
			     (void *)(uintptr_t)stream)
		       ? SYCL_ERROR_RUNTIME
		       : 0;
}

static sycl_result command(struct chaos *chaos, uint32_t value)
{
	uint32_t *kept = malloc(sizeof(*kept));
	sycl_handler handler = NULL;
	worker_check(kept != NULL, "no memory");
	*kept = value;
	sycl_result r = sycl_handler_begin(chaos->queue, &handler);
	if (r) {
		free(kept);
		return r;
	}
	worker_must(sycl_handler_set_accessor(handler, 0, chaos->exported, SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_native_command(handler, set_rest, kept, free), "native_command");
	return sycl_handler_submit(handler, NULL);
}

static sycl_result commands(struct chaos *chaos)
{
	uint32_t word = worker_random(chaos->worker, 1u << 30),
		 count = 1 + worker_random(chaos->worker, COMMANDS_MAX);
	struct chaos_contents contents = {word, word};
	sycl_result r = sycl_queue_fill(chaos->queue, chaos->exported, 0, NATIVE_BYTES, &word,
					sizeof(word), NULL);
	for (uint32_t i = 0; i < count && r == 0; i++) {
		sycl_handler handler = NULL;
		uint32_t n = worker_random(chaos->worker, 1000);
		contents.first += n;
		contents.rest = worker_random(chaos->worker, 1u << 30);
		r = chaos_add(chaos, chaos->exported, n, &handler);
		if (r == 0)
			r = sycl_handler_submit(handler, NULL);
		if (r == 0)
			r = command(chaos, contents.rest);
	}
	return r ? r : chaos_look(chaos->exported, NATIVE_BYTES, contents);
}

sycl_result chaos_native_round(struct chaos *chaos)
{
	sycl_native_bridge bridge = SYCL_NATIVE_BRIDGE_NONE;
	sycl_result r = sycl_queue_get_native_bridge(chaos->queue, &bridge);
	if (r || bridge != SYCL_NATIVE_BRIDGE_IPC || !find_driver())
		return r;
	if (!chaos->exported)
		r = sycl_buffer_create_exportable(chaos->device, NULL, NATIVE_BYTES, SYCL_HOST_NONE,
						  SYCL_SHARE_VMM, &chaos->exported);
	if (r == 0)
		r = commands(chaos);
	chaos->did.native += r == 0;
	return r;
}

void chaos_native_end(struct chaos *chaos)
{
	if (chaos->exported)
		(void)sycl_buffer_release(chaos->exported);
	chaos->exported = NULL;
}
