/* The checking mode: wrong accesses are reported, right ones are not. */
#include "library/checking.h"

#include <stdlib.h>
#include <string.h>

enum { N = 256 };

static sycl_buffer x, y;
static sycl_handler handler;

static void open_with(uint32_t check)
{
	float zeros[N] = {0};
	checking_open(check);
	MUST(sycl_buffer_create(checking_platform, zeros, sizeof(zeros), SYCL_HOST_CONST, &x));
	MUST(sycl_buffer_create(checking_platform, zeros, sizeof(zeros), SYCL_HOST_CONST, &y));
}

static void open_checked(void)
{
	open_with(1);
}

static void close_checked(void)
{
	MUST(sycl_buffer_release(x));
	MUST(sycl_buffer_release(y));
	checking_close();
}

TestSuite(client_checking, .timeout = 120, .init = open_checked, .fini = close_checked);
TestSuite(client_not_checking, .timeout = 120, .fini = close_checked);

static const char source[] =
	"SYCL_KERNEL void shift(SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) y, int by)\n"
	"{\n"
	"	int i = (int)sycl_global_id(0);\n"
	"	y[i] += x[i + by];\n"
	"}\n"
	"SYCL_KERNEL void store(SYCL_GLOBAL(float) x, SYCL_GLOBAL(float) y, int step)\n"
	"{\n"
	"	ulong i = sycl_global_id(0) * step;\n"
	"	x[i] = 1; y[i] = 2;\n"
	"}\n"
	"SYCL_KERNEL void half_of(SYCL_GLOBAL(float) x, ulong count)\n"
	"{\n"
	"	ulong i = sycl_global_id(0);\n"
	"	if (i < count)\n"
	"		x[i] = 1;\n"
	"	x[i] += 1;\n"
	"}\n"
	"SYCL_KERNEL void rows(SYCL_GLOBAL(float) x, ulong columns)\n"
	"{\n"
	"	SYCL_GLOBAL(float) row = x + sycl_global_id(0) * 16;\n"
	"	row[sycl_global_id(1) * columns] = 1;\n"
	"}\n"
	"SYCL_KERNEL void count(SYCL_GLOBAL(int) x, ulong place)\n"
	"{ sycl_atomic_add(&x[place], 1); }\n";

static sycl_kernel checking_kernel_of(const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(checking_queue, source, name, &kernel));
	return kernel;
}

static void checking_begin(void)
{
	MUST(sycl_handler_begin(checking_queue, &handler));
}

/* Launches what is set, and expects this error; NULL: none. */
static void checking_ends_with(const char *name, struct sycl_range range, const char *expected)
{
	sycl_kernel kernel = checking_kernel_of(name);
	MUST(sycl_handler_parallel_for(handler, kernel, range));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_result result = sycl_queue_wait(checking_queue);
	cr_assert(eq(int, result, expected ? SYCL_ERROR_KERNEL : SYCL_SUCCESS), "%s",
		  sycl_get_last_error_text());
	if (expected)
		cr_assert(eq(str, (char *)sycl_get_last_error_text(), (char *)(uintptr_t)expected));
	MUST(sycl_kernel_release(kernel));
}

/* With a buffer of its own: what a wrong launch wrote is not usable. */
static void shift(int by, const char *expected)
{
	sycl_buffer to = NULL;
	float zeros[N] = {0};
	MUST(sycl_buffer_create(checking_platform, zeros, sizeof(zeros), SYCL_HOST_CONST, &to));
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_accessor(handler, 1, to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 2, sizeof(by), &by));
	checking_ends_with("shift", sycl_range1(N), expected);
	MUST(sycl_buffer_release(to));
}

Test(client_checking, an_access_outside_of_the_range_is_reported_with_line_and_work_item)
{
	shift(0, NULL);
	shift(1, "kernel shift, line 4, work-item 255: x[256] is outside of the accessor's 256 "
		 "elements");
	shift(-1, "kernel shift, line 4, work-item 0: x[-1] is outside of the accessor's 256 "
		  "elements");
	shift(0, NULL); /* the session is as good as before */
}

