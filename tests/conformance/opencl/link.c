/* The error for objects that do not link, if the driver gives none. */
#include "cuda/kernels_run.h"
#include "opencl/program/link_words.h"
#include "status.h"

TestSuite(opencl_link, .timeout = 120);

static char *words_of(const char *first, const char *second)
{
	const struct opencl_text sources[] = {{first, strlen(first)},
					      {second, second ? strlen(second) : 0}};
	char *words = opencl_link_words(sources, second ? 2 : 1);

	cr_assert(words);
	return words;
}

static void check_words(const char *first, const char *second, const char *has, const char *has_not)
{
	char *words = words_of(first, second);

	cr_assert(!has || strstr(words, has), "%s", words);
	cr_assert(!has_not || !strstr(words, has_not), "%s", words);
	free(words);
}

Test(opencl_link, M6_what_the_sources_let_suppose)
{
	static const char kernel[] =
		"int scaled(int x);\nfloat table(float y, int (*f));\n"
		"__kernel void first(__global int *o) { o[0] = scaled(1) + other(2); }\n";

	check_words(kernel, NULL, "declared, and defined in none of them: scaled, table\n",
		    "other");
	check_words(kernel, NULL, "object 0 defines first\n", NULL);
	check_words(kernel, "int scaled(int x) { return x; }", "none of them: table\n",
		    "scaled, table");
	check_words(kernel, "int scaled(int x) { return x; }", "object 1 defines scaled\n",
		    "more than one");
	check_words("int f(int x) { return x; }", "int f(int x) { return 2; }",
		    "more than one of them: f\n", "none of");
	check_words("static int f(int x) { return x; }", "static int f(int x) { return 2; }", NULL,
		    "more than one");
	check_words("/* int f(int x); */ // int g(int);\n#define H int h(int);\nint f_ = 1;", NULL,
		    "no function", "none of");
	check_words(
		"__attribute__((reqd_work_group_size(1, 2, 3))) kernel void k(int a) { if (a) { while (a); } }",
		NULL, "defines k\n", "none of");
	check_words("__constant int t[] = {1, (2)};\nint u __attribute__((aligned(8)));", NULL,
		    "no function", "none of");
}

/* This also holds for every shorter text. */
Test(opencl_link, M6_anything_may_be_a_source)
{
	static const char odd[] =
		"\"\\\"x\" 'a /* b */ # \\\n #define \\\n int f(int (x)) /* } { */ ; }}} ))) ((( {{{ \"";

	for (size_t bytes = 0; bytes < sizeof(odd); bytes++) {
		char *copy = malloc(bytes + 1); /* exact, for the sanitizer */
		cr_assert(copy);
		memcpy(copy, odd, bytes);
		const struct opencl_text source = {copy, bytes};
		char *words = opencl_link_words(&source, 1);
		cr_assert(words);
		free(words);
		free(copy);
	}
}

Test(opencl_link, M6_a_link_that_fails_says_what_is_missing)
{
	static const char source[] =
		"int scaled(int x);\n"
		"SYCL_KERNEL void first(SYCL_GLOBAL(int) o) { o[sycl_global_id(0)] = scaled(3); }\n";
	struct run run = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	void *object = NULL, *binary = NULL;
	size_t bytes = 0, binary_bytes = 0;
	char *log = NULL;

	fixture_open(&run.fixture, 0);
	cr_assert_eq(run.fixture.ops->compile(run.fixture.backend, run.fixture.index,
					      BACKEND_SOURCE_PORTABLE, source, strlen(source), "",
					      &object, &bytes, &log, &fault),
		     0, "%s", fault.text);
	free(log);
	cr_assert_lt(run.fixture.ops->link(run.fixture.backend, run.fixture.index, 1,
					   (const void *const *)&object, &bytes, "", &binary,
					   &binary_bytes, &log, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_BUILD);
	cr_assert(strstr(fault.text, "scaled") || (log && strstr(log, "scaled")), "%s\n%s",
		  fault.text, log ? log : "");
	cr_assert(log && log[0] != '\0', "%s", fault.text);
	free(log);
	free(object);
	fixture_close(&run.fixture);
}
