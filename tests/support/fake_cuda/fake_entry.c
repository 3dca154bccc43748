/* How programs find the functions: one table, with the version from which each function has the
 * interface of this header. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	const char *name;
	int since; /* the first driver version with this interface; a later one of the same name
		      ends it */
	void *function;
};

CUresult fake_elapsed_time_old(float *milliseconds_out, CUevent start, CUevent end);

#define ENTRY(name, since) {#name, since, (void *)(name)},
/* A macro of cuda.h may replace `name`; the table needs the plain name. */
static const struct entry entries[] = {
#include "fake_entries.h"
	{"cuEventElapsedTime", 2000, (void *)fake_elapsed_time_old},
};
#undef ENTRY

void fake_unlock_cleanup(int *unused)
{
	(void)unused;
	fake_unlock();
}

void *fake_entry_find(const char *name, int version)
{
	const struct entry *best = NULL;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0 && entries[i].since <= version &&
		    (!best || entries[i].since > best->since))
			best = &entries[i];
	return best ? best->function : NULL;
}

bool fake_entry_exists(const char *name)
{
	return fake_entry_find(name, 1 << 30) != NULL;
}

CUresult cuGetProcAddress(const char *symbol, void **function_out, int version, cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status_out)
{
	LOCKED();
	fake_configure();
	fake_call_name = "cuGetProcAddress";
	void *function = NULL;
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

	if (!symbol || !function_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		fake_misuse("%s is requested for the per-thread default stream", symbol);
	if (!fake_is_missing(symbol)) {
		function = version > fake.driver_version ? NULL : fake_entry_find(symbol, version);
		if (function)
			status = CU_GET_PROC_ADDRESS_SUCCESS;
		else if (fake_entry_exists(symbol))
			status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
	}
	*function_out = function;
	if (status_out)
		*status_out = status;
	return function || status_out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static struct fake_site *sites;

static void site_begin(struct fake_site *site, const char *name)
{
	(void)snprintf(site->name, sizeof(site->name), "%s", name);
	size_t length = strlen(site->name);
	/* "_v2": part of the symbol, not of the name. */
	if (length > 3 && site->name[length - 3] == '_' && site->name[length - 2] == 'v')
		site->name[length - 3] = 0;
	site->next = sites;
	sites = site;
}

static void implicit_sync(unsigned needs)
{
	const struct CUctx_st *context = fake_current();

	if (!(needs & (NOTED_SYNC | WAITS)))
		return;
	if (fake.kernels_running)
		fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_IMPLICIT_SYNC,
						       .value = fake.kernels_running});
	if (!(needs & WAITS) || !fake.block_implicit)
		return;
	const char *name = fake_call_name;
	fake.holding += (needs & HOLDS) != 0;
	fake_device_wait(context ? context->device : -1);
	fake.holding -= (needs & HOLDS) != 0;
	(void)pthread_cond_broadcast(&fake.changed);
	fake_call_name = name;
}

CUresult fake_enter(struct fake_site *site, const char *name, unsigned needs)
{
	LOCKED();
	fake_configure();
	if (!site->name[0])
		site_begin(site, name);
	site->calls++;
	fake_call_name = site->name;
	CUresult fault = fake_call_fault(site->name);
	if (fault != CUDA_SUCCESS)
		return fault;
	if (needs == NEED_NOTHING)
		return CUDA_SUCCESS;
	if (!fake.initialised) {
		fake_misuse("cuInit was not called before");
		return CUDA_ERROR_NOT_INITIALIZED;
	}
	if (fake.sticky)
		return (CUresult)fake.sticky;
	if ((needs & NEED_CONTEXT) && !fake_current()) {
		fake_misuse("the thread has no current context");
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if ((needs & (NOTED_SYNC | WAITS | UNSAFE)) && !fake_capture_permits())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	implicit_sync(needs);
	return (CUresult)fake.sticky;
}

/* "call NAME", a number of fake_state.c, or one of fake_record.c. */
static uint64_t entry_count_locked(const char *what)
{
	uint64_t calls = 0, number = 0;

	if (fake_state_number(what, &number))
		return number;
	if (strncmp(what, "call ", 5) != 0)
		return fake_number(what);
	for (const struct fake_site *site = sites; site; site = site->next)
		if (strcmp(site->name, what + 5) == 0)
			calls += site->calls;
	return calls;
}

static uint64_t control_count(const char *what)
{
	LOCKED();
	return entry_count_locked(what);
}

static bool control_wait_count(const char *what, uint64_t at_least, uint64_t timeout_ns)
{
	struct timespec until;
	int error = 0;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(timeout_ns / 1000000000u);
	until.tv_nsec += (long)(timeout_ns % 1000000000u);
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	LOCKED();
	while (entry_count_locked(what) < at_least && error == 0)
		error = pthread_cond_timedwait(&fake.changed, &fake.lock, &until);
	return entry_count_locked(what) >= at_least;
}

static size_t control_records(struct fake_cuda_record *records, size_t capacity)
{
	LOCKED();
	return fake_records_read(records, capacity);
}

static int control_kernel(const char *name, fake_cuda_kernel *function)
{
	LOCKED();
	return fake_kernel_register(name, function);
}

static const char *control_environment(const char *name)
{
	LOCKED();
	return fake_environment(name);
}

static void control_stamp_with(uint64_t (*now_ns)(void))
{
	LOCKED();
	fake.stamp = now_ns;
}

__attribute__((visibility("default"))) fake_cuda_control_function fake_cuda_control;

const struct fake_cuda_control *fake_cuda_control(void)
{
	static const struct fake_cuda_control control = {
		.version = FAKE_CUDA_CONTROL_VERSION,
		.command = fake_command,
		.count = control_count,
		.records = control_records,
		.wait_count = control_wait_count,
		.kernel = control_kernel,
		.memory = fake_kernel_memory,
		.fault = fake_kernel_fault,
		.environment = control_environment,
		.stamp_with = control_stamp_with,
	};
	return &control;
}
