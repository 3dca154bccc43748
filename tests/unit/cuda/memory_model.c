/*
 * NVRTC's code for the prelude's orders, scopes and fences. It must have the memory instructions of
 * each row of the three tables in the CUDA backend's specification. The architectures are those
 * that this compiler supports (all of them with SYCLD_LONG), and those before 7.0, which have no
 * `fence`.
 */
#include "../backends/prelude/portable_prelude.h"
#include "cuda/program/compile.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX      2048u
#define EXPECTED_BYTES 160u
#define ORDERS         5u
#define SCOPES         5u
#define TYPES          6u

TestSuite(cuda_memory_model, .timeout = 240);

enum order { RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };
enum scope { WORK_ITEM, SUB_GROUP, WORK_GROUP, DEVICE, SYSTEM };

static const char *const order_names[ORDERS] = {"RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL",
						"SEQ_CST"};
static const char *const scope_names[SCOPES] = {"WORK_ITEM", "SUB_GROUP", "WORK_GROUP", "DEVICE",
						"SYSTEM"};
/* The table of scopes. An atomic that no other work-item observes may be a plain access: the
 * group's scope is the smallest. */
static const char *const ptx_scopes[SCOPES] = {"cta", "cta", "cta", "gpu", "sys"};
/* Before `fence`, the word of the scope was another one. */
static const char *const old_scopes[SCOPES] = {"cta", "cta", "cta", "gl", "sys"};
/* The table of fences. */
static const char *const ptx_fences[ORDERS] = {"", "acq_rel", "acq_rel", "acq_rel", "sc"};
static const char *const type_names[TYPES] = {"int", "uint", "long", "ulong", "float", "double"};

/* One kernel and the memory instructions that it must have. */
struct row {
	char source[256]; /* text for a failure */
	char expected[EXPECTED_BYTES];
};

struct model {
	struct row rows[CASES_MAX];
	size_t count;
	bool has_fence; /* `fence` and accesses with an order: 7.0 and more */
};

__attribute__((format(printf, 2, 3))) static void expect_ptx(struct model *model,
							     const char *format, ...)
{
	va_list list;

	cr_assert_lt(model->count, CASES_MAX);
	va_start(list, format);
	(void)vsnprintf(model->rows[model->count].source, sizeof(model->rows[0].source), format,
			list);
	va_end(list);
}

/* Appends to the text. */
__attribute__((format(printf, 2, 3))) static void instruct(struct model *model, const char *format,
							   ...)
{
	char *text = model->rows[model->count].expected;
	const size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text + used, EXPECTED_BYTES - used, format, list);
	va_end(list);
}

static void instruct_fence(struct model *model, enum order order, enum scope scope)
{
	if (order == RELAXED || scope == WORK_ITEM)
		return;
	if (model->has_fence)
		instruct(model, "fence.%s.%s ", ptx_fences[order], ptx_scopes[scope]);
	else
		instruct(model, "membar.%s ", old_scopes[scope]);
}

/* --------------------------------------- the rows --------------------------------------- */

static void expect_fences(struct model *model)
{
	for (enum order order = 0; order < ORDERS; order++)
		for (enum scope scope = 0; scope < SCOPES; scope++) {
			expect_ptx(model,
				   "sycl_atomic_fence(SYCL_MEMORY_ORDER_%s, SYCL_MEMORY_SCOPE_%s)",
				   order_names[order], scope_names[scope]);
			instruct_fence(model, order, scope);
			model->count++;
		}
	static const struct {
		const char *word;
		enum order order;
	} short_words[] = {{"sycl_fence()", ACQ_REL},
			   {"sycl_fence_acquire()", ACQUIRE},
			   {"sycl_fence_release()", RELEASE}};
	for (size_t i = 0; i < sizeof(short_words) / sizeof(*short_words); i++) {
		expect_ptx(model, "%s", short_words[i].word);
		instruct_fence(model, short_words[i].order, DEVICE);
		model->count++;
	}
}

/* Writes of a group before a barrier are visible in the scope after it. That holds for any reader
 * that reads a later write of one of the group's work-items. */
static void expect_barriers(struct model *model)
{
	expect_ptx(model, "sycl_group_barrier()");
	instruct(model, "bar.sync ");
	model->count++;
	for (enum scope scope = 0; scope < SCOPES; scope++) {
		expect_ptx(model, "sycl_group_barrier_scope(SYCL_MEMORY_SCOPE_%s)",
			   scope_names[scope]);
		instruct_fence(model, scope > WORK_GROUP ? ACQ_REL : RELAXED, scope);
		instruct(model, "bar.sync ");
		instruct_fence(model, scope > WORK_GROUP ? ACQ_REL : RELAXED, scope);
		model->count++;
	}
	for (enum scope scope = WORK_GROUP; scope < SCOPES; scope++) {
		expect_ptx(model, "sycl_sub_group_barrier_scope(SYCL_MEMORY_SCOPE_%s)",
			   scope_names[scope]);
		instruct_fence(model, ACQ_REL, scope);
		instruct(model, "bar.warp.sync ");
		instruct_fence(model, ACQ_REL, scope);
		model->count++;
	}
}

