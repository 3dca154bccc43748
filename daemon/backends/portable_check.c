#include "portable_check.h"

#include "portable_order.h"
#include "portable_tokens.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An index inside of so many others is not checked. */
#define DEPTH_MAX 32u
#define NAMES_MAX 256u

/* prelude/portable_races.inc has the same. */
enum {
	READS = PORTABLE_CHECK_READS,
	WRITES = PORTABLE_CHECK_WRITES,
	ADDRESS = PORTABLE_CHECK_ADDRESS,
	ATOMIC = PORTABLE_CHECK_ATOMIC,
	RACES = PORTABLE_CHECK_RACES
};

#define NAME_BYTES (3 * sizeof(uint64_t)) /* of a name that is reported */

/* A pointer that a kernel can index. */
struct pointer {
	const struct portable_token *name;
	uint32_t argument;
	/* It may point into the range of any argument: the kernel changes it, or has made it. */
	bool moves;
	bool is_hidden; /* another variable has its name */
	bool is_local;  /* to memory of the work-group */
	bool is_array;  /* such memory, declared by the kernel */
};

struct kernel {
	uint32_t open, close;           /* the parentheses of its parameters */
	uint32_t body_open, body_close; /* its braces */
	uint32_t argument_count;
	struct pointer pointers[NAMES_MAX];
	uint32_t pointer_count;
	bool finds_races;
};

struct rewriter {
	struct portable_tokens tokens;
	FILE *out;
	const char *copied; /* the source is copied up to here */
	struct kernel kernel;
	uint32_t kernels;
	/* Something outside of the kernels orders accesses: no barrier can be counted. */
	bool has_order;
};

static bool rewriter_token_is(const struct rewriter *rewriter, size_t index, const char *text)
{
	return portable_token_is(&rewriter->tokens, index, text);
}

static bool rewriter_is_name(const struct rewriter *rewriter, size_t index)
{
	return index < rewriter->tokens.count && rewriter->tokens.list[index].kind == PORTABLE_NAME;
}

static bool same_text(const struct portable_token *a, const struct portable_token *b)
{
	return a->bytes == b->bytes && memcmp(a->at, b->at, a->bytes) == 0;
}

/* Copies the source up to this place. */
static void rewriter_copy_to(struct rewriter *rewriter, const char *place)
{
	(void)fwrite(rewriter->copied, 1, (size_t)(place - rewriter->copied), rewriter->out);
	rewriter->copied = place;
}

static struct pointer *find_pointer(struct rewriter *rewriter, size_t index)
{
	struct kernel *kernel = &rewriter->kernel;

	if (!rewriter_is_name(rewriter, index) ||
	    (index > 0 && (rewriter_token_is(rewriter, index - 1, ".") ||
			   (rewriter_token_is(rewriter, index - 1, ">") &&
			    rewriter_token_is(rewriter, index - 2, "-")))))
		return NULL;
	for (uint32_t i = 0; i < kernel->pointer_count; i++)
		if (same_text(kernel->pointers[i].name, &rewriter->tokens.list[index]))
			return &kernel->pointers[i];
	return NULL;
}

static void add_pointer(struct kernel *kernel, const struct pointer *pointer)
{
	if (kernel->pointer_count < NAMES_MAX)
		kernel->pointers[kernel->pointer_count++] = *pointer;
}

/* SYCL_GLOBAL(type), SYCL_LOCAL(type) or, with `constant`, SYCL_CONSTANT(type) and words like
 * restrict: returns the index of the name behind them; 0: something else. */
static uint32_t pointer_name(const struct rewriter *rewriter, uint32_t at, bool constant)
{
	if (!rewriter_token_is(rewriter, at, "SYCL_GLOBAL") &&
	    !rewriter_token_is(rewriter, at, "SYCL_LOCAL") &&
	    !(constant && rewriter_token_is(rewriter, at, "SYCL_CONSTANT")))
		return 0;
	if (!rewriter_token_is(rewriter, at + 1, "("))
		return 0;
	at = rewriter->tokens.list[at + 1].match + 1;
	while (rewriter_token_is(rewriter, at, "restrict") ||
	       rewriter_token_is(rewriter, at, "const") ||
	       rewriter_token_is(rewriter, at, "__restrict__"))
		at++;
	return rewriter_is_name(rewriter, at) ? at : 0;
}

