/* Objects: their references, their properties, and objects of another connection (N1, N3, A15,
 * M12). */
#include "library/graph.h"

TestSuite(objects, .timeout = 120, .init = portable_begin, .fini = portable_end);

/* One object of each counted kind. The functions take handles of different types, so they have
 * wrappers of one type. */
struct kind {
	const char *name;
	sycl_result (*retain)(void *handle);
	sycl_result (*release)(void *handle);
	sycl_result (*count)(void *handle, uint32_t *count_out);
};
#define KIND(type)                                                                                 \
	static sycl_result type##_retain_any(void *handle)                                         \
	{                                                                                          \
		return sycl_##type##_retain(handle);                                               \
	}                                                                                          \
	static sycl_result type##_release_any(void *handle)                                        \
	{                                                                                          \
		return sycl_##type##_release(handle);                                              \
	}                                                                                          \
	static sycl_result type##_count_any(void *handle, uint32_t *count_out)                     \
	{                                                                                          \
		return sycl_##type##_get_reference_count(handle, count_out);                       \
	}
#define THE(type)                                                                                  \
	{                                                                                          \
#type, type##_retain_any, type##_release_any, type##_count_any                     \
	}
KIND(platform)
KIND(device)
KIND(context)
KIND(queue)
KIND(buffer)
KIND(host_accessor)
KIND(host_block)
KIND(event)
KIND(kernel_bundle)
KIND(kernel)
KIND(command_group)
KIND(graph)
KIND(executable_graph)

static uint32_t references(const struct kind *kind, void *handle)
{
	uint32_t count = 0;
	sycl_result result = kind->count(handle, &count);
	cr_assert(eq(int, result, 0), "%s: %s", kind->name, sycl_get_last_error_text());
	return count;
}

/* The caller has one reference. At the end there are none, and the handle is invalid. */
static void count_up_and_down(const struct kind *kind, void *handle)
{
	enum { MORE = 5 };
	uint32_t count = 7;
	cr_assert(eq(u32, references(kind, handle), 1), "%s", kind->name);
	for (uint32_t i = 1; i <= MORE; i++) {
		cr_assert(eq(int, kind->retain(handle), 0), "%s", kind->name);
		cr_assert(eq(u32, references(kind, handle), 1 + i), "%s", kind->name);
	}
	for (uint32_t i = MORE; i-- > 0;) {
		cr_assert(eq(int, kind->release(handle), 0), "%s", kind->name);
		cr_assert(eq(u32, references(kind, handle), 1 + i), "%s", kind->name);
	}
	cr_assert(eq(int, kind->release(handle), 0), "%s: %s", kind->name,
		  sycl_get_last_error_text());
	cr_assert(eq(int, kind->count(handle, &count), SYCL_ERROR_INVALID_HANDLE), "%s",
		  kind->name);
	cr_assert(eq(int, kind->retain(handle), SYCL_ERROR_INVALID_HANDLE), "%s", kind->name);
	cr_assert(eq(int, kind->release(handle), SYCL_ERROR_INVALID_HANDLE), "%s", kind->name);
	cr_assert(eq(u32, count, 7), "untouched");
	cr_assert(eq(int, kind->count(NULL, &count), SYCL_ERROR_INVALID_HANDLE), "%s", kind->name);
}

struct objects {
	sycl_platform platform;
	sycl_device device;
	sycl_context context;
	sycl_queue queue;
	sycl_buffer buffer;
	sycl_host_accessor accessor;
	sycl_host_block block;
	sycl_event event;
	sycl_kernel_bundle bundle;
	sycl_kernel kernel;
	sycl_command_group group;
	sycl_graph graph;
	sycl_executable_graph executable;
};

static void free_nothing(void *memory, void *context)
{
	(void)memory;
	(void)context;
}