/* Operations that change memory: a relaxed atomic, a releasing fence before it, an acquiring fence
 * behind it. */
static void expect_change(struct model *model, const char *where, unsigned type, const char *word,
			  const char *instruction, bool tries, bool takes_two, enum order order,
			  enum scope scope)
{
	expect_ptx(
		model,
		"sycl_atomic_%s_explicit((%s(%s))p, %sv, SYCL_MEMORY_ORDER_%s, SYCL_MEMORY_SCOPE_%s)",
		word, where, type_names[type], takes_two ? "v, " : "", order_names[order],
		scope_names[scope]);
	if (order != ACQUIRE)
		instruct_fence(model, order, scope);
	if (tries)
		instruct(model, "ld.volatile "); /* a first guess, which the exchange checks */
	instruct(model, "atom.relaxed.%s.%s ", ptx_scopes[scope], instruction);
	if (order != RELEASE)
		instruct_fence(model, order, scope);
	model->count++;
}

static void expect_changes(struct model *model, const char *where, unsigned type, enum order order,
			   enum scope scope)
{
	static const struct {
		const char *word, *instruction;
		bool of_integers;
	} words[] = {
		{"add", "add", false},
		{"sub", "add", false},
		{"min", "min", false},
		{"max", "max", false},
		{"and", "and", true},
		{"or", "or", true},
		{"xor", "xor", true},
		{"exchange", "exch", false},
		{"compare_exchange", "cas", false},
	};
	const bool is_real = type >= 4;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		bool tries = is_real && (i == 2 || i == 3);
		if (!is_real || !words[i].of_integers)
			expect_change(model, where, type, words[i].word,
				      tries ? "cas" : words[i].instruction, tries, i == 8, order,
				      scope);
	}
}

/* The accesses have their own order. An architecture without such instructions has fences. */
static void expect_accesses(struct model *model, const char *where, unsigned type, enum order order,
			    enum scope scope)
{
	const char *name = type_names[type];

	expect_ptx(
		model,
		"r = sycl_atomic_load_explicit((%s(%s))p, SYCL_MEMORY_ORDER_%s, SYCL_MEMORY_SCOPE_%s)",
		where, name, order_names[order], scope_names[scope]);
	if (model->has_fence)
		instruct(model, "ld.%s.%s ", order == RELAXED ? "relaxed" : "acquire",
			 ptx_scopes[scope]);
	else
		instruct(model, "ld.volatile ");
	if (!model->has_fence)
		instruct_fence(model, order, scope);
	model->count++;
	expect_ptx(
		model,
		"sycl_atomic_store_explicit((%s(%s))p, v, SYCL_MEMORY_ORDER_%s, SYCL_MEMORY_SCOPE_%s)",
		where, name, order_names[order], scope_names[scope]);
	if (!model->has_fence)
		instruct_fence(model, order, scope);
	if (model->has_fence)
		instruct(model, "st.%s.%s ", order == RELAXED ? "relaxed" : "release",
			 ptx_scopes[scope]);
	else
		instruct(model, "st.volatile ");
	model->count++;
}

/* The specification does not define sequentially consistent atomics, and no information offers
 * them: no row. */
static void expect_atomics(struct model *model, const char *where, unsigned types)
{
	for (unsigned type = 0; type < types; type++)
		for (enum order order = 0; order <= ACQ_REL; order++)
			for (enum scope scope = 0; scope < SCOPES; scope++) {
				expect_changes(model, where, type, order, scope);
				if (order != ACQ_REL)
					expect_accesses(model, where, type, order, scope);
			}
}

/* The defaults are relaxed, at the device's scope. */
static void expect_defaults(struct model *model)
{
	expect_ptx(model, "sycl_atomic_add((SYCL_GLOBAL(int))p, v)");
	instruct(model, "atom.relaxed.gpu.add ");
	model->count++;
	expect_ptx(model, "sycl_atomic_compare_exchange((SYCL_GLOBAL(int))p, v, v)");
	instruct(model, "atom.relaxed.gpu.cas ");
	model->count++;
	expect_ptx(model, "r = sycl_atomic_load((SYCL_GLOBAL(int))p)");
	instruct(model, model->has_fence ? "ld.relaxed.gpu " : "ld.volatile ");
	model->count++;
	expect_ptx(model, "sycl_atomic_store((SYCL_GLOBAL(int))p, v)");
	instruct(model, model->has_fence ? "st.relaxed.gpu " : "st.volatile ");
	model->count++;
}