/* SYCL_LOCAL_ARRAY(type, name, count): the index of the name; 0: something else, as an array of
 * arrays. */
static uint32_t array_name(const struct rewriter *rewriter, uint32_t at)
{
	if (!rewriter_token_is(rewriter, at, "SYCL_LOCAL_ARRAY") ||
	    !rewriter_token_is(rewriter, at + 1, "("))
		return 0;
	const uint32_t close = rewriter->tokens.list[at + 1].match;
	for (at += 2; at < close; at++)
		if (rewriter_token_is(rewriter, at, ","))
			return rewriter_is_name(rewriter, at + 1) &&
					       rewriter_token_is(rewriter, at + 2, ",")
				       ? at + 1
				       : 0;
	return 0;
}

/* Reads the parameters between the parentheses. False: there are none. */
static bool read_parameters(struct rewriter *rewriter)
{
	struct kernel *kernel = &rewriter->kernel;
	const struct portable_token *list = rewriter->tokens.list;
	uint32_t argument = 0;
	bool begins = true;

	if (kernel->open + 1 == kernel->close ||
	    (kernel->open + 2 == kernel->close &&
	     rewriter_token_is(rewriter, kernel->open + 1, "void")))
		return false;
	for (uint32_t i = kernel->open + 1; i < kernel->close; i++) {
		uint32_t name = begins ? pointer_name(rewriter, i, true) : 0;
		if (name && argument < PORTABLE_CHECK_ARGUMENTS)
			add_pointer(kernel, &(struct pointer){.name = &list[name],
							      .argument = argument,
							      .is_local = rewriter_token_is(
								      rewriter, i, "SYCL_LOCAL")});
		begins = rewriter_token_is(rewriter, i, ",");
		argument += begins;
		if (list[i].match != PORTABLE_NO_MATCH && list[i].match > i)
			i = list[i].match;
	}
	kernel->argument_count = argument + 1;
	return true;
}

/* Finds the parts of the kernel whose SYCL_KERNEL is `at`. False: it is no definition. The search
 * for the next kernel begins behind *end_out, so no part of a source is searched twice. */
static bool find_kernel(struct rewriter *rewriter, uint32_t at, uint32_t *end_out)
{
	struct kernel *kernel = &rewriter->kernel;
	const struct portable_tokens *tokens = &rewriter->tokens;

	for (at++; at < tokens->count && !rewriter_token_is(rewriter, at, "{") &&
		   !rewriter_token_is(rewriter, at, ";");
	     at++) {
		if (!rewriter_token_is(rewriter, at, "("))
			continue;
		const uint32_t close = tokens->list[at].match;
		if (rewriter_token_is(rewriter, close + 1, "{") &&
		    rewriter_is_name(rewriter, at - 1)) {
			*kernel = (struct kernel){.open = at,
						  .close = close,
						  .body_open = close + 1,
						  .body_close = tokens->list[close + 1].match};
			*end_out = kernel->body_close;
			return true;
		}
		at = close;
	}
	*end_out = at;
	return false;
}

/* Two marks in a row without a space between, such as "+=". */
static bool rewriter_is_mark_pair(const struct rewriter *rewriter, size_t index, char first,
				  char second)
{
	const struct portable_token *token = &rewriter->tokens.list[index];

	return index + 1 < rewriter->tokens.count && token->kind == PORTABLE_MARK &&
	       *token->at == first && token[1].at == token->at + 1 && *token[1].at == second;
}

static bool rewriter_is_step(const struct rewriter *rewriter, size_t index)
{
	return rewriter_is_mark_pair(rewriter, index, '+', '+') ||
	       rewriter_is_mark_pair(rewriter, index, '-', '-');
}

