#include "platforms/list.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 64 };

static const char source[] =
	"SYCL_KERNEL void add(SYCL_GLOBAL(uint) y, uint a)\n"
	"{ y[sycl_global_linear_id()] += a; }\n"
	"SYCL_KERNEL void set_id(SYCL_GLOBAL(uint) y)\n"
	"{ y[sycl_global_linear_id()] = (uint)sycl_global_linear_id(); }\n"
	"SYCL_KERNEL void last_id(SYCL_GLOBAL(uint) y)\n"
	"{ y[sycl_global_linear_id()] = (uint)sycl_global_id(sycl_dimensions() - 1); }\n"
	"SYCL_KERNEL void sum_of(SYCL_GLOBAL(const uint) x, SYCL_GLOBAL(uint) y)\n"
	"{ ulong i = sycl_global_linear_id(); y[i] += x[i]; }\n"
	"SYCL_KERNEL void rotate_group(SYCL_GLOBAL(uint) y, SYCL_LOCAL(uint) shared)\n"
	"{\n"
	"	ulong l = sycl_local_id(0), n = sycl_local_range(0);\n"
	"	shared[l] = y[sycl_global_id(0)];\n"
	"	sycl_group_barrier();\n"
	"	y[sycl_global_id(0)] = shared[(l + 1) % n];\n"
	"}\n"
	"SYCL_KERNEL void count_up(SYCL_GLOBAL(uint) y)\n"
	"{ sycl_atomic_add(y, 1u); }\n"
	"SYCL_KERNEL void nowhere(ulong address)\n"
	"{ *(SYCL_GLOBAL(uint))address = 1; }\n"
	"SYCL_KERNEL void multiply(SYCL_GLOBAL(uint) y, uint a)\n"
	"{ y[sycl_global_linear_id()] *= a; }\n";

bool list_holds(struct list *list, bool holds, const char *format, ...)
{
	va_list arguments;
	if (holds)
		return true;
	va_start(arguments, format);
	(void)vsnprintf(list->text, sizeof(list->text), format, arguments);
	va_end(arguments);
	return false;
}

bool list_good(struct list *list, sycl_result result, const char *what)
{
	return list_holds(list, result == 0, "%s: %s: %s", what, sycl_result_name(result),
			  result == 0 ? "" : sycl_get_last_error_text());
}

/* Returns true if it is of this backend and its name begins like that (NULL: any). */
static bool platform_fits(sycl_platform platform, sycl_backend backend, const char *name)
{
	uint32_t kind = 0;
	char text[256] = "";
	(void)sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_BACKEND, sizeof(kind), &kind,
				     NULL);
	(void)sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_NAME, sizeof(text), text, NULL);
	return kind == (uint32_t)backend && (!name || strncmp(text, name, strlen(name)) == 0);
}

static bool take_device(struct list *list, sycl_platform platform, uint32_t index)
{
	sycl_device devices[DEVICES_MAX];
	uint32_t count = 0;
	if (!list_good(list,
		       sycl_platform_get_devices(platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX,
						 devices, &count),
		       "devices"))
		return false;
	count = count < DEVICES_MAX ? count : DEVICES_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (i == index)
			list->device = devices[i];
		else
			(void)sycl_device_release(devices[i]);
	return list_holds(list, list->device != NULL, "the platform has %u devices, no device %u",
			  count, index);
}

static bool list_find_device(struct list *list, sycl_backend backend, const char *name,
			     uint32_t index)
{
	sycl_platform platforms[PLATFORMS_MAX];
	uint32_t count = 0;
	bool good = list_good(
		list,
		sycl_platform_get_platforms(list->connection, PLATFORMS_MAX, platforms, &count),
		"platforms");
	count = count < PLATFORMS_MAX ? count : PLATFORMS_MAX;
	bool found = false;
	for (uint32_t i = 0; i < count; i++) {
		if (good && !found && platform_fits(platforms[i], backend, name)) {
			found = true;
			good = take_device(list, platforms[i], index);
		}
		(void)sycl_platform_release(platforms[i]);
	}
	return good && list_holds(list, found, "no platform of backend %d named '%s'", (int)backend,
				  name ? name : "");
}

