/* Launches of a portable source with numbers of dimensions that its text does not show: they are
 * built when the launch comes (E2). */
#include "library/opencl.h"

#include <stdio.h>
#include <string.h>

TestSuite(opencl_dimensions, .init = with_opencl, .fini = without_opencl, .timeout = 240);

/* Composes the name of the macro: what the text names itself would be built for all numbers. */
#define HIDDEN "#define JOIN(a, b) a##b\n#define NUMBER JOIN(SYCL_DIMEN, SIONS)\n"

static const char positions[] =
	"SYCL_KERNEL void place(SYCL_GLOBAL(uint) to)\n"
	"{\n"
	"	to[sycl_global_linear_id()] = (uint)(sycl_global_id(0) * 10000 + sycl_global_range(0));\n"
	"}\n";

static sycl_queue dimensions_queue(void)
{
	sycl_queue queue = NULL;
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	return queue;
}

static sycl_result launch_place(sycl_queue queue, sycl_kernel kernel, sycl_range range,
				sycl_buffer to)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, range));
	return sycl_handler_submit(handler, NULL);
}

/* Expects the words that `positions` writes; the buffer is released. */
static void expect_places(sycl_buffer buffer, uint32_t rows, uint32_t row)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint32_t i = 0; i < rows * row; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], i / row * 10000 + rows), "%u", i);
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
}

Test(opencl_dimensions, E2_every_number_of_dimensions_can_be_launched)
{
	sycl_queue queue = dimensions_queue();
	sycl_kernel kernel = NULL;
	sycl_buffer flat = opencl_zeros(queue), plane = opencl_zeros(queue),
		    cube = opencl_zeros(queue), again = opencl_zeros(queue);
	MUST(sycl_kernel_from_source(queue, positions, "place", &kernel));
	/* None waits for the host: the launches that come first are built last. */
	MUST(launch_place(queue, kernel, sycl_range3(4, 5, 6), cube));
	MUST(launch_place(queue, kernel, sycl_range2(8, 9), plane));
	MUST(launch_place(queue, kernel, sycl_range1(100), flat));
	MUST(launch_place(queue, kernel, sycl_range3(2, 3, 4), again));
	expect_places(flat, 100, 1);
	expect_places(plane, 8, 9);
	expect_places(cube, 4, 30);
	expect_places(again, 2, 12);
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
}

Test(opencl_dimensions, E2_a_launch_keeps_its_kernel_while_it_is_built)
{
	sycl_queue queue = dimensions_queue();
	sycl_kernel kernel = NULL;
	sycl_buffer plane = opencl_zeros(queue);
	MUST(sycl_kernel_from_source(queue, positions, "place", &kernel));
	MUST(launch_place(queue, kernel, sycl_range2(8, 9), plane));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	expect_places(plane, 8, 9);
}

/* Also: the connection ends while a launch waits for a build. */
Test(opencl_dimensions, E2_M2_a_connection_may_end_meanwhile)
{
	sycl_platform second = NULL;
	sycl_queue queue = NULL;
	sycl_device of_second = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer plane = NULL;
	MUST(sycl_platform_open("embedded:", &second));
	of_second = opencl_device(second);
	MUST(sycl_queue_create(NULL, of_second, NULL, &queue));
	MUST(sycl_kernel_from_source(queue, positions, "place", &kernel));
	MUST(sycl_buffer_create(second, NULL, BYTES, SYCL_HOST_NONE, &plane));
	MUST(launch_place(queue, kernel, sycl_range2(8, 9), plane));
	MUST(sycl_buffer_release(plane));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(of_second));
	MUST(sycl_platform_release(second));
}

/* The error is that of the launch which asked for the number; nothing else fails. */
static void fails_in_3(const char *source, const char *words)
{
	sycl_queue queue = dimensions_queue();
	sycl_kernel kernel = NULL;
	sycl_buffer flat = opencl_zeros(queue), cube = opencl_zeros(queue);
	MUST(sycl_kernel_from_source(queue, source, "place", &kernel));
	MUST(launch_place(queue, kernel, sycl_range1(50), flat));
	for (int i = 0; i < 2; i++) {
		/* The second time it is known when the launch comes. */
		sycl_result result = launch_place(queue, kernel, sycl_range3(4, 5, 6), cube);
		if (result == SYCL_SUCCESS)
			result = sycl_queue_wait(queue);
		cr_assert(eq(int, result, SYCL_ERROR_BUILD), "%s", sycl_get_last_error_text());
		cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), words), NULL), "%s",
			  sycl_get_last_error_text());
	}
	expect_places(flat, 50, 1);
	flat = opencl_zeros(queue);
	MUST(launch_place(queue, kernel, sycl_range1(60), flat));
	expect_places(flat, 60, 1);
	MUST(sycl_buffer_release(cube));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
}

Test(opencl_dimensions, E2_M6_an_error_for_one_number_is_the_launches)
{
	char source[1024];
	(void)snprintf(source, sizeof(source),
		       "%s#if NUMBER == 3\n#error not for cubes\n#endif\n%s", HIDDEN, positions);
	fails_in_3(source, "not for cubes");
}

Test(opencl_dimensions, E2_J19_arguments_that_depend_on_the_number_are_refused)
{
	char source[1024];
	(void)snprintf(source, sizeof(source),
		       "%s#if NUMBER == 3\n"
		       "SYCL_KERNEL void place(uint address) { (void)sycl_global_id(0); }\n"
		       "#else\n%s\n#endif\n",
		       HIDDEN, positions);
	fails_in_3(source, "kernel place has other arguments");
}

Test(opencl_dimensions, E2_checks_are_built_for_the_number_as_well)
{
	static const char source[] = "SYCL_KERNEL void place(SYCL_GLOBAL(uint) to)\n"
				     "{ to[sycl_global_linear_id() * 1000] = 1; }\n";
	sycl_queue queue = dimensions_queue();
	sycl_context context = NULL;
	sycl_kernel_bundle input = NULL, built = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer plane = opencl_zeros(queue);
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_PORTABLE, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_build(input, "--sycl-check", &built));
	MUST(sycl_kernel_create(built, "place", &kernel));
	MUST(launch_place(queue, kernel, sycl_range2(3, 3), plane));
	FAILS(sycl_queue_wait(queue), SYCL_ERROR_KERNEL);
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(built));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_context_release(context));
	MUST(sycl_buffer_release(plane));
	MUST(sycl_queue_release(queue));
}

Test(opencl_dimensions, E2_a_graph_may_need_another_number)
{
	sycl_queue queue = dimensions_queue();
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	sycl_handler handler = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer plane = opencl_zeros(queue);
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_kernel_from_source(queue, positions, "place", &kernel));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, plane, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range2(8, 9)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	for (int i = 0; i < 3; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_kernel_release(kernel));
	expect_places(plane, 8, 9);
	MUST(sycl_context_release(context));
	MUST(sycl_queue_release(queue));
}
