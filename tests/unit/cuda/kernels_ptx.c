/* PTX as text: how it is read, and what is added to NVRTC's output. */
#include "cuda/program/geometry.h"
#include "cuda/program/ptx.h"
#include "cuda/program/ptx_wait.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_ptx, .timeout = 10);

static struct cuda_ptx *parse(const char *text)
{
	struct cuda_ptx *ptx = NULL;
	uint32_t line = 0;

	int error = cuda_ptx_parse(text, strlen(text), &ptx, &line);
	cr_assert_eq(error, 0, "%d in line %u", error, line);
	return ptx;
}

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Only the words on pointers to shared memory are replaced by blanks, in kernels. Nothing moves. */
Test(cuda_ptx, E15_what_is_said_of_pointers_to_shared_memory_is_blanked)
{
	static const char text[] = HEAD
		".visible .entry a(.param .u64 .ptr .shared .align 16 x, .param .u64 .ptr .global .align 4 y,\n"
		"\t.param .align 8 .u64 .ptr // .ptr .shared\n\t.shared\n\t.align 4 z, .param .u64 .ptr .shared w)\n"
		"{ .reg .b64 ptr; ld.shared.u64 ptr, [ptr]; }\n"
		".func f(.param .u64 .ptr .shared .align 4 x) { ret; }\n";
	static const char blanked[] = HEAD
		".visible .entry a(.param .u64                        x, .param .u64 .ptr .global .align 4 y,\n"
		"\t.param .align 8 .u64                     \n        \n          z, .param .u64              w)\n"
		"{ .reg .b64 ptr; ld.shared.u64 ptr, [ptr]; }\n"
		".func f(.param .u64 .ptr .shared .align 4 x) { ret; }\n";
	struct cuda_ptx *ptx = parse(text);
	char *copy = strdup(text);

	cuda_ptx_blank_shared(copy, ptx);
	cr_assert_str_eq(copy, blanked);
	/* Without these words the pointer may be of any kind. */
	ptx = cuda_ptx_free(ptx);
	ptx = parse(copy);
	cr_assert_eq(ptx->entries[0].parameter_count, 4);
	cr_assert_eq(ptx->entries[0].parameters[0].space, CUDA_PTX_NO_POINTER);
	cr_assert_eq(ptx->entries[0].parameters[1].space, CUDA_PTX_GLOBAL);
	cr_assert_eq(ptx->entries[0].parameters[2].align_bytes, 8);
	ptx = cuda_ptx_free(ptx);
	free(copy);
}

Test(cuda_ptx, E15_parameters_are_read)
{
	static const char text[] =
		"// a comment with .entry nothing(\n" HEAD
		"/* .entry neither { */ .extern .shared .align 16 .b8 tile[];\n"
		".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
		".visible .entry many(\n\t.param .u64 a,\n\t.param .u64 .ptr .global .align 4 b,\n"
		"\t.param .u64 .ptr .shared .align 16 c, .param .align 16 .b8 d[48], .param .f64 e,\n"
		"\t.param .u32 f, .param .b8 g, .param .s64 h, .param .u64 .ptr .align 1 i\n)\n"
		".maxntid 128, 2\n.minnctapersm 3\n{\n\t{ // nested }\n\t}\n\tret;\n}\n"
		".entry nothing\n.reqntid 32, 4, 2\n{ ret; }\n"
		".visible .entry none() ;\n"
		".func (.param .b32 r) helper(.param .b32 x) { ret; }\n";
	struct cuda_ptx *ptx = parse(text);

	cr_assert_eq(ptx->entry_count, 2, "a declaration is no kernel");
	cr_assert_eq(ptx->function_count, 1);
	const struct cuda_ptx_entry *many = &ptx->entries[0], *nothing = &ptx->entries[1];
	cr_assert_str_eq(many->name, "many");
	cr_assert_eq(many->parameter_count, 9);
	static const struct {
		uint32_t size_bytes, align_bytes;
		enum cuda_ptx_space space;
		bool may_point;
	} expected[] = {
		{8, 8, CUDA_PTX_NO_POINTER, true},  {8, 8, CUDA_PTX_GLOBAL, true},
		{8, 8, CUDA_PTX_SHARED, true},      {48, 16, CUDA_PTX_NO_POINTER, false},
		{8, 8, CUDA_PTX_NO_POINTER, false}, {4, 4, CUDA_PTX_NO_POINTER, false},
		{1, 1, CUDA_PTX_NO_POINTER, false}, {8, 8, CUDA_PTX_NO_POINTER, false},
		{8, 8, CUDA_PTX_GENERIC, true},
	};
	for (int i = 0; i < 9; i++) {
		cr_assert_eq(many->parameters[i].size_bytes, expected[i].size_bytes, "parameter %d",
			     i);
		cr_assert_eq(many->parameters[i].align_bytes, expected[i].align_bytes,
			     "parameter %d", i);
		cr_assert_eq(many->parameters[i].space, expected[i].space, "parameter %d", i);
		cr_assert_eq(many->parameters[i].may_point, expected[i].may_point, "parameter %d",
			     i);
	}
	cr_assert_eq(many->max_threads[0], 128);
	cr_assert_eq(many->max_threads[1], 2);
	cr_assert_eq(many->min_groups, 3);
	cr_assert_str_eq(nothing->name, "nothing");
	cr_assert_eq(nothing->parameter_count, 0);
	cr_assert_eq(nothing->required[0], 32);
	cr_assert_eq(nothing->required[1], 4);
	cr_assert_eq(nothing->required[2], 2);
	cuda_ptx_free(ptx);
}