/* READS and WRITES of an assignment that begins at this token; 0: none does. */
static unsigned assignment_access(const struct rewriter *rewriter, size_t index)
{
	static const char operators[] = "+-*/%&|^";
	const struct portable_token *token = &rewriter->tokens.list[index];

	if (index >= rewriter->tokens.count || token->kind != PORTABLE_MARK)
		return 0;
	if (*token->at == '=')
		return rewriter_is_mark_pair(rewriter, index, '=', '=') ? 0 : WRITES;
	if (rewriter_is_step(rewriter, index))
		return READS | WRITES;
	if (*token->at && strchr(operators, *token->at))
		return rewriter_is_mark_pair(rewriter, index, *token->at, '=') ? READS | WRITES : 0;
	if ((rewriter_is_mark_pair(rewriter, index, '<', '<') ||
	     rewriter_is_mark_pair(rewriter, index, '>', '>')) &&
	    rewriter_is_mark_pair(rewriter, index + 1, *token->at, '='))
		return READS | WRITES;
	return 0;
}

/* True if the '&' at this token takes an address. */
static bool takes_address(const struct rewriter *rewriter, size_t index)
{
	if (!rewriter_token_is(rewriter, index, "&") ||
	    rewriter_is_mark_pair(rewriter, index - 1, '&', '&'))
		return false;
	const struct portable_token *before = &rewriter->tokens.list[index - 1];
	return rewriter_token_is(rewriter, index - 1, "return") ||
	       (before->kind == PORTABLE_MARK && *before->at != ')' && *before->at != ']');
}

/* True if the name at this token is declared there, as another variable. */
static bool name_is_declared_here(const struct rewriter *rewriter, size_t index)
{
	static const char *const no_types[] = {"return", "else", "case", "do", "sizeof", "goto"};

	for (size_t i = 0; i < sizeof(no_types) / sizeof(*no_types); i++)
		if (rewriter_token_is(rewriter, index - 1, no_types[i]))
			return false;
	if (rewriter_token_is(rewriter, index - 1, ")")) {
		const uint32_t open = rewriter->tokens.list[index - 1].match;
		return rewriter_token_is(rewriter, open - 1, "SYCL_GLOBAL") ||
		       rewriter_token_is(rewriter, open - 1, "SYCL_LOCAL") ||
		       rewriter_token_is(rewriter, open - 1, "SYCL_CONSTANT");
	}
	return rewriter_is_name(rewriter, index - 1);
}

/* Notes a pointer or an array that the body declares at this token. Returns the index of its name;
 * 0: none is declared. */
static uint32_t read_declaration(struct rewriter *rewriter, uint32_t at)
{
	const uint32_t array = array_name(rewriter, at);
	const uint32_t made = array ? array : pointer_name(rewriter, at, false);
	struct pointer *pointer = made ? find_pointer(rewriter, made) : NULL;
	const bool is_local = array || rewriter_token_is(rewriter, at, "SYCL_LOCAL");

	if (made && !pointer)
		add_pointer(&rewriter->kernel,
			    &(struct pointer){.name = &rewriter->tokens.list[made],
					      .moves = !array,
					      .is_local = is_local,
					      .is_array = array != 0});
	else if (pointer && (!pointer->moves || pointer->is_local != is_local))
		pointer->is_hidden = true;
	return made;
}

/* Notes what the kernel's body does to the pointers themselves, and to the order of accesses. */
static void read_body(struct rewriter *rewriter)
{
	struct kernel *kernel = &rewriter->kernel;

	kernel->finds_races = !rewriter->has_order;
	for (uint32_t i = kernel->body_open + 1; i < kernel->body_close; i++) {
		const uint32_t made = read_declaration(rewriter, i);
		const enum portable_order order = portable_order_of(&rewriter->tokens.list[i]);
		/* Without parentheses behind it a macro gets the word, and may call it. */
		if (order == PORTABLE_ORDER_OTHER ||
		    (order != PORTABLE_ORDER_NONE && !rewriter_token_is(rewriter, i + 1, "(")))
			kernel->finds_races = false;
		if (made) {
			i = made;
			continue;
		}
		struct pointer *pointer = find_pointer(rewriter, i);
		if (!pointer)
			continue;
		if (name_is_declared_here(rewriter, i))
			pointer->is_hidden = true;
		else if (rewriter_token_is(rewriter, i + 1, "["))
			continue;
		else if (assignment_access(rewriter, i + 1) || takes_address(rewriter, i - 1) ||
			 rewriter_is_step(rewriter, i - 2))
			pointer->moves = true;
	}
}