bool list_open(struct list *list, const char *endpoint, sycl_backend backend, const char *platform,
	       uint32_t device)
{
	struct sycl_queue_options ordered = SYCL_QUEUE_OPTIONS_INIT,
				  timed = SYCL_QUEUE_OPTIONS_INIT;
	*list = (struct list){.connection = NULL};
	ordered.properties = SYCL_QUEUE_IN_ORDER;
	timed.properties = SYCL_QUEUE_ENABLE_PROFILING;
	return list_good(list, sycl_platform_open(endpoint, &list->connection),
			 "sycl_platform_open") &&
	       list_find_device(list, backend, platform, device) &&
	       list_good(list, sycl_queue_create(NULL, list->device, &ordered, &list->in_order),
			 "sycl_queue_create") &&
	       list_good(list, sycl_queue_create(NULL, list->device, &timed, &list->queue),
			 "sycl_queue_create") &&
	       list_good(list,
			 sycl_kernel_bundle_from_source(list->queue, SYCL_SOURCE_PORTABLE, source,
							NULL, &list->bundle),
			 "the kernels");
}

void list_close(struct list *list)
{
	if (list->bundle)
		(void)sycl_kernel_bundle_release(list->bundle);
	if (list->queue)
		(void)sycl_queue_release(list->queue);
	if (list->in_order)
		(void)sycl_queue_release(list->in_order);
	if (list->device)
		(void)sycl_device_release(list->device);
	if (list->connection)
		(void)sycl_platform_release(list->connection);
	*list = (struct list){.connection = NULL};
}

static unsigned run_entries(struct list *list, const struct list_entry *entries, FILE *out)
{
	unsigned failed = 0;
	for (; entries->name; entries++) {
		list->text[0] = '\0';
		bool good = entries->check(list);
		failed += !good;
		(void)fprintf(out, "%s %s%s%s\n", good ? "ok" : "FAIL", entries->name,
			      good ? "" : ": ", good ? "" : list->text);
		(void)fflush(out);
	}
	return failed;
}

unsigned list_run(struct list *list, FILE *out)
{
	return run_entries(list, list_kernels, out) + run_entries(list, list_groups, out);
}

sycl_kernel list_kernel(struct list *list, const char *name)
{
	sycl_kernel kernel = NULL;
	return list_good(list, sycl_kernel_create(list->bundle, name, &kernel), name) ? kernel
										      : NULL;
}

sycl_buffer list_buffer(struct list *list, uint64_t words, uint32_t value)
{
	sycl_buffer buffer = NULL;
	if (!list_good(
		    list,
		    sycl_buffer_create(list->connection, NULL, words * 4, SYCL_HOST_NONE, &buffer),
		    "a buffer"))
		return NULL;
	if (list_good(list,
		      sycl_queue_fill(list->in_order, buffer, 0, words * 4, &value, sizeof(value),
				      NULL),
		      "a fill"))
		return buffer;
	(void)sycl_buffer_release(buffer);
	return NULL;
}

bool list_words_are(struct list *list, sycl_buffer buffer, uint64_t words, uint32_t first,
		    uint32_t step)
{
	sycl_host_accessor accessor;
	void *pointer = NULL;
	bool good = true;
	if (!list_good(list, sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		       "a host accessor"))
		return false;
	good = list_good(list, sycl_host_accessor_get_pointer(accessor, &pointer), "its pointer");
	const uint32_t *there = pointer;
	for (uint64_t i = 0; i < words && good; i++) {
		uint32_t wanted = first + (uint32_t)i * step;
		good = list_holds(list, there[i] == wanted, "word %llu is %u, not %u",
				  (unsigned long long)i, there[i], wanted);
	}
	(void)sycl_host_accessor_release(accessor);
	return good;
}

bool list_begin(struct list *list, sycl_queue queue, sycl_handler *handler_out)
{
	return list_good(list, sycl_handler_begin(queue, handler_out), "sycl_handler_begin");
}

bool list_accessor(struct list *list, sycl_handler handler, uint32_t index, sycl_buffer buffer,
		   sycl_access_mode mode)
{
	return list_good(list, sycl_handler_set_accessor(handler, index, buffer, mode),
			 "sycl_handler_set_accessor");
}

bool list_value(struct list *list, sycl_handler handler, uint32_t index, uint32_t value)
{
	return list_good(list, sycl_handler_set_value(handler, index, sizeof(value), &value),
			 "sycl_handler_set_value");
}