Test(cuda_ptx, what_is_no_ptx_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{"", 1},
		{"\n\nint main;\n", 3},
		{".version 8.0\n", 2},
		{".version 8.0\n.target sm_90\n.address_size 32\n", 3},
		{HEAD ".entry k(.param .u64 a\n", 5},
		{HEAD ".entry k(.param .u64 a)\n{ ret;\n", 6},
		{HEAD ".entry k(.param .what a) { ret; }", 4},
		{HEAD ".entry k(.param .u64) { ret; }", 4},
		{HEAD ".entry k(.param .b8 a[99999]) { ret; }", 4},
		{HEAD ".entry k(.param .b8 a[99999999999]) { ret; }", 4},
		{HEAD ".entry k() .reqntid { ret; }", 4},
		{HEAD ".entry 9() { ret; }", 4},
		{HEAD ".func f() {", 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cuda_ptx *ptx = NULL;
		uint32_t line = 0;
		cr_assert_eq(cuda_ptx_parse(cases[i].text, strlen(cases[i].text), &ptx, &line),
			     -EINVAL, "%zu", i);
		cr_assert_eq(line, cases[i].line, "case %zu: line %u", i, line);
		cr_assert_null(ptx);
	}
	struct cuda_ptx *ptx = NULL;
	static const char with_zero[] = HEAD "\0.entry k() { ret; }";
	cr_assert_eq(cuda_ptx_parse(with_zero, sizeof(with_zero) - 1, &ptx, NULL), -EINVAL);
}

Test(cuda_ptx, too_many_parameters_are_refused)
{
	static char text[65536];
	struct cuda_ptx *ptx = NULL;
	size_t at = (size_t)sprintf(text, HEAD ".entry k(.param .u32 p");

	for (int i = 0; i < 1025; i++)
		at += (size_t)sprintf(text + at, ", .param .u32 p%d", i);
	(void)sprintf(text + at, ") { ret; }");
	cr_assert_eq(cuda_ptx_parse(text, strlen(text), &ptx, NULL), -E2BIG);
}

