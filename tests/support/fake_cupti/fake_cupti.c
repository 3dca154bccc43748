/* A double of CUPTI over the double of the driver: calls of launches, and records of kernels. */
#include "fake_cupti.h"

#include "fake_cuda.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* As in the library's headers, of CUDA 12 and 13. */
enum {
	DONE = 0,
	INVALID = 1,
	NO_MORE = 12,
	ANOTHER_TOOL = 39,
	KERNELS = 10,
	DRIVER_CALLS = 1,
	FORCED = 1,
	RECORD_BYTES = 216,
	START_AT = 16,
	END_AT = 24,
	CORRELATION_AT = 92,
	CALL_BYTES = 72,
	CALL_CORRELATION_AT = 64,
	FUNCTIONS_MOST = 1024,
	RECORDS_MOST = 4096
};

typedef void on_call(void *context, int domain, uint32_t function, const void *call);
typedef void on_request(uint8_t **buffer, size_t *bytes, size_t *records_most);
typedef void on_full(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes);

struct kernel {
	uint32_t correlation;
	uint64_t start_ns, end_ns;
};

static struct {
	pthread_mutex_t lock; /* not held during calls of the program */
	on_call *on_call;
	void *context;
	bool functions[FUNCTIONS_MOST];
	on_request *on_request;
	on_full *on_full;
	bool is_enabled, is_taken, is_slow;
	uint32_t correlation;
	uint64_t reported, clocks;
	struct kernel kernels[RECORDS_MOST], last;
	size_t count;
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ------------------------------------ the driver's calls --------------------------------- */

static uint32_t see_call(unsigned function)
{
	uint8_t call[CALL_BYTES] = {0};
	(void)pthread_mutex_lock(&tool.lock);
	const uint32_t correlation = ++tool.correlation;
	on_call *callback = tool.functions[function % FUNCTIONS_MOST] ? tool.on_call : NULL;
	void *context = tool.context;
	(void)pthread_mutex_unlock(&tool.lock);
	memcpy(call + CALL_CORRELATION_AT, &correlation, sizeof(correlation));
	if (callback)
		callback(context, DRIVER_CALLS, function, call);
	return correlation;
}

static void see_kernel(uint32_t call, uint64_t start_ns, uint64_t end_ns)
{
	(void)pthread_mutex_lock(&tool.lock);
	if (tool.is_enabled && tool.count < RECORDS_MOST)
		tool.kernels[tool.count++] = (struct kernel){call, start_ns, end_ns};
	(void)pthread_mutex_unlock(&tool.lock);
}

static void attach(void)
{
	static const struct fake_cuda_tool seen = {see_call, see_kernel};
	fake_cuda_attach_tool(tool.on_call || tool.is_enabled ? &seen : NULL);
}

/* ------------------------------------ its functions --------------------------------------- */

API int cuptiGetVersion(uint32_t *version_out);
API int cuptiGetResultString(int result, const char **text_out);
API int cuptiSubscribe(void **subscriber_out, on_call *callback, void *context);
API int cuptiUnsubscribe(void *subscriber);
API int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t function);
API int cuptiActivityRegisterCallbacks(on_request *request, on_full *full);
API int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
API int cuptiActivityEnable(int kind);
API int cuptiActivityDisable(int kind);
API int cuptiActivityFlushAll(uint32_t flag);
API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record);
API const struct fake_cupti_control *fake_cupti_control(void);

int cuptiGetVersion(uint32_t *version_out)
{
	*version_out = 130000;
	return DONE;
}

int cuptiGetResultString(int result, const char **text_out)
{
	*text_out = result == DONE ? "done" : "refused by the double";
	return DONE;
}

int cuptiSubscribe(void **subscriber_out, on_call *callback, void *context)
{
	(void)pthread_mutex_lock(&tool.lock);
	const int result = tool.is_taken || tool.on_call ? ANOTHER_TOOL : DONE;
	if (result == DONE) {
		tool.on_call = callback;
		tool.context = context;
		*subscriber_out = &tool;
	}
	(void)pthread_mutex_unlock(&tool.lock);
	attach();
	return result;
}

