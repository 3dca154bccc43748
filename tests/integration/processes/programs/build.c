/* Builds that fail, builds that do not end, and builds that use too much memory. */
#include "processes/programs/worker.h"

#include <stdio.h>
#include <string.h>

int worker_build_fails(struct worker *worker)
{
	worker_connect(worker);
	sycl_kernel kernel = NULL;
	static const char source[] =
		"SYCL_KERNEL void broken(SYCL_GLOBAL(uint) y) { y[0] = no_such_thing; }";
	sycl_result r = sycl_kernel_from_source(worker->queue, source, "broken", &kernel);
	worker_check(kernel == NULL, "a kernel came of it");
	worker_say_result(r);
	const char *log = sycl_get_build_log();
	worker_say("log %s", strstr(log, "no_such_thing") ? "names the mistake" : log);
	/* The session still works. */
	kernel = worker_kernel(worker, "SYCL_KERNEL void fine(SYCL_GLOBAL(uint) y) { y[0] = 1; }",
			       "fine");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

/* Each macro expands to two of the one before. The last one has 2^60 terms, which the preprocessor
 * adds one by one. */
static void endless_source(char *text, size_t size)
{
	size_t used = 0;
	used += (size_t)snprintf(text, size, "#define A0 +1\n");
	for (int i = 1; i <= 60; i++)
		used += (size_t)snprintf(text + used, size - used, "#define A%d A%d A%d\n", i,
					 i - 1, i - 1);
	(void)snprintf(
		text + used, size - used,
		"#if 0 A60\n#endif\nSYCL_KERNEL void late(SYCL_GLOBAL(uint) y) { y[0] = 1; }\n");
}

int worker_build_endless(struct worker *worker)
{
	static char source[1 << 14];
	endless_source(source, sizeof(source));
	worker_connect(worker);
	worker_say("ready");
	sycl_kernel kernel = NULL;
	sycl_result r = sycl_kernel_from_source(worker->queue, source, "late", &kernel);
	worker_say_result(r);
	worker_say("log %s", sycl_get_build_log());
	worker_check(r != 0 && kernel == NULL, "it was built");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}

/* An array of 2^40 elements, each of which the compiler stores. */
static void eating_source(char *text, size_t size)
{
	size_t used = 0;
	used += (size_t)snprintf(text, size, "#define A0 1,\n");
	for (int i = 1; i <= 40; i++)
		used += (size_t)snprintf(text + used, size - used, "#define A%d A%d A%d\n", i,
					 i - 1, i - 1);
	(void)snprintf(
		text + used, size - used,
		"SYCL_KERNEL void large(SYCL_GLOBAL(uint) y) { const uint all[] = { A40 }; y[0] = all[y[0]]; }\n");
}

int worker_build_eats(struct worker *worker)
{
	static char source[1 << 14];
	eating_source(source, sizeof(source));
	worker_connect(worker);
	worker_say("ready");
	sycl_kernel kernel = NULL;
	sycl_result r = sycl_kernel_from_source(worker->queue, source, "large", &kernel);
	worker_say_result(r);
	worker_say("log %s", sycl_get_build_log());
	worker_check(r != 0 && kernel == NULL, "it was built");
	/* The session still works. */
	kernel = worker_kernel(worker, "SYCL_KERNEL void fine(SYCL_GLOBAL(uint) y) { y[0] = 1; }",
			       "fine");
	worker_must(sycl_kernel_release(kernel), "sycl_kernel_release");
	worker_disconnect(worker);
	worker_say("ok");
	return 0;
}