/* Every prefix, and every text with one byte changed, has an answer and no other effect. */
Test(cuda_ptx, damaged_text_harms_nothing)
{
	static const char text[] = HEAD
		".func f() { ld.param.b64 %r, [sycl_launch+8]; }\n"
		".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 4 .b8 b[4])\n"
		".maxntid 64, 1, 1\n{ ret; }\n";
	char copy[sizeof(text)];
	const char *names[] = {"k", "k", "k", "k"};
	unsigned good = 0;

	for (size_t i = 0; i < 2 * sizeof(text) * 4; i++) {
		struct cuda_ptx *ptx = NULL;
		char *made = NULL;
		size_t bytes = sizeof(text) - 1, count = 0;
		uint32_t entry = 0;
		memcpy(copy, text, sizeof(text));
		if (i < sizeof(text))
			bytes = i;
		else
			copy[i % (sizeof(text) - 1)] = "{}(),.\"/"[i / sizeof(text)];
		if (cuda_ptx_parse(copy, bytes, &ptx, NULL) == 0 && ptx->entry_count <= 4 &&
		    cuda_ptx_complete(copy, bytes, ptx, 2, names, &made, &count, &entry) == 0)
			good++;
		free(made);
		cuda_ptx_free(ptx);
	}
	cr_assert_gt(good, 0);
}

static char *complete(const char *text, unsigned dimensions, const char *const *names,
		      struct cuda_ptx **ptx_out)
{
	char *made = NULL;
	size_t bytes = 0;
	uint32_t entry = 0;
	struct cuda_ptx *ptx = parse(text);

	int error = cuda_ptx_complete(text, strlen(text), ptx, dimensions, names, &made, &bytes,
				      &entry);
	cr_assert_eq(error, 0, "%d, entry %u", error, entry);
	cr_assert_eq(strlen(made), bytes);
	*ptx_out = ptx;
	return made;
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

Test(cuda_ptx, E9_E10_each_kernel_gets_the_record_and_a_prologue)
{
	static const char text[] =
		HEAD "\n.visible .entry _Z1aPf(\n\t.param .u64 _Z1aPf_param_0\n)\n{\n\tbody_a;\n}\n"
		     ".visible .entry _Z1bv()\n{\n\tbody_b;\n}\n"
		     ".visible .entry _Z1cv\n{\n\tbody_c;\n}\n";
	const char *names[] = {"a", "b", "c"};

	for (unsigned dimensions = 1; dimensions <= 3; dimensions++) {
		struct cuda_ptx *before = NULL;
		char *made = complete(text, dimensions, names, &before);
		struct cuda_ptx *after = parse(made);
		cr_assert_eq(after->entry_count, 3);
		for (uint32_t i = 0; i < 3; i++) {
			const struct cuda_ptx_entry *entry = &after->entries[i];
			cr_assert_str_eq(entry->name, names[i]);
			cr_assert_eq(entry->parameter_count,
				     before->entries[i].parameter_count + 1);
			cr_assert_eq(entry->parameters[entry->parameter_count - 1].size_bytes,
				     CUDA_RECORD_BYTES);
			cr_assert_eq(entry->parameters[entry->parameter_count - 1].align_bytes, 8);
		}
		/* There is one comparison with the range per dimension. */
		cr_assert_eq(occurrences(made, "setp.ge.u64"), 3 * dimensions);
		cr_assert_eq(occurrences(made, "sycl_launch_copy"), 0);
		cr_assert_not_null(strstr(made, "body_a"));
		cr_assert_not_null(strstr(made, "body_c"));
		cuda_ptx_free(after);
		cuda_ptx_free(before);
		free(made);
	}
}

Test(cuda_ptx, functions_that_were_not_inlined_read_a_copy_of_the_record)
{
	static const char text[] =
		HEAD ".func (.param .b64 r) f()\n{\n\t// begin inline asm\n"
		     "\tld.param.b64 %rd1, [sycl_launch+32];\n\tld.param.b32 %r1, [other];\n}\n"
		     ".entry k() { ld.param.b64 %rd1, [sycl_launch+8]; }\n";
	const char *names[] = {"k"};
	struct cuda_ptx *ptx = NULL;
	char *made = complete(text, 1, names, &ptx);

	cr_assert_not_null(strstr(made, "\tld.shared.b64 %rd1, [sycl_launch_copy+32];"));
	cr_assert_not_null(strstr(made, "\tld.param.b32 %r1, [other];"), "other parameters stay");
	cr_assert_not_null(strstr(made, "ld.param.b64 %rd1, [sycl_launch+8]; }"),
			   "a kernel reads its own parameter");
	cr_assert_not_null(strstr(made, ".shared .align 8 .b8 sycl_launch_copy[80];"));
	cr_assert_eq(occurrences(made, "st.shared.b64 [sycl_launch_copy+"), CUDA_RECORD_BYTES / 8);
	cuda_ptx_free(ptx);
	free(made);
}

/* The prelude marks the shape: bit 30, z - 1, y - 1 and x - 1 in 7, 10 and 10 bits. */
static char *marked(unsigned threads, unsigned z, unsigned y, unsigned x)
{
	static char text[512];

	(void)sprintf(text, HEAD ".entry k()\n.maxntid %u, 1, 1\n.minnctapersm %u\n{ ret; }\n",
		      threads, 1u << 30 | (z - 1) << 20 | (y - 1) << 10 | (x - 1));
	return text;
}

Test(cuda_ptx, a_required_group_becomes_a_shape)
{
	const char *names[] = {"k"};
	struct cuda_ptx *ptx = NULL;
	char *made = complete(marked(1024, 64, 2, 8), 3, names, &ptx);

	cr_assert_not_null(strstr(made, ".reqntid 8, 2, 64"));
	cr_assert_null(strstr(made, ".minnctapersm"));
	cr_assert_null(strstr(made, ".maxntid"));
	cr_assert_eq(ptx->entries[0].required[0], 8);
	cr_assert_eq(ptx->entries[0].required[1], 2);
	cr_assert_eq(ptx->entries[0].required[2], 64);
	cuda_ptx_free(ptx);
	free(made);

	/* Too large, too deep, and sizes whose upper bits were lost: the product shows it. */
	static const unsigned wrong[][4] = {
		{2048, 1, 2, 1024}, {128, 128, 1, 1}, {2176, 1, 1, 128}};
	for (int i = 0; i < 3; i++) {
		const char *text = marked(wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3]);
		size_t bytes = 0;
		uint32_t entry = 9;
		made = NULL;
		ptx = parse(text);
		cr_assert_eq(
			cuda_ptx_complete(text, strlen(text), ptx, 1, names, &made, &bytes, &entry),
			-EINVAL);
		cr_assert_eq(entry, 0);
		cr_assert_null(made);
		cuda_ptx_free(ptx);
	}
}