/* -------------------------------------- compiling --------------------------------------- */

/* Replaces each `from` in the text by `to`; the caller frees the result. */
static char *memory_model_replace(const char *text, const char *from, const char *to)
{
	char *result = NULL;
	size_t bytes = 0, found = 0;
	FILE *out = open_memstream(&result, &bytes);

	for (const char *next; (next = strstr(text, from)) != NULL;
	     text = next + strlen(from), found++)
		(void)fprintf(out, "%.*s%s", (int)(next - text), text, to);
	(void)fputs(text, out);
	(void)fclose(out);
	cr_assert_gt(found, 0, "the prelude does not say \"%s\"", from);
	return result;
}

/* The result has the type of the memory. Local memory is the kernel's own array. */
static char *write_source(const struct model *model)
{
	char *source = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&source, &bytes);

	for (size_t i = 0; i < model->count; i++) {
		const char *text = model->rows[i].source;
		unsigned type = 0;
		char wanted[16];
		for (unsigned t = 0; t < TYPES; t++) {
			(void)snprintf(wanted, sizeof(wanted), "(%s)", type_names[t]);
			type = strstr(text, wanted) ? t : type;
		}
		(void)fprintf(
			out,
			"SYCL_KERNEL void k%zu_(%s(%s) p, %s v, SYCL_GLOBAL(%s) q)\n{\n\t%s r = v;\n\t%s;\n\t*q = r;\n}\n",
			i, strstr(text, "SYCL_LOCAL") ? "SYCL_LOCAL" : "SYCL_GLOBAL",
			type_names[type], type_names[type], type_names[type], type_names[type],
			text);
	}
	(void)fclose(out);
	return source;
}

static char *compile(const struct cuda_nvrtc *nvrtc, const char *prelude, const char *source)
{
	struct cuda_options options;
	struct cuda_compiled compiled = {0};
	struct backend_fault fault;
	char *log = NULL;

	cr_assert_eq(cuda_options_parse("", true, &options), 0);
	const struct cuda_compile_request request = {.nvrtc = nvrtc,
						     .prelude = prelude,
						     .source = source,
						     .options = &options,
						     .dimensions = 1};
	int error = cuda_compile(&request, &compiled, &log, &fault);
	cr_assert_eq(error, 0, "%d: %s", error, log ? log : "");
	char *ptx = strdup(compiled.ptx);
	cuda_compiled_fini(&compiled);
	cuda_options_fini(&options);
	free(log);
	return ptx;
}

/* --------------------------------------- reading ---------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words != NULL;
}

static bool is_type(const char *word)
{
	return strchr("usbf", word[0]) && word[1] != '\0' &&
	       strspn(word + 1, "0123456789") == strlen(word + 1);
}

/* Prints the instruction in the words of the tables: no memory space, no type, and an atomic with
 * its default order and scope. */
static void put_instruction(char *opcode, char *text)
{
	static const char *const spaces[] = {"global", "shared", NULL};
	static const char *const scopes[] = {"cta", "gpu", "sys", NULL};
	static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
	const char *scope = NULL, *order = NULL;
	char rest[64] = "", *state = NULL;
	const char *name = strtok_r(opcode, ".", &state);
	const bool is_atomic = strcmp(name, "atom") == 0 || strcmp(name, "red") == 0;

	for (const char *part; (part = strtok_r(NULL, ".", &state)) != NULL;) {
		if (is_atomic && is_one_of(part, scopes))
			scope = part;
		else if (is_atomic && is_one_of(part, orders))
			order = part;
		else if (!is_one_of(part, spaces) && !is_type(part))
			(void)snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), ".%s",
				       part);
	}
	const size_t used = strlen(text);
	if (is_atomic)
		(void)snprintf(text + used, 512 - used, "%s.%s.%s%s ", "atom",
			       order ? order : "relaxed", scope ? scope : "gpu", rest);
	else if (strcmp(name, "ld") != 0 || rest[0] != '\0')
		(void)snprintf(text + used, 512 - used, "%s%s ",
			       strcmp(name, "barrier") == 0 ? "bar" : name, rest);
}

