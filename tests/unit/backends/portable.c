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
#define BEGIN      " struct sycl_check_here_ sycl_check_own_ = sycl_check_begin_(sycl_check_);"
#define X          "sycl_check_at_(&sycl_check_own_, 0u, (long)("
#define T          "sycl_check_at_(&sycl_check_own_, 1u, (long)("
#define X_END(how) "), sizeof(*x), SYCL_CHECK_PLACE_(x), __LINE__, " how ")"
#define T_END(how) "), sizeof(*t), SYCL_CHECK_PLACE_(t), __LINE__, " how ")"
#define NEAR       "sycl_check_near_(&sycl_check_own_, sycl_check_places_, 3u, (long)("
#define LOCAL      "sycl_check_local_(&sycl_check_own_, (long)("

/* The body of a kernel, and what becomes of it. */
static void becomes(const char *body, const char *expected)
{
	char source[1024], wanted[1024];
	size_t bytes = 0;

	(void)snprintf(source, sizeof(source), HEAD ")\n{%s}\n", body);
	(void)snprintf(wanted, sizeof(wanted), HEAD BLOCK ")\n{" BEGIN "%s}\n", expected);
	char *text = portable_check_rewrite(source, strlen(source), NULL, &bytes);
	cr_assert_not_null(text);
	cr_assert_eq(bytes, strlen(text));
	cr_assert_str_eq(text, wanted);
	free(text);
}

Test(portable_text, an_index_is_checked_with_how_the_element_is_accessed)
{
	becomes("n = x[i];", "n = x[" X "i" X_END("17u") "];");
	becomes("x[i] = n;", "x[" X "i" X_END("18u") "] = n;");
	becomes("x[i] == n;", "x[" X "i" X_END("17u") "] == n;");
	becomes("x[i] += n;", "x[" X "i" X_END("19u") "] += n;");
	becomes("x[i] <<= n;", "x[" X "i" X_END("19u") "] <<= n;");
	becomes("x[i] <= n;", "x[" X "i" X_END("17u") "] <= n;");
	becomes("x[i]++;", "x[" X "i" X_END("19u") "]++;");
	becomes("--x[i];", "--x[" X "i" X_END("19u") "];");
	becomes("x[i].s[2].y = n;", "x[" X "i" X_END("2u") "].s[2].y = n;");
	becomes("f(&x[i]);", "f(&x[" X "i" X_END("4u") "]);");
	becomes("sycl_atomic_add(&x[i], 1);", "sycl_atomic_add(&x[" X "i" X_END("27u") "], 1);");
	becomes("n & x[i];", "n & x[" X "i" X_END("17u") "];");
	becomes("n && x[i];", "n && x[" X "i" X_END("17u") "];");
}

Test(portable_text, an_index_may_have_indices)
{
	becomes("x[t[n]] = 1;", "x[" X "t[" T "n" T_END("17u") "]" X_END("18u") "] = 1;");
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
		"SYCL_GLOBAL(float) r = x + n; r[" NEAR
		"1), sizeof(*r), SYCL_CHECK_PLACE_(r), __LINE__, 18u)] = 2;");
	becomes("x += n; x[1];", " const ulong sycl_check_places_[] = {(ulong)x, (ulong)t, 0, };"
				 "x += n; x[" NEAR "1" X_END("17u") "];");
}

Test(portable_text, local_memory_is_checked_with_its_name)
{
	becomes("SYCL_LOCAL_ARRAY(int, tile, 8); tile[n];",
		"SYCL_LOCAL_ARRAY(int, tile, 8); tile[" LOCAL
		"n), sizeof(*tile), SYCL_CHECK_PLACE_(tile), sizeof(tile), __LINE__, 17u, "
		"0x656c6974ul, 0x0ul, 0x0ul)];");
	becomes("SYCL_LOCAL(int) p = f(); p[n] = 1;",
		"SYCL_LOCAL(int) p = f(); p[" LOCAL
		"n), sizeof(*p), SYCL_CHECK_PLACE_(p), 0ul, __LINE__, 18u, 0x70ul, 0x0ul, 0x0ul)] "
		"= 1;");
	becomes("SYCL_LOCAL_ARRAY(int, tile[4], 8); tile[n][1];",
		"SYCL_LOCAL_ARRAY(int, tile[4], 8); tile[n][1];");
}

Test(portable_text, barriers_that_the_kernel_names_are_counted)
{
	becomes("sycl_group_barrier(); sycl_group_id(0);",
		"sycl_check_sycl_group_barrier(); sycl_group_id(0);");
	becomes("n = sycl_group_reduce_add(x[i]);",
		"n = sycl_group_reduce_add(sycl_check_passed_(x[" X
		"i" X_END("17u") "], &sycl_check_own_));");
	becomes("n = sycl_group_broadcast(n, 3);",
		"n = sycl_group_broadcast(n,sycl_check_passed_( 3, &sycl_check_own_));");
	becomes("if (sycl_group_any(n < 3)) n = 1;",
		"if (sycl_group_any(sycl_check_passed_((n < 3) != 0, &sycl_check_own_))) n = 1;");
}