static char *with_waits(const char *text, int compute_major)
{
	struct cuda_ptx *ptx = parse(text);
	char *written = NULL;
	size_t bytes = 0;

	int error = cuda_ptx_wait(text, strlen(text), ptx, compute_major, &written, &bytes);
	ptx = cuda_ptx_free(ptx);
	cr_assert_eq(error, written ? 0 : -EOPNOTSUPP);
	cr_assert(!written || bytes == strlen(written));
	return written;
}

#define KERNELS                                                                                        \
	"// .entry none {\n.visible .entry a(.param .u64 x)\n{ // first\n\t.reg .b64 %r;\n\tret;\n}\n" \
	".func f() { ret; }\n.entry declared();\n.entry b .maxntid 32 { { ret; } }\n"
#define KERNELS_WITH_WAITS                                                                                                   \
	"// .entry none {\n.visible .entry a(.param .u64 x)\n{ griddepcontrol.wait;  // first\n\t.reg .b64 %r;\n\tret;\n}\n" \
	".func f() { ret; }\n.entry declared();\n.entry b .maxntid 32 { griddepcontrol.wait;  { ret; } }\n"

/* At the beginning of each kernel, without a line of its own. The version and target rise to those
 * that the instruction needs, and never fall. */
Test(cuda_ptx, kernels_are_given_a_wait)
{
	static const char *const heads[][2] = {
		{".version 8.1\n.target sm_90a\n.address_size 64\n",
		 ".version 8.1\n.target sm_90a\n.address_size 64\n"},
		{".version 7.8 .target sm_100\n.address_size 64\n",
		 ".version 7.8 .target sm_100\n.address_size 64\n"},
		{"/* .version 9.9 */ .version 7.0\n.target sm_70, debug\n.address_size 64\n",
		 "/* .version 9.9 */ .version 7.8\n.target sm_90, debug\n.address_size 64\n"},
		{".version 6.0\n.target sm_90\n.address_size 64\n",
		 ".version 7.8\n.target sm_90\n.address_size 64\n"},
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		char text[1024], expected[1024];
		(void)snprintf(text, sizeof(text), "%s%s", heads[i][0], KERNELS);
		(void)snprintf(expected, sizeof(expected), "%s%s", heads[i][1], KERNELS_WITH_WAITS);
		char *written = with_waits(text, 9);
		cr_assert_str_eq(written, expected);
		free(written);
	}
}

