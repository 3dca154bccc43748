/* Portable sources as text: tokens, the checks of the checking mode, words of one language. */
#include "portable_check.h"
#include "portable_tokens.h"
#include "portable_words.h"
#include "status.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(portable_text, .timeout = 10);

#define HEAD       "SYCL_KERNEL void k(SYCL_GLOBAL(float) x, SYCL_CONSTANT(int) t, uint n"
#define BLOCK      ", SYCL_GLOBAL(ulong) sycl_check_"
#define X          "sycl_check_at_(sycl_check_, 0u, (long)("
#define T          "sycl_check_at_(sycl_check_, 1u, (long)("
#define X_END(how) "), sizeof(*x), (ulong)x, __LINE__, " how ")"
#define T_END(how) "), sizeof(*t), (ulong)t, __LINE__, " how ")"

/* The body of a kernel, and what becomes of it. */
static void becomes(const char *body, const char *expected)
{
	char source[1024], wanted[1024];
	size_t bytes = 0;

	(void)snprintf(source, sizeof(source), HEAD ")\n{%s}\n", body);
	(void)snprintf(wanted, sizeof(wanted), HEAD BLOCK ")\n{%s}\n", expected);
	char *text = portable_check_rewrite(source, strlen(source), &bytes);
	cr_assert_not_null(text);
	cr_assert_eq(bytes, strlen(text));
	cr_assert_str_eq(text, wanted);
	free(text);
}

Test(portable_text, an_index_is_checked_with_how_the_element_is_accessed)
{
	becomes("n = x[i];", "n = x[" X "i" X_END("1u") "];");
	becomes("x[i] = n;", "x[" X "i" X_END("2u") "] = n;");
	becomes("x[i] == n;", "x[" X "i" X_END("1u") "] == n;");
	becomes("x[i] += n;", "x[" X "i" X_END("3u") "] += n;");
	becomes("x[i] <<= n;", "x[" X "i" X_END("3u") "] <<= n;");
	becomes("x[i] <= n;", "x[" X "i" X_END("1u") "] <= n;");
	becomes("x[i]++;", "x[" X "i" X_END("3u") "]++;");
	becomes("--x[i];", "--x[" X "i" X_END("3u") "];");
	becomes("x[i].s[2].y = n;", "x[" X "i" X_END("2u") "].s[2].y = n;");
	becomes("f(&x[i]);", "f(&x[" X "i" X_END("4u") "]);");
	becomes("sycl_atomic_add(&x[i], 1);", "sycl_atomic_add(&x[" X "i" X_END("3u") "], 1);");
	becomes("n & x[i];", "n & x[" X "i" X_END("1u") "];");
	becomes("n && x[i];", "n && x[" X "i" X_END("1u") "];");
}

Test(portable_text, an_index_may_have_indices)
{
	becomes("x[t[n]] = 1;", "x[" X "t[" T "n" T_END("1u") "]" X_END("2u") "] = 1;");
}

Test(portable_text, other_variables_and_texts_stay)
{
	becomes("s.x[1]; p->x[1]; /* x[1] */ \"x[1]\"; x2[1]; {float x[4]; x[1];}",
		"s.x[1]; p->x[1]; /* x[1] */ \"x[1]\"; x2[1]; {float x[4]; x[1];}");
	becomes("\n#define A x[1]\n", "\n#define A x[1]\n");
}

Test(portable_text, a_pointer_that_moves_is_looked_for_in_all_ranges)
{
	becomes("SYCL_GLOBAL(float) r = x + n; r[1] = 2;",
		" const ulong sycl_check_places_[] = {(ulong)x, (ulong)t, 0, };"
		"SYCL_GLOBAL(float) r = x + n; r[sycl_check_near_(sycl_check_, sycl_check_places_, 3u, "
		"(long)(1), sizeof(*r), (ulong)r, __LINE__, 2u)] = 2;");
	becomes("x += n; x[1];",
		" const ulong sycl_check_places_[] = {(ulong)x, (ulong)t, 0, };"
		"x += n; x[sycl_check_near_(sycl_check_, sycl_check_places_, 3u, (long)(1), "
		"sizeof(*x), (ulong)x, __LINE__, 1u)];");
}