/* How `name[...]` is accessed; `close` is the index of the bracket at its end. */
static unsigned pointer_access(const struct rewriter *rewriter, uint32_t name, uint32_t close)
{
	uint32_t next = close + 1;
	/* Two work-items may write two members of one element. */
	const bool is_whole =
		!rewriter_token_is(rewriter, next, ".") && !rewriter_token_is(rewriter, next, "[");
	const unsigned races = is_whole && rewriter->kernel.finds_races ? RACES : 0;

	if (takes_address(rewriter, name - 1)) {
		const struct portable_token *function = &rewriter->tokens.list[name - 3];
		bool is_atomic = rewriter_token_is(rewriter, name - 2, "(") &&
				 rewriter_is_name(rewriter, name - 3) && function->bytes > 12 &&
				 memcmp(function->at, "sycl_atomic_", 12) == 0;
		return is_atomic ? READS | WRITES | ATOMIC | races : ADDRESS;
	}
	if (rewriter_is_step(rewriter, name - 2))
		return READS | WRITES | races;
	/* Members and elements of the element. */
	for (;;) {
		if (rewriter_token_is(rewriter, next, ".") && rewriter_is_name(rewriter, next + 1))
			next += 2;
		else if (rewriter_token_is(rewriter, next, "["))
			next = rewriter->tokens.list[next].match + 1;
		else
			break;
	}
	const unsigned how = assignment_access(rewriter, next);
	return (how ? how : READS) | races;
}

static void check_put_name(struct rewriter *rewriter, const struct portable_token *name)
{
	(void)fwrite(name->at, 1, name->bytes, rewriter->out);
}

static void begin_check(struct rewriter *rewriter, const struct pointer *pointer)
{
	if (pointer->is_local)
		(void)fputs("sycl_check_local_(&sycl_check_own_, (long)(", rewriter->out);
	else if (pointer->moves)
		(void)fprintf(rewriter->out,
			      "sycl_check_near_(&sycl_check_own_, sycl_check_places_, %uu, (long)(",
			      rewriter->kernel.argument_count);
	else
		(void)fprintf(rewriter->out, "sycl_check_at_(&sycl_check_own_, %uu, (long)(",
			      pointer->argument);
}

/* The bytes of local memory behind a pointer; 0: they are not known. */
static void put_local_size(struct rewriter *rewriter, const struct pointer *pointer)
{
	if (pointer->is_array) {
		(void)fputs("sizeof(", rewriter->out);
		check_put_name(rewriter, pointer->name);
		(void)fputs(")", rewriter->out);
	} else if (pointer->moves) {
		(void)fputs("0ul", rewriter->out);
	} else {
		(void)fprintf(rewriter->out, "SYCL_CHECK_SIZE_(%uu)", pointer->argument);
	}
}

static void end_check(struct rewriter *rewriter, const struct pointer *pointer, unsigned how)
{
	uint64_t name[NAME_BYTES / sizeof(uint64_t)] = {0};

	(void)fputs("), sizeof(*", rewriter->out);
	check_put_name(rewriter, pointer->name);
	(void)fputs("), SYCL_CHECK_PLACE_(", rewriter->out);
	check_put_name(rewriter, pointer->name);
	(void)fputs("), ", rewriter->out);
	if (pointer->is_local) {
		put_local_size(rewriter, pointer);
		(void)fputs(", ", rewriter->out);
	}
	(void)fprintf(rewriter->out, "__LINE__, %uu", how);
	if (pointer->is_local) {
		const size_t bytes = pointer->name->bytes;
		memcpy(name, pointer->name->at, bytes < NAME_BYTES ? bytes : NAME_BYTES);
		for (size_t i = 0; i < NAME_BYTES / sizeof(uint64_t); i++)
			(void)fprintf(rewriter->out, ", 0x%" PRIx64 "ul", name[i]);
	}
	(void)fputs(")", rewriter->out);
}

