#include "portable_check.h"

#include "portable_tokens.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An index inside of so many others is not checked. */
#define DEPTH_MAX 32u
#define NAMES_MAX 256u

/* How an element is accessed; portable_check.inc has the same. */
enum { READS = 1, WRITES = 2, ADDRESS = 4 };

/* A pointer that a kernel can index. */
struct pointer {
	const struct portable_token *name;
	uint32_t argument;
	/* It may point into the range of any argument: the kernel changes it, or has made it. */
	bool moves;
	bool is_hidden; /* another variable has its name */
};

struct kernel {
	uint32_t open, close;           /* the parentheses of its parameters */
	uint32_t body_open, body_close; /* its braces */
	uint32_t argument_count;
	struct pointer pointers[NAMES_MAX];
	uint32_t pointer_count;
};

struct rewriter {
	struct portable_tokens tokens;
	FILE *out;
	const char *copied; /* the source is copied up to here */
	struct kernel kernel;
	uint32_t kernels;
};

static bool is(const struct rewriter *rewriter, size_t index, const char *text)
{
	return portable_token_is(&rewriter->tokens, index, text);
}

static bool is_name(const struct rewriter *rewriter, size_t index)
{
	return index < rewriter->tokens.count && rewriter->tokens.list[index].kind == PORTABLE_NAME;
}

static bool same_text(const struct portable_token *a, const struct portable_token *b)
{
	return a->bytes == b->bytes && memcmp(a->at, b->at, a->bytes) == 0;
}

/* Copies the source up to this place. */
static void copy_to(struct rewriter *rewriter, const char *place)
{
	(void)fwrite(rewriter->copied, 1, (size_t)(place - rewriter->copied), rewriter->out);
	rewriter->copied = place;
}

static struct pointer *find_pointer(struct rewriter *rewriter, size_t index)
{
	struct kernel *kernel = &rewriter->kernel;

	if (!is_name(rewriter, index) ||
	    (index > 0 && (is(rewriter, index - 1, ".") ||
			   (is(rewriter, index - 1, ">") && is(rewriter, index - 2, "-")))))
		return NULL;
	for (uint32_t i = 0; i < kernel->pointer_count; i++)
		if (same_text(kernel->pointers[i].name, &rewriter->tokens.list[index]))
			return &kernel->pointers[i];
	return NULL;
}

static void add_pointer(struct kernel *kernel, const struct portable_token *name, uint32_t argument,
			bool moves)
{
	if (kernel->pointer_count < NAMES_MAX)
		kernel->pointers[kernel->pointer_count++] =
			(struct pointer){.name = name, .argument = argument, .moves = moves};
}

/* SYCL_GLOBAL(type) or, with `constant`, SYCL_CONSTANT(type) and words like restrict: returns the
 * index of the name behind them; 0: something else. */
static uint32_t pointer_name(const struct rewriter *rewriter, uint32_t at, bool constant)
{
	if (!is(rewriter, at, "SYCL_GLOBAL") && !(constant && is(rewriter, at, "SYCL_CONSTANT")))
		return 0;
	if (!is(rewriter, at + 1, "("))
		return 0;
	at = rewriter->tokens.list[at + 1].match + 1;
	while (is(rewriter, at, "restrict") || is(rewriter, at, "const") ||
	       is(rewriter, at, "__restrict__"))
		at++;
	return is_name(rewriter, at) ? at : 0;
}

