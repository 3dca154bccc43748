#include "library/portable.h"

enum { DEVICES_MAX = 32 };

sycl_platform platform;
sycl_queue queue;

sycl_platform portable_open(uint32_t helper_threads)
{
	sycl_platform opened = NULL;
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.helper_threads = helper_threads;
	MUST(sycl_platform_open_with(portable_engine_endpoint(), &options, &opened));
	return opened;
}

/* The engine of this test is asked: to list devices a driver may take a second. */
static void skip_without_device(void)
{
	sycl_device devices[DEVICES_MAX];
	uint32_t count = 0, usable = 0;
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count));
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
		usable += portable_engine_has(devices[i]);
		MUST(sycl_device_release(devices[i]));
	}
	if (usable > 0)
		return;
	MUST(sycl_platform_release(platform));
	portable_engine_stop();
	cr_skip_test("no device of the kind that is tested");
}

void portable_begin(void)
{
	portable_engine_start();
	platform = portable_open(0);
	skip_without_device();
	queue = portable_queue(platform, 0, SYCL_QUEUE_ENABLE_PROFILING);
}

void portable_end(void)
{
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
	portable_engine_stop();
}

sycl_device portable_device(sycl_platform of, uint32_t which)
{
	sycl_device devices[DEVICES_MAX], mine[DEVICES_MAX];
	uint32_t count = 0, mine_count = 0;
	MUST(sycl_device_get_devices(of, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count));
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
		if (portable_engine_has(devices[i]))
			mine[mine_count++] = devices[i];
		else
			MUST(sycl_device_release(devices[i]));
	}
	cr_assert(gt(u32, mine_count, 0), "there is no device to test");
	for (uint32_t i = 0; i < mine_count; i++) {
		if (i != which % mine_count)
			MUST(sycl_device_release(mine[i]));
	}
	return mine[which % mine_count];
}

sycl_queue portable_queue(sycl_platform of, uint32_t which, uint32_t properties)
{
	sycl_device device = portable_device(of, which);
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = properties;
	sycl_queue made = NULL;
	MUST(sycl_queue_create(NULL, device, &options, &made));
	MUST(sycl_device_release(device));
	return made;
}

sycl_queue portable_beside(sycl_queue other, uint32_t properties)
{
	sycl_device device = NULL;
	sycl_context context = NULL;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = properties;
	sycl_queue made = NULL;
	MUST(sycl_queue_get_device(other, &device));
	MUST(sycl_queue_get_context(other, &context));
	MUST(sycl_queue_create(context, device, &options, &made));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	return made;
}

sycl_kernel portable_kernel(sycl_queue on, const char *name)
{
	return portable_engine_kernel(on, name);
}

sycl_buffer words_buffer(sycl_platform of, uint32_t value)
{
	uint32_t words[WORDS];
	sycl_buffer buffer = NULL;
	for (int i = 0; i < WORDS; i++)
		words[i] = value;
	MUST(sycl_buffer_create(of, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	return buffer;
}

bool words_are(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	bool equal = true;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (int i = 0; i < WORDS; i++)
		equal = equal && ((const uint32_t *)pointer)[i] == value;
	MUST(sycl_host_accessor_release(accessor));
	return equal;
}

void run_fill(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
	      sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, event_out));
}

void run_increment(sycl_queue on, sycl_kernel increment, sycl_buffer buffer, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, event_out));
}

void run_task(sycl_queue on, sycl_host_task_function *function, void *user_data, sycl_buffer buffer,
	      sycl_access_mode mode, sycl_event after, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	if (buffer)
		MUST(sycl_handler_set_host_accessor(handler, 0, buffer, mode));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_host_task(handler, function, user_data, NULL));
	MUST(sycl_handler_submit(handler, event_out));
}

void gate_open(struct gate *gate)
{
	(void)pthread_mutex_lock(&gate->lock);
	gate->open = true;
	(void)pthread_cond_broadcast(&gate->changed);
	(void)pthread_mutex_unlock(&gate->lock);
}

void gate_await(struct gate *gate, uint32_t entered)
{
	(void)pthread_mutex_lock(&gate->lock);
	while (gate->entered < entered)
		(void)pthread_cond_wait(&gate->changed, &gate->lock);
	(void)pthread_mutex_unlock(&gate->lock);
}

sycl_result gate_task(sycl_host_task task, void *user_data)
{
	(void)task;
	struct gate *gate = user_data;
	(void)pthread_mutex_lock(&gate->lock);
	gate->entered++;
	(void)pthread_cond_broadcast(&gate->changed);
	while (!gate->open)
		(void)pthread_cond_wait(&gate->changed, &gate->lock);
	(void)pthread_mutex_unlock(&gate->lock);
	return SYCL_SUCCESS;
}

sycl_result count_task(sycl_host_task task, void *user_data)
{
	(void)task;
	atomic_fetch_add((_Atomic uint32_t *)user_data, 1);
	return SYCL_SUCCESS;
}