/* All objects belong to a separate connection, so that no other code has a reference. */
static void make_objects(struct objects *made)
{
	static uint32_t words[WORDS];
	sycl_handler handler = NULL;
	*made = (struct objects){.platform = portable_open(0)};
	made->device = portable_device(made->platform, 0);
	MUST(sycl_context_create(1, &made->device, &made->context));
	MUST(sycl_queue_create(made->context, made->device, NULL, &made->queue));
	made->buffer = words_buffer(made->platform, 1);
	MUST(sycl_host_accessor_create(made->buffer, SYCL_ACCESS_READ, &made->accessor));
	MUST(sycl_host_block_create(words, sizeof(words), free_nothing, NULL, &made->block));
	MUST(sycl_queue_barrier(made->queue, &made->event));
	MUST(sycl_kernel_bundle_from_source(made->queue, SYCL_SOURCE_PORTABLE,
					    portable_engine_source(), NULL, &made->bundle));
	MUST(sycl_kernel_create(made->bundle, "increment_u32", &made->kernel));
	MUST(sycl_handler_begin(made->queue, &handler));
	MUST(sycl_handler_freeze(handler, &made->group));
	made->graph = graph_for(made->queue);
	made->executable = finalized(made->graph, 0);
}

Test(objects, N1_N3_references_of_every_kind_of_object_are_counted)
{
	struct objects made;
	make_objects(&made);
	const struct {
		struct kind kind;
		void *handle;
	} all[] = {
		{THE(executable_graph), made.executable},
		{THE(graph), made.graph},
		{THE(command_group), made.group},
		{THE(kernel), made.kernel},
		{THE(kernel_bundle), made.bundle},
		{THE(event), made.event},
		{THE(host_accessor), made.accessor},
		{THE(host_block), made.block},
		{THE(buffer), made.buffer},
		{THE(queue), made.queue},
		{THE(context), made.context},
		{THE(device), made.device},
		{THE(platform), made.platform},
	};
	MUST(sycl_queue_wait(made.queue));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		count_up_and_down(&all[i].kind, all[i].handle);
}

/* A getter returns one more reference of the same object, whatever other references there are. */
Test(objects, N1_N3_A18_what_a_getter_gives_is_one_more_reference)
{
	struct objects made;
	sycl_device device = NULL;
	sycl_context context = NULL;
	uint32_t before = 0, after = 0;
	make_objects(&made);
	MUST(sycl_device_get_reference_count(made.device, &before));
	MUST(sycl_queue_get_device(made.queue, &device));
	cr_assert(eq(ptr, device, made.device));
	MUST(sycl_device_get_reference_count(made.device, &after));
	cr_assert(eq(u32, after, before + 1));
	MUST(sycl_device_release(device));
	MUST(sycl_context_get_reference_count(made.context, &before));
	MUST(sycl_queue_get_context(made.queue, &context));
	cr_assert(eq(ptr, context, made.context));
	MUST(sycl_context_get_reference_count(made.context, &after));
	cr_assert(eq(u32, after, before + 1));
	MUST(sycl_context_release(context));
	MUST(sycl_executable_graph_release(made.executable));
	MUST(sycl_graph_release(made.graph));
	MUST(sycl_command_group_release(made.group));
	MUST(sycl_kernel_release(made.kernel));
	MUST(sycl_kernel_bundle_release(made.bundle));
	MUST(sycl_event_release(made.event));
	MUST(sycl_host_accessor_release(made.accessor));
	MUST(sycl_host_block_release(made.block));
	MUST(sycl_buffer_release(made.buffer));
	MUST(sycl_queue_release(made.queue));
	MUST(sycl_context_release(made.context));
	MUST(sycl_device_release(made.device));
	MUST(sycl_platform_release(made.platform));
}

/* The answer has a size. It fits into exactly that size, and not into less. */
#define ANSWERS(call, object, info)                                                                \
	do {                                                                                       \
		static char answer_[65536];                                                        \
		size_t bytes_ = 0;                                                                 \
		sycl_result asked_ = call(object, info, 0, NULL, &bytes_);                         \
		cr_assert(eq(int, asked_, 0), "%s %d: %s", #call, (int)(info),                     \
			  sycl_get_last_error_text());                                             \
		cr_assert(le(sz, bytes_, sizeof(answer_)));                                        \
		MUST(call(object, info, bytes_, answer_, NULL));                                   \
		if (bytes_ > 0)                                                                    \
			REFUSED(call(object, info, bytes_ - 1, answer_, NULL),                     \
				SYCL_ERROR_INVALID);                                               \
	} while (0)