int cuptiUnsubscribe(void *subscriber)
{
	if (subscriber != &tool)
		return INVALID;
	(void)pthread_mutex_lock(&tool.lock);
	tool.on_call = NULL;
	memset(tool.functions, 0, sizeof(tool.functions));
	(void)pthread_mutex_unlock(&tool.lock);
	attach();
	return DONE;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t function)
{
	if (subscriber != &tool || domain != DRIVER_CALLS || function >= FUNCTIONS_MOST)
		return INVALID;
	(void)pthread_mutex_lock(&tool.lock);
	tool.functions[function] = enable != 0;
	(void)pthread_mutex_unlock(&tool.lock);
	return DONE;
}

int cuptiActivityRegisterCallbacks(on_request *request, on_full *full)
{
	tool.on_request = request;
	tool.on_full = full;
	return DONE;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void))
{
	tool.clocks++;
	return clock() > 0 ? DONE : INVALID;
}

static int set_enabled(int kind, bool is_enabled)
{
	if (kind != KERNELS || !tool.on_request)
		return INVALID;
	(void)pthread_mutex_lock(&tool.lock);
	tool.is_enabled = is_enabled;
	(void)pthread_mutex_unlock(&tool.lock);
	attach();
	return DONE;
}

int cuptiActivityEnable(int kind)
{
	return set_enabled(kind, true);
}

int cuptiActivityDisable(int kind)
{
	return set_enabled(kind, false);
}

static void write_record(const struct kernel *kernel, uint8_t *record)
{
	const uint32_t kind = KERNELS;
	memset(record, 0, RECORD_BYTES);
	memcpy(record, &kind, sizeof(kind));
	memcpy(record + START_AT, &kernel->start_ns, sizeof(kernel->start_ns));
	memcpy(record + END_AT, &kernel->end_ns, sizeof(kernel->end_ns));
	memcpy(record + CORRELATION_AT, &kernel->correlation, sizeof(kernel->correlation));
}

/* One buffer at most for each call. */
int cuptiActivityFlushAll(uint32_t flag)
{
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0, used = 0, count = 0;
	if (tool.is_slow && flag != FORCED)
		return DONE;
	tool.on_request(&buffer, &bytes, &most);
	if (!buffer)
		return INVALID;
	(void)pthread_mutex_lock(&tool.lock);
	for (; count < tool.count && used + RECORD_BYTES <= bytes; count++, used += RECORD_BYTES)
		write_record(&tool.kernels[count], buffer + used);
	if (count > 0)
		tool.last = tool.kernels[count - 1];
	tool.reported += count;
	tool.count -= count;
	memmove(tool.kernels, tool.kernels + count, tool.count * sizeof(*tool.kernels));
	(void)pthread_mutex_unlock(&tool.lock);
	tool.on_full(NULL, 0, buffer, bytes, used);
	return DONE;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD_BYTES : buffer;
	if (next + RECORD_BYTES > buffer + valid_bytes)
		return NO_MORE;
	*record = next;
	return DONE;
}

/* ------------------------------------- for tests ------------------------------------------ */

static void set_taken(int is_taken)
{
	tool.is_taken = is_taken != 0;
}

static void set_slow(int is_slow)
{
	tool.is_slow = is_slow != 0;
}

static uint64_t count_reported(void)
{
	return tool.reported;
}

static uint64_t count_clocks(void)
{
	return tool.clocks;
}

static uint64_t count_subscribers(void)
{
	return tool.on_call != NULL;
}

static uint64_t count_kinds(void)
{
	return tool.is_enabled;
}

static void get_last(uint64_t *start_ns_out, uint64_t *end_ns_out)
{
	*start_ns_out = tool.last.start_ns;
	*end_ns_out = tool.last.end_ns;
}

const struct fake_cupti_control *fake_cupti_control(void)
{
	static const struct fake_cupti_control control = {
		set_taken,         set_slow,    count_reported, count_clocks,
		count_subscribers, count_kinds, get_last};
	return &control;
}