static void checking_launch_store(sycl_access_mode mode, uint64_t bytes, int step,
				  const char *expected)
{
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, x, mode));
	MUST(sycl_handler_set_ranged_accessor(handler, 1, y, SYCL_ACCESS_WRITE, 64, bytes));
	MUST(sycl_handler_set_value(handler, 2, sizeof(step), &step));
	/* With a step of 0, any of several work-items could be the first. */
	checking_ends_with("store", sycl_range1(step ? 8 : 1), expected);
}

Test(client_checking, a_part_of_a_buffer_has_its_own_range)
{
	checking_launch_store(SYCL_ACCESS_WRITE, 32, 1, NULL);
	checking_launch_store(
		SYCL_ACCESS_WRITE, 28, 1,
		"kernel store, line 9, work-item 7: y[7] is outside of the accessor's 7 elements");
}

Test(client_checking, a_write_through_an_accessor_that_reads_is_reported)
{
	checking_launch_store(
		SYCL_ACCESS_READ, 32, 0,
		"kernel store, line 9, work-item 0: x[0] is written, the accessor only reads");
}

static void half_of(uint64_t count, const char *expected)
{
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_READ_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(count), &count));
	checking_ends_with("half_of", sycl_range1(N), expected);
}

Test(client_checking, an_element_that_is_read_before_it_is_written_is_reported)
{
	half_of(N, NULL);
	half_of(N - 1, "kernel half_of, line 16, work-item 255: x[255] is read, but nothing was "
		       "written there (no_init)");
}

static void rows(uint64_t columns, const char *expected)
{
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(columns), &columns));
	checking_ends_with("rows", sycl_range2(16, 2), expected);
}

Test(client_checking, a_pointer_into_a_range_is_checked_against_that_range)
{
	rows(15, NULL);
	rows(31, "kernel rows, line 21, work-item (15, 1): x[271] is outside of the accessor's 256 "
		 "elements");
}

Test(client_checking, an_atomic_access_and_usm_are_checked)
{
	void *pointer = NULL;
	for (uint64_t place = N - 1; place <= N; place++) {
		MUST(sycl_malloc_device(checking_queue, N * sizeof(int), 0, &pointer));
		checking_begin();
		MUST(sycl_handler_set_usm(handler, 0, pointer));
		MUST(sycl_handler_set_value(handler, 1, sizeof(place), &place));
		checking_ends_with(
			"count", sycl_range1(1),
			place < N ? NULL
				  : "kernel count, line 24, work-item 0: x[256] is outside of the "
				    "accessor's 256 elements");
		MUST(sycl_free(checking_queue, pointer));
	}
}

Test(client_checking, an_empty_buffer_has_no_element)
{
	sycl_buffer empty = NULL;
	uint64_t place = 0;
	MUST(sycl_buffer_create(checking_platform, NULL, 0, SYCL_HOST_NONE, &empty));
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, empty, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(place), &place));
	checking_ends_with(
		"count", sycl_range1(1),
		"kernel count, line 24, work-item 0: x[0] is outside of the accessor's 0 elements");
	MUST(sycl_buffer_release(empty));
}

static int checking_first_word(void)
{
	int word = 0;
	checking_begin();
	MUST(sycl_handler_copy_to_host(handler, x, 0, &word, sizeof(word)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(checking_queue));
	return word;
}

/* A device may send launches of one shape together, and may have a bound for launches that are
 * checked. */
Test(client_checking, of_many_launches_in_a_row_each_is_checked)
{
	enum { LAUNCHES = 600 };
	sycl_kernel kernel = checking_kernel_of("count");
	for (uint64_t i = 0; i <= LAUNCHES; i++) {
		const uint64_t place = i < LAUNCHES ? 0 : N;
		if (i == LAUNCHES)
			cr_assert(eq(int, checking_first_word(), LAUNCHES));
		checking_begin();
		MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_set_value(handler, 1, sizeof(place), &place));
		MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
		MUST(sycl_handler_submit(handler, NULL));
	}
	cr_assert(eq(int, sycl_queue_wait(checking_queue), SYCL_ERROR_KERNEL));
	cr_assert(eq(str, (char *)sycl_get_last_error_text(),
		     "kernel count, line 24, work-item 0: x[256] is outside of the accessor's 256 "
		     "elements"));
	MUST(sycl_kernel_release(kernel));
}

