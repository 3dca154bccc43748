#include "cuda/driver/options.h"

#include "cleanup.h"
#include "portable_check.h"

#include <stdio.h>
#include <string.h>

static bool options_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies a word from *from to *to, with a final 0. Never writes more bytes than the input has, plus
 * the 0. */
static int take_option_word(const char **from, char **to)
{
	char quote = '\0';

	for (; **from && (quote || !options_is_space(**from)); (*from)++) {
		char c = **from;
		bool was = quote != '\0';
		if (was ? c == quote : c == '"' || c == '\'') {
			quote = c;
			if (was)
				quote = '\0';
			continue;
		}
		if (c == '\\' && (*from)[1] && quote != '\'')
			c = *++*from;
		*(*to)++ = c;
	}
	if (quote)
		return -EINVAL;
	*(*to)++ = '\0';
	return 0;
}

/* Returns NVRTC's form of a portable option; NULL: it has none. */
static const char *translate_option(const char *word)
{
	if (strcmp(word, "-cl-fast-relaxed-math") == 0 ||
	    strcmp(word, "-cl-unsafe-math-optimizations") == 0)
		return "--use_fast_math";
	if (strcmp(word, "-cl-denorms-are-zero") == 0)
		return "--ftz=true";
	return strncmp(word, "-cl-", 4) == 0 ? NULL : word;
}

/* "-DNAME=VALUE" as "#define NAME VALUE". */
static int add_definition(struct cuda_options *options, bool define, const char *what)
{
	char *grown = NULL;
	const char *value = strchr(what, '=');
	int name_bytes = value ? (int)(value - what) : (int)strlen(what);

	if (asprintf(&grown, "%s#%s %.*s %s\n", options->definitions, define ? "define" : "undef",
		     name_bytes, what,
		     !define ? ""
		     : value ? value + 1
			     : "1") < 0)
		return -ENOMEM;
	/* Each definition is one line, whatever the quotes contained. */
	for (char *at = grown + strlen(options->definitions); at[0] && at[1]; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	free(options->definitions);
	options->definitions = grown;
	return 0;
}

/* Takes the word if it begins a definition, or completes the one that the word before began. */
static int take_definition(struct cuda_options *options, const char *word, bool *taken_out)
{
	char pending = options->pending;
	bool starts = word[0] == '-' && (word[1] == 'D' || word[1] == 'U');

	options->pending = '\0';
	*taken_out = pending || starts;
	if (pending)
		return add_definition(options, pending == 'D', word);
	if (!starts)
		return 0;
	if (word[2])
		return add_definition(options, word[1] == 'D', word + 2);
	options->pending = word[1];
	return 0;
}

static int options_add(struct cuda_options *options, const char *word, bool portable)
{
	static const char expression[] = "--sycl-kernel=";

	if (!portable && strncmp(word, expression, sizeof(expression) - 1) == 0) {
		if (options->expression_count == CUDA_OPTIONS_MAX)
			return -E2BIG;
		options->expressions[options->expression_count++] = word + sizeof(expression) - 1;
		return 0;
	}
	if (portable && strcmp(word, PORTABLE_CHECK_OPTION) == 0) {
		options->checks = true;
		return 0;
	}
	if (portable) {
		bool taken = false;
		int error = take_definition(options, word, &taken);
		if (error < 0 || taken)
			return error;
		word = translate_option(word);
	}
	if (!word)
		return 0;
	if (options->count == CUDA_OPTIONS_MAX)
		return -E2BIG;
	if (strncmp(word, "--gpu-architecture", 18) == 0 || strncmp(word, "-arch", 5) == 0)
		options->has_architecture = true;
	options->list[options->count++] = word;
	return 0;
}

int cuda_options_parse(const char *text, bool portable, struct cuda_options *options_out)
{
	const char *from = text ? text : "";
	char *to = malloc(strlen(from) + 2);
	struct cuda_options options = {.text = to, .definitions = strdup("")};
	int error = to && options.definitions ? 0 : -ENOMEM;

	while (error == 0) {
		while (options_is_space(*from))
			from++;
		if (!*from)
			break;
		const char *word = to;
		error = take_option_word(&from, &to);
		if (error == 0)
			error = options_add(&options, word, portable);
	}
	if (error < 0) {
		cuda_options_fini(&options);
		return error;
	}
	*options_out = options;
	return 0;
}

void cuda_options_fini(struct cuda_options *options)
{
	free(options->text);
	free(options->definitions);
	options->text = options->definitions = NULL;
}