/* 16 of the last argument would be the request to look for races. */
Test(portable_text, a_source_with_another_order_has_no_search_for_races)
{
	static const char *const outside[] = {
		"void f() { sycl_group_barrier(); }\n",
		"#define SYNC sycl_group_barrier()\n",
		"#define SYNC \\\n  barrier(1)\n",
	};
	static const char *const options[] = {"-DN=3", "-DSYNC=sycl_group_barrier",
					      "-D SYNC=fence"};
	size_t bytes = 0;

	becomes("x[i] = n; sycl_fence();", "x[" X "i" X_END("2u") "] = n; sycl_fence();");
	becomes("x[i] = n; sycl_sub_group_barrier();",
		"x[" X "i" X_END("2u") "] = n; sycl_sub_group_barrier();");
	becomes("x[i] = n; __syncthreads();", "x[" X "i" X_END("2u") "] = n; __syncthreads();");
	becomes("x[i] = n; sycl_group_barrier(); sycl_atomic_load_explicit(0, 1, 2);",
		"x[" X "i" X_END("2u") "] = n; sycl_group_barrier(); "
				       "sycl_atomic_load_explicit(0, 1, 2);");
	becomes("x[i] = n; CALL(sycl_group_barrier);",
		"x[" X "i" X_END("2u") "] = n; CALL(sycl_group_barrier);");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		static const char source[] = HEAD ") { x[i] = n; SYNC(); }";
		char *text = portable_check_rewrite(source, sizeof(source) - 1, options[i], &bytes);
		cr_assert_not_null(text);
		cr_expect_eq(strstr(text, "__LINE__, 2u)") != NULL, i > 0, "%s", text);
		free(text);
	}
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		char source[256];
		(void)snprintf(source, sizeof(source), "%s" HEAD ") { x[i] = n; }", outside[i]);
		char *text = portable_check_rewrite(source, strlen(source), NULL, &bytes);
		cr_assert_not_null(text);
		cr_expect_not_null(strstr(text, "__LINE__, 2u)"), "%s", text);
		free(text);
	}
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
		cr_expect_null(portable_check_rewrite(sources[i], strlen(sources[i]), NULL, &bytes),
			       "%s", sources[i]);
}

/* Without a body, each of these words would be followed by a search to the end of the source. */
Test(portable_text, many_kernels_without_a_body_do_not_take_the_square_of_their_number)
{
	static const char word[] = "SYCL_KERNEL ", kernel[] = ";" HEAD ")\n{n = x[i];}\n";
	static const char expected[] =
		";" HEAD BLOCK ")\n{" BEGIN "n = x[" X "i" X_END("17u") "];}\n";
	const size_t words = 400000, length = sizeof(word) - 1;
	size_t bytes = 0;

	char *source = malloc(words * length + sizeof(kernel));
	cr_assert_not_null(source);
	for (size_t i = 0; i < words; i++)
		memcpy(source + i * length, word, length);
	memcpy(source + words * length, kernel, sizeof(kernel));
	char *text =
		portable_check_rewrite(source, words * length + sizeof(kernel) - 1, NULL, &bytes);
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

Test(portable_text, a_race_becomes_a_sentence_with_both_work_items)
{
	uint64_t words[PORTABLE_CHECK_WORDS] = {1, 4, 12, PORTABLE_CHECK_NAMED, 3, 16, 7, 8, 9};
	struct backend_fault fault = {0};

	memcpy(&words[PORTABLE_CHECK_NAME], "tile", 4);
	words[PORTABLE_CHECK_HOW] = PORTABLE_CHECK_READS | PORTABLE_CHECK_RACES;
	words[PORTABLE_CHECK_OTHER_ROLE] = PORTABLE_CHECK_WRITER;
	words[PORTABLE_CHECK_OTHER_LINE] = 10;
	words[PORTABLE_CHECK_OTHER_ID] = 4;
	portable_check_fault(words, "k", 1, name, "y", &fault);
	cr_assert_str_eq(fault.text, "kernel k, line 12, work-item 7: tile[3] is read, and "
				     "work-item 4 writes it in line 10 without a barrier");
	words[PORTABLE_CHECK_HOW] = PORTABLE_CHECK_WRITES;
	words[PORTABLE_CHECK_OTHER_ROLE] = PORTABLE_CHECK_READER + 1;
	portable_check_fault(words, "k", 1, name, "y", &fault);
	cr_assert_str_eq(fault.text, "kernel k, line 12, work-item 7: tile[3] is written, and "
				     "work-item 4 reads it in line 10 without a barrier");
	/* A kernel may have written anything. */
	memset(words, 0xff, sizeof(words));
	portable_check_fault(words, "k", 3, name, "y", &fault);
	cr_assert_eq(fault.status, STATUS_KERNEL);
}