static void rewrite_accesses(struct rewriter *rewriter, uint32_t first, uint32_t end,
			     unsigned depth);

/* A word with a barrier: the barrier is counted. Its last argument is what is accessed before.
 * Returns the index of the token at its end. */
static uint32_t rewrite_order(struct rewriter *rewriter, uint32_t at, enum portable_order order,
			      unsigned depth)
{
	const struct portable_token *list = rewriter->tokens.list;
	const uint32_t close = list[at + 1].match;
	uint32_t last = at + 1;

	if (order == PORTABLE_ORDER_BARRIER) {
		rewriter_copy_to(rewriter, list[at].at);
		(void)fputs("sycl_check_", rewriter->out);
		return at;
	}
	for (uint32_t i = at + 2; i < close; i++) {
		if (rewriter_token_is(rewriter, i, ","))
			last = i;
		if (list[i].match != PORTABLE_NO_MATCH && list[i].match > i)
			i = list[i].match;
	}
	rewrite_accesses(rewriter, at + 2, last, depth + 1);
	rewriter_copy_to(rewriter, list[last].at + 1);
	(void)fputs(order == PORTABLE_ORDER_TEST ? "sycl_check_passed_((" : "sycl_check_passed_(",
		    rewriter->out);
	rewrite_accesses(rewriter, last + 1, close, depth + 1);
	rewriter_copy_to(rewriter, list[close].at);
	(void)fputs(order == PORTABLE_ORDER_TEST ? ") != 0, &sycl_check_own_)"
						 : ", &sycl_check_own_)",
		    rewriter->out);
	return close;
}

/* Copies the tokens from `first` to before `end`, with a check around each index. */
static void rewrite_accesses(struct rewriter *rewriter, uint32_t first, uint32_t end,
			     unsigned depth)
{
	const struct portable_token *list = rewriter->tokens.list;

	for (uint32_t i = first; i < end && depth < DEPTH_MAX; i++) {
		const enum portable_order order = portable_order_of(&list[i]);
		if (order != PORTABLE_ORDER_NONE && rewriter->kernel.finds_races &&
		    rewriter_token_is(rewriter, i + 1, "(")) {
			i = rewrite_order(rewriter, i, order, depth);
			continue;
		}
		const struct pointer *pointer = find_pointer(rewriter, i);
		if (!pointer || pointer->is_hidden || !rewriter_token_is(rewriter, i + 1, "["))
			continue;
		const uint32_t close = list[i + 1].match;
		rewriter_copy_to(rewriter, list[i + 1].at + 1);
		begin_check(rewriter, pointer);
		rewrite_accesses(rewriter, i + 2, close, depth + 1);
		rewriter_copy_to(rewriter, list[close].at);
		end_check(rewriter, pointer, pointer_access(rewriter, i, close));
		i = close;
	}
}

/* The beginnings of all ranges, for pointers that move. */
static void check_put_places(struct rewriter *rewriter)
{
	const struct kernel *kernel = &rewriter->kernel;
	bool moves = false;

	for (uint32_t i = 0; i < kernel->pointer_count; i++)
		moves |= kernel->pointers[i].moves && !kernel->pointers[i].is_local;
	if (!moves)
		return;
	(void)fputs(" const ulong sycl_check_places_[] = {", rewriter->out);
	for (uint32_t argument = 0, i = 0; argument < kernel->argument_count; argument++) {
		/* Parameters come first, in their order. */
		const struct pointer *pointer = &kernel->pointers[i];
		const bool is_here = i < kernel->pointer_count && pointer->argument == argument &&
				     pointer->name->at < rewriter->tokens.list[kernel->close].at;
		i += is_here;
		if (is_here && !pointer->is_local) {
			(void)fputs("(ulong)", rewriter->out);
			check_put_name(rewriter, pointer->name);
			(void)fputs(", ", rewriter->out);
		} else {
			(void)fputs("0, ", rewriter->out);
		}
	}
	(void)fputs("};", rewriter->out);
}