/* Collects the memory instructions of the body, without plain loads and stores. */
static void read_body(const char *at, const char *end, char text[512])
{
	static const char *const starts[] = {"fence.", "membar.", "atom.", "red.",
					     "ld.",    "st.",     "bar.",  "barrier."};

	for (text[0] = '\0'; at < end; at = strchr(at, '\n') + 1) {
		char opcode[64] = "";
		while (isspace((unsigned char)*at) && *at != '\n')
			at++;
		(void)sscanf(at, "%63[^ \t\n;]", opcode);
		bool is_plain = strncmp(opcode, "ld.param", 8) == 0 ||
				strncmp(opcode, "st.global", 9) == 0 ||
				strncmp(opcode, "st.shared", 9) == 0;
		for (size_t i = 0; !is_plain && i < sizeof(starts) / sizeof(*starts); i++)
			if (strncmp(opcode, starts[i], strlen(starts[i])) == 0) {
				put_instruction(opcode, text);
				break;
			}
	}
}

static void check_ptx(const struct model *model, const char *ptx, int architecture)
{
	for (size_t i = 0; i < model->count; i++) {
		char name[64], text[512], number[24];
		(void)snprintf(number, sizeof(number), "k%zu_", i);
		(void)snprintf(name, sizeof(name), ".entry _Z%zu%s", strlen(number), number);
		const char *entry = strstr(ptx, name);
		cr_assert_not_null(entry, "no kernel %s", name);
		const char *body = strstr(entry, "\n{");
		cr_assert_not_null(body);
		read_body(body + 2, strstr(body, "\n}"), text);
		cr_expect_str_eq(text, model->rows[i].expected, "%d: %s", architecture,
				 model->rows[i].source);
	}
}

/* The oldest, 9.0 and the newest, and all with SYCLD_LONG: NVRTC takes seconds for each. The
 * prelude's text is the same from 7.0 on, and differs from 9.0 on. */
static bool is_compiled_for(const int *architectures, int count, int i)
{
	int oldest = 0;

	while (oldest < count - 1 && architectures[oldest] < 70)
		oldest++;
	return getenv("SYCLD_LONG") ? i >= oldest
				    : i == oldest || i == count - 1 || architectures[i] == 90;
}

static void compile_and_check(const struct model *model)
{
	int architectures[128], count = 0;
	struct cuda_nvrtc nvrtc;
	struct backend_fault fault;

	cr_assert_eq(cuda_nvrtc_open(SYCLD_NVRTC_LIBRARY, 9, 0, &nvrtc, &fault), 0);
	cr_assert_eq(nvrtc.GetNumSupportedArchs(&count), 0);
	cr_assert(count > 0 && count <= 128);
	cr_assert_eq(nvrtc.GetSupportedArchs(architectures), 0);
	char *source = write_source(model);
	/* Imitates an architecture before 7.0, which this compiler may not support: the macro that
	 * the prelude tests is undefined. */
	char *prelude = model->has_fence ? strdup(portable_prelude_cuda)
					 : memory_model_replace(portable_prelude_cuda,
								"__CUDA_ARCH__ >= 700",
								"__CUDA_ARCH__ >= 70000");
	for (int i = 0; i < (model->has_fence ? count : 1); i++) {
		if (model->has_fence && !is_compiled_for(architectures, count, i))
			continue;
		nvrtc.newest = architectures[i];
		char *ptx = compile(&nvrtc, prelude, source);
		check_ptx(model, ptx, architectures[i]);
		free(ptx);
	}
	free(prelude);
	free(source);
}

static struct model *model_new(bool has_fence)
{
	struct model *model = calloc(1, sizeof(*model));

	cr_assert_not_null(model);
	model->has_fence = has_fence;
	return model;
}

static void check_rows(bool has_fence, void (*put)(struct model *model))
{
	struct model *model = model_new(has_fence);

	put(model);
	compile_and_check(model);
	free(model);
}

static void put_fences(struct model *model)
{
	expect_fences(model);
	expect_barriers(model);
}

static void put_global(struct model *model)
{
	expect_defaults(model);
	expect_atomics(model, "SYCL_GLOBAL", 6);
}

static void put_local(struct model *model)
{
	expect_atomics(model, "SYCL_LOCAL", 1);
}

Test(cuda_memory_model, G9_each_order_and_scope_of_a_fence_is_the_tables_instruction)
{
	check_rows(true, put_fences);
}

Test(cuda_memory_model, G9_where_there_is_no_fence_instruction_it_is_membar)
{
	check_rows(false, put_fences);
}

Test(cuda_memory_model, G7_G8_each_order_and_scope_of_an_atomic_is_the_tables_instruction)
{
	check_rows(true, put_global);
}

Test(cuda_memory_model, G8_scopes_of_atomics_before_7_0_are_the_tables)
{
	check_rows(false, put_global);
}

/* A wider scope contains the group's: the same instructions order local memory. */
Test(cuda_memory_model, G11_atomics_of_a_wider_scope_on_local_memory_are_the_groups_at_least)
{
	check_rows(true, put_local);
}
