/*
 * M12, for every function that the library exports. An invalid handle, a released one, and one of
 * another type are refused before anything else is checked. A new function is tested by itself, or
 * listed below.
 */
#include "syclclient.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MUST_BE_MADE(call) cr_assert(eq(int, (call), 0), "%s", sycl_get_last_error_text())

/* Functions that do not begin with a handle. */
static const char *const others[] = {
	"sycl_context_create",      "sycl_context_create_with", "sycl_event_wait_all",
	"sycl_event_wait_any",      "sycl_get_build_log",       "sycl_get_last_error",
	"sycl_get_last_error_text", "sycl_get_version",         "sycl_host_block_create",
	"sycl_kernel_bundle_join",  "sycl_kernel_bundle_link",  "sycl_platform_open",
	"sycl_platform_open_with",  "sycl_result_name",         "sycl_sampler_get_mapping",
};
/* Functions that return a score: the device must not be chosen. */
static const char *const selectors[] = {
	"sycl_accelerator_selector",
	"sycl_cpu_selector",
	"sycl_default_selector",
	"sycl_gpu_selector",
};

static bool is_listed(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i], name) == 0)
			return true;
	}
	return false;
}
#define IS_IN(list, name) is_listed(name, list, sizeof(list) / sizeof((list)[0]))

/* All other arguments point to this memory. It has room for a function's outputs, and no function
 * may write to it. */
static uint8_t untouched[512];

/*
 * Calls any of them by its name. The first argument is the handle. The others do not matter,
 * because the handle alone decides whether the call does anything.
 */
static sycl_result call(const char *name, void *handle)
{
	const uintptr_t o = (uintptr_t)untouched;
	sycl_result (*function)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
				uintptr_t, uintptr_t, uintptr_t, uintptr_t);
	void *symbol = dlsym(RTLD_DEFAULT, name);
	cr_assert(ne(ptr, symbol, NULL), "%s is in the list of symbols and not in the library",
		  name);
	memcpy(&function, &symbol, sizeof(function));
	return function(handle, o, o, o, o, o, o, o, o, o);
}

static void try_function(const char *name, void *handle, const char *what)
{
	sycl_result result = call(name, handle);
	for (size_t i = 0; i < sizeof(untouched); i++)
		cr_assert(eq(u8, untouched[i], 0), "%s of %s has written its output", name, what);
	if (IS_IN(selectors, name))
		cr_expect(lt(int, result, 0), "%s of %s", name, what);
	else if (handle || strcmp(name, "sycl_handler_discard") != 0)
		cr_expect(eq(int, result, SYCL_ERROR_INVALID_HANDLE), "%s of %s: %s, %s", name,
			  what, sycl_result_name(result), sycl_get_last_error_text());
	else
		cr_expect(eq(int, result, 0), "there is nothing to throw away");
}

/* Tries each name of the map. */
static uint32_t try_all(void *handle, const char *what, const char *but_for)
{
	FILE *file = fopen(SYMBOL_MAP, "re");
	char line[256], name[128] = "sycl_";
	uint32_t count = 0;
	cr_assert(ne(ptr, file, NULL));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " sycl_%100[a-z0-9_];", name + 5) != 1 || IS_IN(others, name))
			continue;
		if (but_for && strncmp(name, but_for, strlen(but_for)) == 0)
			continue;
		try_function(name, handle, what);
		count++;
	}
	(void)fclose(file);
	return count;
}

Test(no_handle, M12_every_exported_function_refuses_it, .timeout = 20)
{
	sycl_host_block gone = NULL, other = NULL;
	MUST_BE_MADE(sycl_host_block_create(NULL, 64, NULL, NULL, &gone));
	MUST_BE_MADE(sycl_host_block_release(gone));
	MUST_BE_MADE(sycl_host_block_create(NULL, 64, NULL, NULL, &other));
	cr_assert(gt(u32, try_all(NULL, "NULL", NULL), 200));
	(void)try_all((void *)(uintptr_t)0x7fffdeadbee8, "an address",
		      NULL); /* NOLINT(performance-no-int-to-ptr) */
	(void)try_all(gone, "a released one", NULL);
	(void)try_all(other, "one of another type", "sycl_host_block_");
	MUST_BE_MADE(sycl_host_block_release(other));
}

/* Handles that come in lists. */
Test(no_handle, M12_also_in_lists, .timeout = 20)
{
	sycl_host_block other = NULL;
	MUST_BE_MADE(sycl_host_block_create(NULL, 64, NULL, NULL, &other));
	void *const wrong[] = {NULL, other};
	for (int i = 0; i < 2; i++) {
		sycl_device device = wrong[i];
		sycl_event event = wrong[i];
		sycl_kernel_bundle bundle = wrong[i], bundle_out = NULL;
		sycl_context context = NULL;
		uint32_t index = 7;
		cr_expect(eq(int, sycl_context_create(1, &device, &context),
			     SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(int, sycl_context_create_with(1, &device, NULL, &context),
			     SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(int, sycl_event_wait_all(1, &event, 0), SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(int, sycl_event_wait_any(1, &event, 0, &index),
			     SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(int, sycl_kernel_bundle_link(1, &bundle, NULL, &bundle_out),
			     SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(int, sycl_kernel_bundle_join(1, &bundle, &bundle_out),
			     SYCL_ERROR_INVALID_HANDLE));
		cr_expect(eq(ptr, context, NULL));
		cr_expect(eq(u32, index, 7));
		cr_expect(eq(ptr, bundle_out, NULL));
	}
	MUST_BE_MADE(sycl_host_block_release(other));
}