/* Reads the parameters between the parentheses. False: there are none. */
static bool read_parameters(struct rewriter *rewriter)
{
	struct kernel *kernel = &rewriter->kernel;
	const struct portable_token *list = rewriter->tokens.list;
	uint32_t argument = 0;
	bool begins = true;

	if (kernel->open + 1 == kernel->close ||
	    (kernel->open + 2 == kernel->close && is(rewriter, kernel->open + 1, "void")))
		return false;
	for (uint32_t i = kernel->open + 1; i < kernel->close; i++) {
		uint32_t name = begins ? pointer_name(rewriter, i, true) : 0;
		if (name && argument < PORTABLE_CHECK_ARGUMENTS)
			add_pointer(kernel, &list[name], argument, false);
		begins = is(rewriter, i, ",");
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

	for (at++; at < tokens->count && !is(rewriter, at, "{") && !is(rewriter, at, ";"); at++) {
		if (!is(rewriter, at, "("))
			continue;
		const uint32_t close = tokens->list[at].match;
		if (is(rewriter, close + 1, "{") && is_name(rewriter, at - 1)) {
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
static bool is_pair(const struct rewriter *rewriter, size_t index, char first, char second)
{
	const struct portable_token *token = &rewriter->tokens.list[index];

	return index + 1 < rewriter->tokens.count && token->kind == PORTABLE_MARK &&
	       *token->at == first && token[1].at == token->at + 1 && *token[1].at == second;
}

static bool is_step(const struct rewriter *rewriter, size_t index)
{
	return is_pair(rewriter, index, '+', '+') || is_pair(rewriter, index, '-', '-');
}

/* READS and WRITES of an assignment that begins at this token; 0: none does. */
static unsigned assignment(const struct rewriter *rewriter, size_t index)
{
	static const char operators[] = "+-*/%&|^";
	const struct portable_token *token = &rewriter->tokens.list[index];

	if (index >= rewriter->tokens.count || token->kind != PORTABLE_MARK)
		return 0;
	if (*token->at == '=')
		return is_pair(rewriter, index, '=', '=') ? 0 : WRITES;
	if (is_step(rewriter, index))
		return READS | WRITES;
	if (*token->at && strchr(operators, *token->at))
		return is_pair(rewriter, index, *token->at, '=') ? READS | WRITES : 0;
	if ((is_pair(rewriter, index, '<', '<') || is_pair(rewriter, index, '>', '>')) &&
	    is_pair(rewriter, index + 1, *token->at, '='))
		return READS | WRITES;
	return 0;
}

/* True if the '&' at this token takes an address. */
static bool takes_address(const struct rewriter *rewriter, size_t index)
{
	if (!is(rewriter, index, "&") || is_pair(rewriter, index - 1, '&', '&'))
		return false;
	const struct portable_token *before = &rewriter->tokens.list[index - 1];
	return is(rewriter, index - 1, "return") ||
	       (before->kind == PORTABLE_MARK && *before->at != ')' && *before->at != ']');
}

/* True if the name at this token is declared there, as another variable. */
static bool is_declared(const struct rewriter *rewriter, size_t index)
{
	static const char *const no_types[] = {"return", "else", "case", "do", "sizeof", "goto"};

	for (size_t i = 0; i < sizeof(no_types) / sizeof(*no_types); i++)
		if (is(rewriter, index - 1, no_types[i]))
			return false;
	if (is(rewriter, index - 1, ")")) {
		const uint32_t open = rewriter->tokens.list[index - 1].match;
		return is(rewriter, open - 1, "SYCL_GLOBAL") ||
		       is(rewriter, open - 1, "SYCL_LOCAL") ||
		       is(rewriter, open - 1, "SYCL_CONSTANT");
	}
	return is_name(rewriter, index - 1);
}

/* Notes what the kernel's body does to the pointers themselves. */
static void read_body(struct rewriter *rewriter)
{
	struct kernel *kernel = &rewriter->kernel;

	for (uint32_t i = kernel->body_open + 1; i < kernel->body_close; i++) {
		const uint32_t made = pointer_name(rewriter, i, false);
		struct pointer *pointer = find_pointer(rewriter, made ? made : i);
		if (made && !pointer)
			add_pointer(kernel, &rewriter->tokens.list[made], 0, true);
		else if (made && !pointer->moves)
			pointer->is_hidden = true;
		if (made)
			i = made;
		if (!pointer || made || is(rewriter, i + 1, "["))
			pointer = made ? NULL : pointer;
		if (!pointer)
			continue;
		if (is_declared(rewriter, i))
			pointer->is_hidden = true;
		else if (!is(rewriter, i + 1, "[") &&
			 (assignment(rewriter, i + 1) || takes_address(rewriter, i - 1) ||
			  is_step(rewriter, i - 2)))
			pointer->moves = true;
	}
}

/* How `name[...]` is accessed; `close` is the index of the bracket at its end. */
static unsigned access_of(const struct rewriter *rewriter, uint32_t name, uint32_t close)
{
	uint32_t next = close + 1;

	if (takes_address(rewriter, name - 1)) {
		const struct portable_token *function = &rewriter->tokens.list[name - 3];
		bool is_atomic = is(rewriter, name - 2, "(") && is_name(rewriter, name - 3) &&
				 function->bytes > 12 &&
				 memcmp(function->at, "sycl_atomic_", 12) == 0;
		return is_atomic ? READS | WRITES : ADDRESS;
	}
	if (is_step(rewriter, name - 2))
		return READS | WRITES;
	/* Members and elements of the element. */
	for (;;) {
		if (is(rewriter, next, ".") && is_name(rewriter, next + 1))
			next += 2;
		else if (is(rewriter, next, "["))
			next = rewriter->tokens.list[next].match + 1;
		else
			break;
	}
	const unsigned how = assignment(rewriter, next);
	return how ? how : READS;
}

static void put_name(struct rewriter *rewriter, const struct portable_token *name)
{
	(void)fwrite(name->at, 1, name->bytes, rewriter->out);
}

static void begin_check(struct rewriter *rewriter, const struct pointer *pointer)
{
	if (pointer->moves)
		(void)fprintf(rewriter->out,
			      "sycl_check_near_(" PORTABLE_CHECK_PARAMETER
			      ", sycl_check_places_, %uu, (long)(",
			      rewriter->kernel.argument_count);
	else
		(void)fprintf(rewriter->out,
			      "sycl_check_at_(" PORTABLE_CHECK_PARAMETER ", %uu, (long)(",
			      pointer->argument);
}

static void end_check(struct rewriter *rewriter, const struct pointer *pointer, unsigned how)
{
	(void)fputs("), sizeof(*", rewriter->out);
	put_name(rewriter, pointer->name);
	(void)fputs("), (ulong)", rewriter->out);
	put_name(rewriter, pointer->name);
	(void)fprintf(rewriter->out, ", __LINE__, %uu)", how);
}

/* Copies the tokens from `first` to before `end`, with a check around each index. */
static void rewrite_accesses(struct rewriter *rewriter, uint32_t first, uint32_t end,
			     unsigned depth)
{
	const struct portable_token *list = rewriter->tokens.list;

	for (uint32_t i = first; i < end; i++) {
		const struct pointer *pointer = find_pointer(rewriter, i);
		if (!pointer || pointer->is_hidden || !is(rewriter, i + 1, "[") ||
		    depth == DEPTH_MAX)
			continue;
		const uint32_t close = list[i + 1].match;
		copy_to(rewriter, list[i + 1].at + 1);
		begin_check(rewriter, pointer);
		rewrite_accesses(rewriter, i + 2, close, depth + 1);
		copy_to(rewriter, list[close].at);
		end_check(rewriter, pointer, access_of(rewriter, i, close));
		i = close;
	}
}

/* The beginnings of all ranges, for pointers that move. */
static void put_places(struct rewriter *rewriter)
{
	const struct kernel *kernel = &rewriter->kernel;
	bool moves = false;

	for (uint32_t i = 0; i < kernel->pointer_count; i++)
		moves |= kernel->pointers[i].moves;
	if (!moves)
		return;
	(void)fputs(" const ulong sycl_check_places_[] = {", rewriter->out);
	for (uint32_t argument = 0, i = 0; argument < kernel->argument_count; argument++) {
		/* Parameters come first, in their order. */
		if (i < kernel->pointer_count && kernel->pointers[i].argument == argument &&
		    kernel->pointers[i].name->at < rewriter->tokens.list[kernel->close].at) {
			(void)fputs("(ulong)", rewriter->out);
			put_name(rewriter, kernel->pointers[i++].name);
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
	copy_to(rewriter, list[kernel->close].at);
	(void)fputs(", SYCL_GLOBAL(ulong) " PORTABLE_CHECK_PARAMETER, rewriter->out);
	copy_to(rewriter, list[kernel->body_open].at + 1);
	put_places(rewriter);
	rewrite_accesses(rewriter, kernel->body_open + 1, kernel->body_close, 0);
	rewriter->kernels++;
}

static void rewrite(struct rewriter *rewriter, const char *end)
{
	for (uint32_t i = 0; i < rewriter->tokens.count; i++) {
		if (is(rewriter, i, "SYCL_KERNEL") && find_kernel(rewriter, i, &i) &&
		    read_parameters(rewriter) && rewriter->kernel.pointer_count > 0)
			rewrite_kernel(rewriter);
	}
	copy_to(rewriter, end);
}

char *portable_check_rewrite(const char *source, size_t bytes, size_t *bytes_out)
{
	struct rewriter *rewriter = calloc(1, sizeof(*rewriter));
	char *text = NULL;
	size_t count = 0;

	if (rewriter && portable_tokens_read(source, bytes, &rewriter->tokens) == 0) {
		rewriter->copied = source;
		rewriter->out = open_memstream(&text, &count);
		if (rewriter->out)
			rewrite(rewriter, source + bytes);
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
