/* The steps of a build before its answer, recorded by the layer that counts the driver's
 * objects. */
#include "backend.h"
#include "opencl_counter.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

TestSuite(opencl_build_order, .timeout = 120);

static const char source[] =
	"SYCL_KERNEL void twice(SYCL_GLOBAL(int) data) { data[sycl_global_id(0)] *= 2; }\n";

static struct opencl_counts layer_counts(void)
{
	struct opencl_counts counts;
	opencl_counts_function *ask = NULL;
	void *layer = dlopen(COUNTER_LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	cr_assert_not_null(layer, "the loader has not loaded the layer");
	void *found = dlsym(layer, "opencl_counts");
	cr_assert_not_null(found);
	memcpy(&ask, &found, sizeof(found));
	ask(&counts);
	(void)dlclose(layer);
	return counts;
}

static void build_expecting(struct backend *backend, const char *text, int expected)
{
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	int result = backend_opencl_ops.build(backend, 0, BACKEND_SOURCE_PORTABLE, text,
					      strlen(text), "", &binary, &bytes, &log, &fault);
	cr_assert_eq(result < 0, expected < 0, "%d: %s\n%s", result, fault.text, log ? log : "");
	free(binary);
	free(log);
}

/* Releasing the compiler takes PoCL a tenth of a cold build, and the child that builds ends right
 * after its answer. */
Test(opencl_build_order, a_build_answers_before_the_compiler_is_given_back)
{
	const struct backend_settings settings = {.cache_directory = NULL};
	struct backend *backend = NULL;
	struct backend_topology topology;
	struct backend_fault fault = {0};

	(void)setenv("OPENCL_LAYERS", COUNTER_LIBRARY, 1);
	cr_assert_eq(backend_opencl_ops.open(&settings, &backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(backend_opencl_ops.enumerate(backend, &topology, &fault), 0, "%s", fault.text);
	if (topology.device_count == 0)
		cr_skip_test("OpenCL has no device here");
	/* Facts about images are asked in contexts of their own, which are gone by now. */
	const struct opencl_counts before = layer_counts();
	cr_assert_eq(before.given[OPENCL_CONTEXTS], before.taken[OPENCL_CONTEXTS]);
	build_expecting(backend, source, 0);
	build_expecting(backend, "SYCL_KERNEL void broken(", -1);
	struct opencl_counts counts = layer_counts();
	cr_assert_eq(counts.taken[OPENCL_CONTEXTS], before.taken[OPENCL_CONTEXTS] + 1);
	cr_assert_eq(counts.given[OPENCL_CONTEXTS], before.given[OPENCL_CONTEXTS]);
	/* Programs are not affected: each is released before the next one is made. */
	cr_assert_gt(counts.taken[OPENCL_PROGRAMS], 0);
	cr_assert_eq(counts.given[OPENCL_PROGRAMS], counts.taken[OPENCL_PROGRAMS]);
	backend_opencl_ops.close(backend);
	counts = layer_counts();
	cr_assert_eq(counts.given[OPENCL_CONTEXTS], counts.taken[OPENCL_CONTEXTS]);
}

static uint64_t programs_of(struct backend *backend, uint32_t dimensions)
{
	struct backend_fault fault = {0};
	const uint64_t before = layer_counts().taken[OPENCL_PROGRAMS];
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	cr_assert_eq(backend_opencl_ops.build_dimensions(backend, 0, BACKEND_SOURCE_PORTABLE,
							 source, strlen(source), "", dimensions,
							 &binary, &bytes, &log, &fault),
		     0, "%s", fault.text);
	free(binary);
	free(log);
	return layer_counts().taken[OPENCL_PROGRAMS] - before;
}

Test(opencl_build_order, E2_no_number_of_dimensions_is_built_that_nobody_asks_for)
{
	const struct backend_settings settings = {.cache_directory = NULL};
	struct backend *backend = NULL;
	struct backend_topology topology;
	struct backend_fault fault = {0};

	(void)setenv("OPENCL_LAYERS", COUNTER_LIBRARY, 1);
	cr_assert_eq(backend_opencl_ops.open(&settings, &backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(backend_opencl_ops.enumerate(backend, &topology, &fault), 0, "%s", fault.text);
	if (topology.device_count == 0)
		cr_skip_test("OpenCL has no device here");
	cr_expect_eq(programs_of(backend, 2), 1);
	cr_expect_eq(programs_of(backend, 5), 2);
	cr_expect_eq(programs_of(backend, 0), 3);
	backend_opencl_ops.close(backend);
}