Test(portable_text, what_has_nothing_to_check_is_not_changed)
{
	static const char *const sources[] = {
		"",
		"SYCL_KERNEL",
		"SYCL_KERNEL void k(",
		"SYCL_KERNEL void k(void) {}",
		"SYCL_KERNEL void k() {}",
		"SYCL_KERNEL void k(uint n) { n; }",
		"SYCL_KERNEL void k(SYCL_GLOBAL(int) x);",
		"SYCL_KERNEL void k(SYCL_GLOBAL(int) x) { x[0; }",
		"SYCL_KERNEL void k(SYCL_GLOBAL(int) x) { x[0]",
		"SYCL_KERNEL void k(SYCL_GLOBAL(int) x) }",
		"void f(SYCL_GLOBAL(int) x) { x[0]; }",
		"\"",
		"'",
		"/*",
		"#",
		"\\",
		"SYCL_KERNEL {",
		"SYCL_KERNEL ( ) {",
	};
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		cr_expect_null(portable_check_rewrite(sources[i], strlen(sources[i]), &bytes), "%s",
			       sources[i]);
}

/* Without a body, each of these words would be followed by a search to the end of the source. */
Test(portable_text, many_kernels_without_a_body_do_not_take_the_square_of_their_number)
{
	static const char word[] = "SYCL_KERNEL ", kernel[] = ";" HEAD ")\n{n = x[i];}\n";
	static const char expected[] = ";" HEAD BLOCK ")\n{n = x[" X "i" X_END("1u") "];}\n";
	const size_t words = 400000, length = sizeof(word) - 1;
	size_t bytes = 0;

	char *source = malloc(words * length + sizeof(kernel));
	cr_assert_not_null(source);
	for (size_t i = 0; i < words; i++)
		memcpy(source + i * length, word, length);
	memcpy(source + words * length, kernel, sizeof(kernel));
	char *text = portable_check_rewrite(source, words * length + sizeof(kernel) - 1, &bytes);
	cr_assert_not_null(text);
	cr_assert_eq(bytes, words * length + sizeof(expected) - 1);
	cr_assert_str_eq(text + words * length, expected);
	free(text);
	free(source);
}

static void has_words(const char *source, const char *expected)
{
	char *text = portable_words_find(source, strlen(source));
	cr_assert_str_eq(text ? text : "", expected);
	free(text);
}

Test(portable_text, words_of_one_language_are_found_with_their_place)
{
	has_words("int a;\n\tn = get_global_id(0) + threadIdx.x;",
		  "warning: kernel:2:6: get_global_id is a word of OpenCL C; portable is "
		  "sycl_global_id(d)\n"
		  "warning: kernel:2:25: threadIdx is a word of CUDA C++; portable is "
		  "sycl_local_id(d)\n");
	has_words("#ifdef SYCL_DEVICE_CUDA\n#if 1\n__ldg;\n#endif\n#else\nbarrier;\n#endif\n"
		  "__ldg",
		  "warning: kernel:8:1: __ldg is a word of CUDA C++; portable is "
		  "SYCL_GLOBAL(const type) and a plain read\n");
	has_words("#ifdef SYCL_DEVICE_CUDA\nthreadIdx", "");
	has_words("sycl_global_id(0) /* threadIdx */ \"threadIdx\" my_threadIdx", "");
}

static const char *name(const void *context, uint64_t argument)
{
	return argument == 1 ? context : NULL;
}

Test(portable_text, a_wrong_access_becomes_a_sentence)
{
	uint64_t words[PORTABLE_CHECK_WORDS] = {0};
	struct backend_fault fault = {0};

	portable_check_fault(words, "k", 1, name, "y", &fault);
	cr_assert_eq(fault.status, STATUS_SUCCESS);
	const uint64_t found[] = {1, 1, 12, 1, UINT64_MAX, 100, 7, 8, 9};
	memcpy(words, found, sizeof(found));
	portable_check_fault(words, "k", 1, name, "y", &fault);
	cr_assert_eq(fault.status, STATUS_KERNEL);
	cr_assert_str_eq(fault.text, "kernel k, line 12, work-item 7: y[-1] is outside of the "
				     "accessor's 100 elements");
	words[PORTABLE_CHECK_KIND] = 2;
	portable_check_fault(words, "k", 2, name, "y", &fault);
	cr_assert_str_eq(fault.text, "kernel k, line 12, work-item (8, 7): y[-1] is written, the "
				     "accessor only reads");
	words[PORTABLE_CHECK_KIND] = 3;
	words[PORTABLE_CHECK_ARGUMENT] = 99;
	portable_check_fault(words, "k", 3, name, "y", &fault);
	cr_assert_str_eq(fault.text, "kernel k, line 12, work-item (9, 8, 7): ?[-1] is read, but "
				     "nothing was written there (no_init)");
}