static void rewrite_kernel(struct rewriter *rewriter)
{
	const struct kernel *kernel = &rewriter->kernel;
	const struct portable_token *list = rewriter->tokens.list;

	read_body(rewriter);
	rewriter_copy_to(rewriter, list[kernel->close].at);
	(void)fputs(", SYCL_GLOBAL(ulong) " PORTABLE_CHECK_PARAMETER, rewriter->out);
	rewriter_copy_to(rewriter, list[kernel->body_open].at + 1);
	(void)fputs(
		" struct sycl_check_here_ sycl_check_own_ = sycl_check_begin_(" PORTABLE_CHECK_PARAMETER
		");",
		rewriter->out);
	check_put_places(rewriter);
	rewrite_accesses(rewriter, kernel->body_open + 1, kernel->body_close, 0);
	rewriter->kernels++;
}

/* Looks for order outside of the kernels: in functions and macros, which kernels may use. */
static void read_order(struct rewriter *rewriter)
{
	for (uint32_t i = 0; i < rewriter->tokens.count; i++) {
		if (rewriter_token_is(rewriter, i, "SYCL_KERNEL") && find_kernel(rewriter, i, &i))
			continue;
		if (i < rewriter->tokens.count &&
		    portable_order_of(&rewriter->tokens.list[i]) != PORTABLE_ORDER_NONE)
			rewriter->has_order = true;
	}
}

static void rewrite_source(struct rewriter *rewriter, const char *end)
{
	read_order(rewriter);
	for (uint32_t i = 0; i < rewriter->tokens.count; i++) {
		if (rewriter_token_is(rewriter, i, "SYCL_KERNEL") && find_kernel(rewriter, i, &i) &&
		    read_parameters(rewriter) && rewriter->kernel.pointer_count > 0)
			rewrite_kernel(rewriter);
	}
	rewriter_copy_to(rewriter, end);
}

void portable_check_parameters(const char *source, size_t bytes,
			       void (*each)(void *context,
					    const struct portable_check_parameter *parameter),
			       void *context)
{
	struct rewriter *rewriter = calloc(1, sizeof(*rewriter));

	if (!rewriter || portable_tokens_read(source, bytes, &rewriter->tokens) != 0) {
		free(rewriter);
		return;
	}
	for (uint32_t i = 0; i < rewriter->tokens.count; i++) {
		if (!rewriter_token_is(rewriter, i, "SYCL_KERNEL") ||
		    !find_kernel(rewriter, i, &i) || !read_parameters(rewriter))
			continue;
		const struct kernel *kernel = &rewriter->kernel;
		const struct portable_token *name = &rewriter->tokens.list[kernel->open - 1];
		for (uint32_t p = 0; p < kernel->pointer_count; p++) {
			const struct portable_check_parameter parameter = {
				.kernel = name->at,
				.name = kernel->pointers[p].name->at,
				.kernel_bytes = name->bytes,
				.name_bytes = kernel->pointers[p].name->bytes,
				.argument = kernel->pointers[p].argument};
			each(context, &parameter);
		}
	}
	portable_tokens_fini(&rewriter->tokens);
	free(rewriter);
}

char *portable_check_rewrite(const char *source, size_t bytes, const char *options,
			     size_t *bytes_out)
{
	struct rewriter *rewriter = calloc(1, sizeof(*rewriter));
	char *text = NULL;
	size_t count = 0;

	if (rewriter && portable_tokens_read(source, bytes, &rewriter->tokens) == 0) {
		rewriter->copied = source;
		rewriter->has_order = options && portable_order_is_in(options);
		rewriter->out = open_memstream(&text, &count);
		if (rewriter->out)
			rewrite_source(rewriter, source + bytes);
		if (rewriter->out && (fclose(rewriter->out) != 0 || rewriter->kernels == 0)) {
			free(text);
			text = NULL;
		}
		portable_tokens_fini(&rewriter->tokens);
	}
	free(rewriter);
	if (text)
		*bytes_out = count;
	return text;
}