/* In comments and in other functions the word has no effect. */
Test(cuda_ptx, R5_kernels_that_say_where_they_wait_are_left_alone)
{
	static const char text[] =
		".version 8.1\n.target sm_90\n.address_size 64\n"
		".entry a() { { griddepcontrol.wait; } ret; }\n.entry b() { // griddepcontrol.wait;\nret; }\n"
		".func f() { griddepcontrol.wait; ret; }\n.entry c() { griddepcontrol.waiting; ret; }\n";
	struct cuda_ptx *ptx = parse(text);

	cr_assert_eq(ptx->entry_count, 3);
	cr_expect(ptx->entries[0].waits);
	cr_expect(!ptx->entries[1].waits);
	cr_expect(!ptx->entries[2].waits);
	ptx = cuda_ptx_free(ptx);
	char *written = with_waits(text, 9);
	cr_assert(strstr(written, ".entry a() { { griddepcontrol.wait; } ret; }"), "%s", written);
	cr_assert(strstr(written, ".entry b() { griddepcontrol.wait;  // griddepcontrol.wait;\n"),
		  "%s", written);
	free(written);
}

/* The same words have another meaning there, or the text has more than this parser reads. So the
 * text is unchanged. */
Test(cuda_ptx, texts_that_are_given_no_wait)
{
	static const char *const heads[] = {
		".version 6.0\n.target sm_61\n",          ".version 5.0\n.target sm_70\n",
		".version 8.0\n.target sm_80a\n",         ".version 8\n.target sm_80\n",
		".version 8.0\n.target gpu_80\n",         ".version 8.0\n.target sm_\n",
		".version 8.x\n.target sm_80\n",          ".version 99999999999.0\n.target sm_80\n",
		".version 8.0\n.target sm_99999999999\n",
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		(void)snprintf(text, sizeof(text), "%s.address_size 64\n%s", heads[i], KERNELS);
		cr_assert_null(with_waits(text, 9), "%s", heads[i]);
	}
	(void)snprintf(text, sizeof(text), "%s%s", HEAD, KERNELS);
	cr_assert_null(with_waits(text, 8), "the device has no such instruction");
	cr_assert_null(
		with_waits(HEAD ".entry a() { griddepcontrol.launch_dependents; ret; }\n", 9));
	cr_assert_null(with_waits(HEAD ".func f() { ret; }\n", 9), "there is no kernel");
}

/* The parser must recognise the same comments and strings as a compiler. Otherwise a kernel would
 * be listed that has no wait. */
Test(cuda_ptx, E15_a_header_ends_where_its_words_end)
{
	static const char hidden[] =
		".version 7.8\n.target /*\n.entry evil() { } \"\n*/ sm_90 /* \n */ , debug\n.address_size 64\n"
		".entry evil() { ret; }\n// \"\n";
	static const char one_line[] =
		".version 7.8 .target sm_90 .address_size 64 .entry first() { ret; } .entry second() .pragma \"nounroll\"; "
		"{ ret; }\n";
	char *written = with_waits(hidden, 9);

	cr_assert(strstr(written, "\n.entry evil() { griddepcontrol.wait;  ret; }"), "%s", written);
	cr_assert(strstr(written, "{ } \"\n*/ sm_90"), "%s", written);
	free(written);
	struct cuda_ptx *ptx = parse(one_line);
	cr_assert_eq(ptx->entry_count, 2);
	cr_assert_str_eq(ptx->entries[1].name, "second");
	ptx = cuda_ptx_free(ptx);
	written = with_waits(one_line, 9);
	cr_assert(strstr(written, ".pragma \"nounroll\"; { griddepcontrol.wait;  ret; }"), "%s",
		  written);
	free(written);
}
