#include "cuda/driver/options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

TestSuite(cuda_options, .timeout = 10);

static void expect_options(const char *text, bool portable, uint32_t count,
			   const char *const *words)
{
	struct cuda_options options;

	cr_assert_eq(cuda_options_parse(text, portable, &options), 0, "%s", text);
	cr_assert_eq(options.count, count, "%s: %u", text, options.count);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_str_eq(options.list[i], words[i]);
	cuda_options_fini(&options);
}

Test(cuda_options, words_are_separated_and_quotes_keep_blanks)
{
	expect_options("", false, 0, NULL);
	expect_options(NULL, false, 0, NULL);
	expect_options("  \t\n", false, 0, NULL);
	expect_options("-DN=4", false, 1, (const char *[]){"-DN=4"});
	expect_options(" -DA  -I '/a b' ", false, 3, (const char *[]){"-DA", "-I", "/a b"});
	expect_options("-DT=\"unsigned int\" -DS='a\"b' x\\ y", false, 3,
		       (const char *[]){"-DT=unsigned int", "-DS=a\"b", "x y"});
	expect_options("'' \"\"", false, 2, (const char *[]){"", ""});
	expect_options("a\\", false, 1, (const char *[]){"a\\"});
}

Test(cuda_options, what_is_opencls_is_translated_for_portable_sources)
{
	static const char text[] =
		"-cl-std=CL1.2 -cl-fast-relaxed-math -DN=1 -cl-mad-enable -cl-denorms-are-zero";

	expect_options(text, true, 2, (const char *[]){"--use_fast_math", "--ftz=true"});
	expect_options("-cl-mad-enable", false, 1, (const char *[]){"-cl-mad-enable"});
}

/* They are lines of the source, so they do not apply to the compiler's own headers. */
Test(cuda_options, definitions_of_portable_sources_are_lines)
{
	struct cuda_options options;

	cr_assert_eq(
		cuda_options_parse(
			"-DT=float -w -D N=4 -DEMPTY= -DFLAG '-DF(x)=x + 1' -UT -U N '-DA=1\n#error x'",
			true, &options),
		0);
	cr_assert_eq(options.count, 1);
	cr_assert_str_eq(options.list[0], "-w");
	cr_assert_str_eq(options.definitions,
			 "#define T float\n#define N 4\n#define EMPTY \n#define FLAG 1\n"
			 "#define F(x) x + 1\n#undef T \n#undef N \n#define A 1 #error x\n");
	cuda_options_fini(&options);
	cr_assert_eq(cuda_options_parse("-DT=float", false, &options), 0);
	cr_assert_eq(options.count, 1);
	cr_assert_str_eq(options.definitions, "");
	cuda_options_fini(&options);
}

Test(cuda_options, instances_of_templates_are_set_apart)
{
	struct cuda_options options;

	cr_assert_eq(cuda_options_parse(
			     "--sycl-kernel=k<float> -arch=sm_90a '--sycl-kernel=k<unsigned int>'",
			     false, &options),
		     0);
	cr_assert_eq(options.expression_count, 2);
	cr_assert_str_eq(options.expressions[0], "k<float>");
	cr_assert_str_eq(options.expressions[1], "k<unsigned int>");
	cr_assert(options.has_architecture);
	cr_assert_eq(options.count, 1);
	cuda_options_fini(&options);
	cr_assert_eq(cuda_options_parse("--gpu-architecture=compute_80", false, &options), 0);
	cr_assert(options.has_architecture);
	cuda_options_fini(&options);
	cr_assert_eq(cuda_options_parse("-w --sycl-check", true, &options), 0);
	cr_assert(options.checks);
	cr_assert_eq(options.count, 1, "the compiler does not get the option");
	cuda_options_fini(&options);
	cr_assert_eq(cuda_options_parse("-DX", false, &options), 0);
	cr_assert_not(options.has_architecture);
	cuda_options_fini(&options);
}

Test(cuda_options, open_quotes_and_too_many_words_are_refused)
{
	static char text[4 * CUDA_OPTIONS_MAX + 16];
	struct cuda_options options;

	cr_assert_eq(cuda_options_parse("-DA='b", false, &options), -EINVAL);
	cr_assert_eq(cuda_options_parse("\"", false, &options), -EINVAL);
	for (uint32_t i = 0; i <= CUDA_OPTIONS_MAX; i++)
		(void)strcat(text, "-w ");
	cr_assert_eq(cuda_options_parse(text, false, &options), -E2BIG);
	text[3 * CUDA_OPTIONS_MAX] = '\0';
	cr_assert_eq(cuda_options_parse(text, false, &options), 0);
	cr_assert_eq(options.count, CUDA_OPTIONS_MAX);
	cuda_options_fini(&options);
}