Test(objects, A15_every_query_of_every_object_is_answered_and_no_other)
{
	sycl_kernel kernel = portable_kernel(queue, "fill_u32");
	sycl_context context = NULL;
	sycl_device device = NULL;
	char name[64] = "";
	uint64_t sizes[3] = {0};
	uint32_t arguments = 0;
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_queue_get_device(queue, &device));
	for (int info = SYCL_PLATFORM_INFO_NAME; info <= SYCL_PLATFORM_INFO_WEIGHT; info++)
		ANSWERS(sycl_platform_get_info, platform, (sycl_platform_info)info);
	for (int info = SYCL_DEVICE_INFO_TYPE; info <= SYCL_DEVICE_INFO_USM_SHARED_MIGRATES; info++)
		ANSWERS(sycl_device_get_info, device, (sycl_device_info)info);
	for (int info = SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS;
	     info <= SYCL_CONTEXT_INFO_DEVICE_COUNT; info++)
		ANSWERS(sycl_context_get_info, context, (sycl_context_info)info);
	for (int info = SYCL_KERNEL_INFO_NAME; info < SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE; info++)
		ANSWERS(sycl_kernel_get_info, kernel, (sycl_kernel_info)info);
	REFUSED(sycl_platform_get_info(platform,
				       (sycl_platform_info)(SYCL_PLATFORM_INFO_WEIGHT + 1), 0, NULL,
				       NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_context_get_info(context,
				      (sycl_context_info)(SYCL_CONTEXT_INFO_DEVICE_COUNT + 1), 0,
				      NULL, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_get_info(kernel,
				     (sycl_kernel_info)(SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE + 1), 0,
				     NULL, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, sizeof(sizes),
				     sizes, NULL),
		SYCL_ERROR_INVALID); /* only for built-in kernels and custom devices */
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NAME, sizeof(name), name, NULL));
	cr_assert(eq(str, name, (char[]){"fill_u32"}));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(arguments), &arguments,
				  NULL));
	cr_assert(eq(u32, arguments, 2));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	MUST(sycl_kernel_release(kernel));
}

/* A handle of another connection is valid, but cannot be used on this one. */
Test(objects, M12_objects_of_another_connection_are_refused)
{
	struct objects other;
	sycl_handler handler = NULL;
	sycl_context context = NULL;
	sycl_queue made = NULL;
	sycl_device device = NULL;
	sycl_buffer buffer = words_buffer(platform, 4);
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	const uint32_t value = 9;
	make_objects(&other);
	MUST(sycl_host_accessor_release(other.accessor));
	MUST(sycl_queue_get_device(queue, &device));
	const sycl_device devices[] = {device, other.device};
	REFUSED(sycl_context_create(2, devices, &context), SYCL_ERROR_INVALID);
	MUST(sycl_queue_get_context(queue, &context));
	REFUSED(sycl_queue_create(context, other.device, NULL, &made), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_submit_group(queue, other.group, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_set_accessor(handler, 0, other.buffer, SYCL_ACCESS_READ_WRITE),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_set_host_accessor(handler, 0, other.buffer, SYCL_ACCESS_READ_WRITE),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_depends_on(handler, other.event), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_parallel_for(handler, other.kernel, sycl_range1(WORDS)),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_parallel_for_nd(handler, other.kernel, sycl_range1(WORDS),
					     sycl_range1(1)),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_graph(handler, other.executable), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_update_host(handler, other.buffer), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_fill(handler, other.buffer, 0, 4, "abcd", 4), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy(handler, buffer, 0, other.buffer, 0, 4), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy(handler, other.buffer, 0, buffer, 0, 4), SYCL_ERROR_INVALID);
	/* The handler still works. */
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(words_are(buffer, 9));
	cr_assert(words_are(other.buffer, 1), "nobody has touched it");
	MUST(sycl_executable_graph_release(other.executable));
	MUST(sycl_graph_release(other.graph));
	MUST(sycl_command_group_release(other.group));
	MUST(sycl_kernel_release(other.kernel));
	MUST(sycl_kernel_bundle_release(other.bundle));
	MUST(sycl_event_release(other.event));
	MUST(sycl_host_block_release(other.block));
	MUST(sycl_buffer_release(other.buffer));
	MUST(sycl_queue_release(other.queue));
	MUST(sycl_context_release(other.context));
	MUST(sycl_device_release(other.device));
	MUST(sycl_platform_release(other.platform));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
}
