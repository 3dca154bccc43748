#include "cuda/lane/activity.h"

#include "cuda/driver/context.h"
#include "cuda/driver/cupti.h"

#include "clock.h"
#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Small, because a buffer comes back when everything in it has ended. */
#define BUFFER_BYTES     ((size_t)64 << 10)
#define BUFFER_ALIGNMENT 8u

/* The times of a launch. */
struct activity_times {
	uint64_t token; /* 0: the place is empty */
	uint64_t start_ns, end_ns;
};

/* The launch of a call of the driver. */
struct activity_call {
	uint32_t correlation;
	uint64_t token;
};

struct activity_tables {
	struct activity_times times[CUDA_ACTIVITY_KEPT]; /* by token */
	struct activity_call calls[CUDA_ACTIVITY_KEPT];  /* by the number of the call */
};

static struct {
	/* Guards all that follows, and is held for moments. CUPTI is never called with it. */
	pthread_mutex_t lock;
	struct cuda_cupti cupti; /* handle NULL: not opened yet */
	bool has_callbacks;      /* the library has those that are set once in a process */
	void *subscriber;
	struct activity_tables *tables; /* NULL: off */
	uint64_t tokens;                /* the last one; never used again */
} activity = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Atomic bool cuda_activity_is_on;

/* The launch that this thread expects, and its token once CUPTI has seen it. */
static __thread struct {
	bool is_expected;
	uint64_t token;
} own;

static const unsigned functions[] = {CUPTI_LAUNCH_KERNEL, CUPTI_LAUNCH_KERNEL_EX};

enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

/* ------------------------------------ called by CUPTI ------------------------------------ */

static void note_call(void *context, int domain, uint32_t function, const void *data)
{
	const struct cuda_cupti_call *call = data;

	(void)context;
	(void)function;
	if (domain != CUPTI_DRIVER_CALLS || !own.is_expected || call->site != CUPTI_CALL_BEGINS)
		return;
	own.is_expected = false;
	(void)pthread_mutex_lock(&activity.lock);
	if (activity.tables) {
		own.token = ++activity.tokens;
		activity.tables->times[own.token % CUDA_ACTIVITY_KEPT] =
			(struct activity_times){.token = own.token};
		activity.tables->calls[call->correlation % CUDA_ACTIVITY_KEPT] =
			(struct activity_call){call->correlation, own.token};
	}
	(void)pthread_mutex_unlock(&activity.lock);
}

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *records_most)
{
	*buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*records_most = 0; /* as many as there is room for */
}

/* The caller holds the lock. */
static void note_record(const struct cuda_cupti_kernel *record)
{
	const struct activity_call *call =
		&activity.tables->calls[record->correlation % CUDA_ACTIVITY_KEPT];
	struct activity_times *times = &activity.tables->times[call->token % CUDA_ACTIVITY_KEPT];

	if (call->token == 0 || call->correlation != record->correlation ||
	    times->token != call->token || record->start_ns == 0 ||
	    record->end_ns <= record->start_ns)
		return;
	times->start_ns = record->start_ns;
	times->end_ns = record->end_ns;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	void *record = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	while (valid_bytes > 0 &&
	       activity.cupti.ActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_DONE) {
		const struct cuda_cupti_kernel *kernel = record;
		if (kernel->kind != CUPTI_KERNEL_RECORDS)
			continue;
		(void)pthread_mutex_lock(&activity.lock);
		if (activity.tables)
			note_record(kernel);
		(void)pthread_mutex_unlock(&activity.lock);
	}
	free(buffer);
}

static uint64_t activity_clock(void)
{
	return clock_now_ns();
}

/* ----------------------------------- called by the engine -------------------------------- */

static int activity_fail(int result, const char *what, struct backend_fault *fault_out)
{
	const char *text = NULL;

	if (result == CUPTI_ANOTHER_TOOL)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"CUPTI serves another tool in this process");
	if (activity.cupti.GetResultString(result, &text) != CUPTI_DONE || !text)
		text = "?";
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
				"CUPTI cannot %s: %s (%d)", what, text, result);
}