/* The kernel with checks runs there, too, and looks for nothing. */
Test(client_checking, kernels_of_graphs_are_not_checked)
{
	sycl_kernel kernel = checking_kernel_of("count");
	sycl_executable_graph executable = NULL;
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_graph graph = NULL;
	const uint64_t place = N - 1;
	MUST(sycl_queue_get_device(checking_queue, &device));
	MUST(sycl_queue_get_context(checking_queue, &context));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	checking_begin();
	MUST(sycl_handler_set_ranged_accessor(handler, 0, x, SYCL_ACCESS_READ_WRITE, 0, 4));
	MUST(sycl_handler_set_value(handler, 1, sizeof(place), &place));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	for (int i = 0; i < 3; i++)
		MUST(sycl_queue_graph(checking_queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(checking_queue));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	MUST(sycl_kernel_release(kernel));
}

Test(client_checking, a_kernel_has_the_arguments_of_its_source)
{
	sycl_kernel kernel = checking_kernel_of("shift");
	uint32_t arguments = 0;
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(arguments), &arguments,
				  NULL));
	cr_assert(eq(u32, arguments, 3));
	MUST(sycl_kernel_release(kernel));
}

/* The name of the block that the checks add is free in sources without them. */
Test(client_checking, a_kernel_without_checks_may_have_an_argument_of_any_name)
{
	static const char plain[] =
		"kernel void k(global int *x, int sycl_check_) { *x = sycl_check_; }\n"
		"kernel void two(global int *x, global ulong *sycl_check_) { *sycl_check_ = *x; }";
	static const char cuda[] =
		"extern \"C\" __global__ void k(int *x, int sycl_check_) { *x = sycl_check_; }\n"
		"extern \"C\" __global__ void two(int *x, unsigned long *sycl_check_)\n"
		"{ *sycl_check_ = *x; }";
	const bool is_cuda = checking_is_cuda();
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	const int value = 5;
	int found = 0;
	MUST(sycl_kernel_bundle_from_source(
		checking_queue, is_cuda ? SYCL_SOURCE_CUDA_CPP : SYCL_SOURCE_OPENCL_C,
		is_cuda ? cuda : plain, is_cuda ? "-arch=compute_90" : NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "k", &kernel));
	checking_begin();
	MUST(sycl_handler_set_accessor(handler, 0, x, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(checking_queue));
	checking_begin();
	MUST(sycl_handler_copy_to_host(handler, x, 0, &found, sizeof(found)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(checking_queue));
	cr_assert(eq(int, found, value));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_create(bundle, "two", &kernel));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(found), &found, NULL));
	cr_assert(eq(int, found, 2));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
}

static void log_has(const char *text, const char *expected)
{
	sycl_kernel_bundle bundle = NULL;
	const char *log = NULL;
	MUST(sycl_kernel_bundle_from_source(checking_queue, SYCL_SOURCE_PORTABLE, text, NULL,
					    &bundle));
	MUST(sycl_kernel_bundle_get_log(bundle, &log));
	cr_assert(eq(str, (char *)(uintptr_t)log, (char *)(uintptr_t)expected));
	MUST(sycl_kernel_bundle_release(bundle));
}

static const char typed_source[] =
	"SYCL_KERNEL void typed(SYCL_GLOBAL(float) x, float a, uint b, ulong c)\n"
	"{ x[sycl_global_id(0)] = a + (float)b + (float)c; }\n";

#define LAUNCH_TYPED(a, b, c)                                                                      \
	SYCL_LAUNCH(checking_queue, kernel, sycl_range1(N), NULL, SYCL_READ_WRITE(x),              \
		    SYCL_VALUE(a), SYCL_VALUE(b), (c))

