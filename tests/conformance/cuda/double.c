#include "cuda/double.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WAIT_NS 60000000000u

const struct fake_cuda_control *cuda_double(void)
{
	static const struct fake_cuda_control *control;
	fake_cuda_control_function *function;

	if (control)
		return control;
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	cr_assert_not_null(symbol);
	memcpy(&function, &symbol, sizeof(function));
	control = function();
	cr_assert_eq(control->version, FAKE_CUDA_CONTROL_VERSION);
	return control;
}

void double_command(const char *format, ...)
{
	char line[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	cr_assert_eq(cuda_double()->command(line), 0, "%s", line);
}

uint64_t double_count(const char *what)
{
	return cuda_double()->count(what);
}

void double_wait(const char *what, uint64_t at_least)
{
	cr_assert(cuda_double()->wait_count(what, at_least, WAIT_NS), "%s: %llu", what,
		  (unsigned long long)double_count(what));
}

size_t double_records(struct fake_cuda_record records[DOUBLE_RECORDS])
{
	size_t count = cuda_double()->records(records, DOUBLE_RECORDS);

	return count < DOUBLE_RECORDS ? count : DOUBLE_RECORDS;
}

void double_check(bool closed)
{
	static const char *const numbers[] = {
		"streams",    "events",       "contexts", "allocations", "host_allocations",
		"registered", "modules",      "graphs",   "graph_execs", "pools",
		"mappings",   "reservations", "ipc_open", "vmm_handles"};
	static struct fake_cuda_record records[DOUBLE_RECORDS];
	size_t count = double_records(records);

	for (size_t i = 0; i < count; i++)
		if (records[i].kind == FAKE_CUDA_MISUSE || records[i].kind == FAKE_CUDA_NULL_STREAM)
			cr_log_error("%s: %s", records[i].call, records[i].text);
	cr_assert_eq(double_count("misuse"), 0);
	cr_assert_eq(double_count("null_stream"), 0);
	for (size_t i = 0; closed && i < sizeof(numbers) / sizeof(*numbers); i++)
		cr_assert_eq(double_count(numbers[i]), 0, "%llu %s are left",
			     (unsigned long long)double_count(numbers[i]), numbers[i]);
}