/* CUPTI confuses its clocks if it is given one again. */
static int set_callbacks(struct backend_fault *fault_out)
{
	if (activity.has_callbacks)
		return 0;
	int result = activity.cupti.ActivityRegisterTimestampCallback(activity_clock);
	if (result == CUPTI_DONE)
		result = activity.cupti.ActivityRegisterCallbacks(give_buffer, take_buffer);
	if (result != CUPTI_DONE)
		return activity_fail(result, "use the service's clock", fault_out);
	activity.has_callbacks = true;
	return 0;
}

static int activity_subscribe(struct backend_fault *fault_out)
{
	const struct cuda_cupti *cupti = &activity.cupti;
	int result = cupti->Subscribe(&activity.subscriber, note_call, NULL);

	if (result != CUPTI_DONE)
		return activity_fail(result, "watch launches", fault_out);
	for (unsigned i = 0; result == CUPTI_DONE && i < FUNCTIONS; i++)
		result = cupti->EnableCallback(1, activity.subscriber, CUPTI_DRIVER_CALLS,
					       functions[i]);
	if (result == CUPTI_DONE)
		result = cupti->ActivityEnable(CUPTI_KERNEL_RECORDS);
	if (result == CUPTI_DONE)
		return 0;
	(void)cupti->Unsubscribe(activity.subscriber);
	return activity_fail(result, "record kernels", fault_out);
}

static void set_tables(struct activity_tables *tables)
{
	(void)pthread_mutex_lock(&activity.lock);
	struct activity_tables *before = activity.tables;
	activity.tables = tables;
	(void)pthread_mutex_unlock(&activity.lock);
	if (before)
		(void)munmap(before, sizeof(*before));
}

int cuda_profile_begin(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_settings *settings = &device->backend->settings;

	if (!settings->uses_cupti)
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"CUPTI is not used here (cupti in sycld.conf)");
	int error = activity.cupti.handle
			    ? 0
			    : cuda_cupti_open(settings->cupti, &activity.cupti, fault_out);
	if (error == 0)
		error = set_callbacks(fault_out);
	if (error < 0)
		return error;
	/* It returns to the system at the end. */
	void *tables = mmap(NULL, sizeof(struct activity_tables), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (tables == MAP_FAILED)
		return cuda_no_memory(fault_out, "times of kernels");
	set_tables(tables);
	error = activity_subscribe(fault_out);
	if (error < 0)
		set_tables(NULL);
	else
		atomic_store(&cuda_activity_is_on, true);
	return error;
}

void cuda_profile_end(void)
{
	if (!atomic_exchange(&cuda_activity_is_on, false))
		return;
	(void)activity.cupti.ActivityDisable(CUPTI_KERNEL_RECORDS);
	(void)activity.cupti.Unsubscribe(activity.subscriber);
	(void)activity.cupti.ActivityFlushAll(CUPTI_FLUSH_FORCED);
	set_tables(NULL);
}

void cuda_profile_flush(bool all)
{
	if (atomic_load(&cuda_activity_is_on))
		(void)activity.cupti.ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
}

bool cuda_profile_times(uint64_t token, uint64_t *start_ns_out, uint64_t *end_ns_out)
{
	bool is_known = false;

	(void)pthread_mutex_lock(&activity.lock);
	if (activity.tables) {
		const struct activity_times *times =
			&activity.tables->times[token % CUDA_ACTIVITY_KEPT];
		is_known = times->token == token && times->end_ns > 0;
		if (is_known) {
			*start_ns_out = times->start_ns;
			*end_ns_out = times->end_ns;
		}
	}
	(void)pthread_mutex_unlock(&activity.lock);
	return is_known;
}

void cuda_activity_expect(void)
{
	own.token = 0;
	own.is_expected = true;
}

uint64_t cuda_activity_sent(void)
{
	own.is_expected = false;
	return own.token;
}