Test(client_checking, a_value_of_another_type_and_the_same_size_is_reported)
{
	sycl_kernel kernel = NULL;
	float f = 1;
	double d = 1;
	int i = 1;
	unsigned u = 1;
	uint64_t l = 1;
	char type[64] = "";
	MUST(sycl_kernel_from_source(checking_queue, typed_source, "typed", &kernel));
	MUST(sycl_kernel_get_argument_info(kernel, 1, SYCL_ARGUMENT_INFO_TYPE_NAME, sizeof(type),
					   type, NULL));
	if (!*type)
		cr_skip("the compiler does not keep the types of parameters");
	/* Often enough that the launch is sent as one that comes again. */
	for (int round = 0; round < 4; round++) {
		MUST(LAUNCH_TYPED(f, u, SYCL_VALUE(l)));
		MUST(LAUNCH_TYPED(f, i, SYCL_VALUE(l)));
	}
	cr_assert(eq(int, LAUNCH_TYPED(i, u, SYCL_VALUE(l)), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(
		str, (char *)sycl_get_last_error_text(),
		"argument 1 of kernel 'typed' is of the type float, but an integer value was set"));
	cr_assert(eq(int, LAUNCH_TYPED(f, f, SYCL_VALUE(l)), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, LAUNCH_TYPED(f, u, SYCL_VALUE(d)), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(ne(ptr,
		     strstr(sycl_get_last_error_text(), ", but a floating-point value was set"),
		     NULL),
		  "%s", sycl_get_last_error_text());
	/* Bytes without a type are not compared. */
	MUST(LAUNCH_TYPED(f, u, sycl_launch_value(sizeof(d), &d)));
	MUST(sycl_queue_wait(checking_queue));
	MUST(sycl_kernel_release(kernel));
}

/* Each builds on devices of its language. */
static const char opencl_words[] =
	"SYCL_KERNEL void k(SYCL_GLOBAL(int) x)\n{ x[get_global_id(0)] = 1; }\n";
static const char cuda_words[] =
	"SYCL_KERNEL void k(SYCL_GLOBAL(int) x)\n{ x[threadIdx.x] = 1; }\n";

Test(client_checking, the_log_names_words_that_are_not_portable)
{
	if (checking_is_cuda())
		log_has(cuda_words,
			"warning: kernel:2:5: threadIdx is a word of CUDA C++; portable "
			"is sycl_local_id(d)\n  { x[threadIdx.x] = 1; }\n      ^\n");
	else
		log_has(opencl_words,
			"warning: kernel:2:5: get_global_id is a word of OpenCL C; portable is "
			"sycl_global_id(d)\n  { x[get_global_id(0)] = 1; }\n      ^\n");
}

Test(client_checking, the_log_names_a_source_that_cannot_be_checked)
{
	log_has("#define BODY {\nSYCL_KERNEL void k(SYCL_GLOBAL(int) x)\nBODY x[0] = 1; }\n",
		"warning: the accesses of this source cannot be checked\n");
}

Test(client_not_checking, wrong_accesses_are_not_reported)
{
	open_with(0);
	/* The element lies in the buffer, though not in the accessor's range. */
	checking_launch_store(SYCL_ACCESS_WRITE, 28, 1, NULL);
	log_has(checking_is_cuda() ? cuda_words : opencl_words, "");
	sycl_kernel kernel = NULL;
	int i = 1;
	uint64_t l = 1;
	MUST(sycl_kernel_from_source(checking_queue, typed_source, "typed", &kernel));
	MUST(LAUNCH_TYPED(i, i, SYCL_VALUE(l)));
	MUST(sycl_kernel_release(kernel));
}

Test(client_not_checking, the_environment_can_ask_for_checks)
{
	cr_assert(eq(int, setenv("SYCLD_CHECK", "1", 1), 0));
	open_with(0);
	checking_launch_store(
		SYCL_ACCESS_WRITE, 28, 1,
		"kernel store, line 9, work-item 7: y[7] is outside of the accessor's 7 elements");
}

Test(client_not_checking, words_of_one_language_explain_a_build_that_fails)
{
	sycl_kernel_bundle bundle = NULL;
	open_with(0);
	const bool is_cuda = checking_is_cuda();
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(checking_queue, SYCL_SOURCE_PORTABLE,
						    is_cuda ? opencl_words : cuda_words, NULL,
						    &bundle),
		     SYCL_ERROR_BUILD));
	cr_assert(
		ne(ptr,
		   strstr(sycl_get_build_log(),
			  is_cuda ? "get_global_id is a word of OpenCL C; portable is sycl_global_id(d)"
				  : "threadIdx is a word of CUDA C++; portable is sycl_local_id(d)"),
		   NULL),
		"%s", sycl_get_build_log());
}
