#include "portable_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorted. With an f or an l behind them they are CUDA's functions of float and of long. */
static const char *const names[] = {
	"abs",
	"abs_diff",
	"acos",
	"acosh",
	"acospi",
	"add_sat",
	"all",
	"any",
	"asin",
	"asinh",
	"asinpi",
	"assert",
	"atan",
	"atan2",
	"atan2pi",
	"atanh",
	"atanpi",
	"barrier",
	"bitselect",
	"cbrt",
	"ceil",
	"clamp",
	"clock",
	"clz",
	"copysign",
	"cos",
	"cosh",
	"cospi",
	"cross",
	"ctz",
	"degrees",
	"distance",
	"dot",
	"enqueue_kernel",
	"enqueue_marker",
	"erf",
	"erfc",
	"erfcinv",
	"erfcx",
	"erfinv",
	"exp",
	"exp10",
	"exp2",
	"expm1",
	"fabs",
	"fast_distance",
	"fast_length",
	"fast_normalize",
	"fdim",
	"fdivide",
	"finite",
	"floor",
	"fma",
	"fmax",
	"fmin",
	"fmod",
	"fract",
	"free",
	"frexp",
	"hadd",
	"hypot",
	"ilogb",
	"isequal",
	"isfinite",
	"isgreater",
	"isgreaterequal",
	"isinf",
	"isless",
	"islessequal",
	"islessgreater",
	"isnan",
	"isnormal",
	"isnotequal",
	"isordered",
	"isunordered",
	"j0",
	"j1",
	"jn",
	"labs",
	"ldexp",
	"length",
	"lgamma",
	"lgamma_r",
	"llabs",
	"llmax",
	"llmin",
	"llrint",
	"llround",
	"log",
	"log10",
	"log1p",
	"log2",
	"logb",
	"lrint",
	"lround",
	"mad",
	"mad24",
	"mad_hi",
	"mad_sat",
	"malloc",
	"max",
	"maxmag",
	"mem_fence",
	"memcpy",
	"memset",
	"min",
	"minmag",
	"mix",
	"modf",
	"mul24",
	"mul_hi",
	"nan",
	"ndrange_1D",
	"ndrange_2D",
	"ndrange_3D",
	"nearbyint",
	"nextafter",
	"norm",
	"norm3d",
	"norm4d",
	"normalize",
	"normcdf",
	"normcdfinv",
	"popcount",
	"pow",
	"powi",
	"pown",
	"powr",
	"prefetch",
	"printf",
	"radians",
	"rcbrt",
	"read_mem_fence",
	"release_event",
	"remainder",
	"remquo",
	"retain_event",
	"rhadd",
	"rhypot",
	"rint",
	"rnorm",
	"rootn",
	"rotate",
	"round",
	"rsqrt",
	"saturate",
	"scalbln",
	"scalbn",
	"select",
	"shuffle",
	"shuffle2",
	"sign",
	"signbit",
	"sin",
	"sincos",
	"sincospi",
	"sinh",
	"sinpi",
	"smoothstep",
	"sqrt",
	"step",
	"sub_sat",
	"tan",
	"tanh",
	"tanpi",
	"tgamma",
	"trunc",
	"ullmax",
	"ullmin",
	"umax",
	"umin",
	"upsample",
	"vec_step",
	"wait_group_events",
	"write_mem_fence",
	"y0",
	"y1",
	"yn",
};
/* Families of names. What is the user's own may begin so, too: that does no harm. */
static const char *const families[] = {
	"as_",         "async_work_group_",
	"atom",        "commit_",
	"convert_",    "create_",
	"ctz",         "get_",
	"half_",       "is_valid_",
	"native_",     "read_image",
	"read_pipe",   "reserve_",
	"sub_group_",  "to_",
	"vload",       "vstore",
	"work_group_", "write_image",
	"write_pipe",
};

struct text {
	const char *at, *end;
};
/* A name, compared with what is not ended by a 0. */
static int compare_names(const void *key, const void *name)
{
	const struct text *text = key;
	const char *other = *(const char *const *)name;
	size_t bytes = (size_t)(text->end - text->at);
	int order = strncmp(text->at, other, bytes);
	return order ? order : other[bytes] ? -1 : 0;
}

static bool is_builtin_name(const char *name, size_t bytes)
{
	const struct text key = {name, name + bytes};
	return bytes > 0 &&
	       bsearch(&key, names, sizeof(names) / sizeof(*names), sizeof(*names), compare_names);
}

bool portable_name_is_builtin(const char *name, size_t bytes)
{
	if (is_builtin_name(name, bytes) ||
	    (bytes > 1 && strchr("fl", name[bytes - 1]) && is_builtin_name(name, bytes - 1)))
		return true;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t length = strlen(families[i]);
		if (bytes > length && memcmp(name, families[i], length) == 0)
			return true;
	}
	return false;
}

/* A name of the source that is a built-in's, and what it is declared as. */
struct own {
	const char *name;
	size_t bytes;
	bool everywhere; /* a function or a macro; else a variable, which hides no call of the
			    function */
};

/* The state of a pass over a source, which finds declarations, or writes the text with the
 * prefixes. */
struct reader {
	const char *at, *end;
	const char *name; /* of the token that was read, if it is one */
	size_t name_bytes;
	char last; /* the token before: its character, 'a' for a name, 'k' for a word that no
		      declaration begins with, 'd' for #define */
	int braces, parentheses;
	bool in_directive, in_initialiser, line_begins;
	struct own *owns;
	size_t own_count, own_room;
	bool failed; /* no memory */
};

static char peek_char(const struct reader *reader)
{
	const char *at = reader->at;
	while (at < reader->end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == reader->end)
		return '\0';
	return *at;
}

static struct own *find_own_name(const struct reader *reader)
{
	for (size_t i = 0; i < reader->own_count; i++)
		if (reader->owns[i].bytes == reader->name_bytes &&
		    memcmp(reader->owns[i].name, reader->name, reader->name_bytes) == 0)
			return &reader->owns[i];
	return NULL;
}

static void declare_name(struct reader *reader, bool everywhere)
{
	struct own *own = find_own_name(reader);
	if (!own && reader->own_count == reader->own_room) {
		size_t room = reader->own_room ? 2 * reader->own_room : 16;
		struct own *more = realloc(reader->owns, room * sizeof(*more));
		reader->failed |= !more;
		if (!more)
			return;
		reader->owns = more;
		reader->own_room = room;
	}
	if (!own) {
		own = &reader->owns[reader->own_count++];
		*own = (struct own){.name = reader->name, .bytes = reader->name_bytes};
	}
	own->everywhere |= everywhere;
}

/* Comments and strings; true if there was one. */
static bool skip_text(struct reader *reader)
{
	const char *at = reader->at;
	size_t left = (size_t)(reader->end - at);

	if (left > 1 && at[0] == '/' && at[1] == '/') {
		const char *line = memchr(at, '\n', left);
		reader->at = line ? line : reader->end;
	} else if (left > 1 && at[0] == '/' && at[1] == '*') {
		const char *stop = memmem(at + 2, left - 2, "*/", 2);
		reader->at = stop ? stop + 2 : reader->end;
	} else if (*at == '"' || *at == '\'') {
		const char *stop = at + 1;
		while (stop < reader->end && *stop != *at && *stop != '\n')
			stop += *stop == '\\' && stop + 1 < reader->end ? 2 : 1;
		reader->at = stop < reader->end ? stop + 1 : reader->end;
		reader->last = '"';
	} else {
		return false;
	}
	return true;
}

static void note_character(struct reader *reader, char c)
{
	if (c == '\n') {
		reader->in_directive &= reader->last == '\\';
		reader->line_begins = true;
	}
	if (isspace((unsigned char)c))
		return;
	if (c == '#' && reader->line_begins)
		reader->in_directive = true;
	reader->line_begins = false;
	reader->last = c;
	if (reader->in_directive)
		return;
	reader->braces += c == '{' ? 1 : c == '}' && reader->braces > 0 ? -1 : 0;
	reader->parentheses += c == '(' || c == '['                                ? 1
			       : (c == ')' || c == ']') && reader->parentheses > 0 ? -1
										   : 0;
	if (reader->braces == 0 && reader->parentheses == 0)
		reader->in_initialiser =
			c == '=' || (reader->in_initialiser && c != ',' && c != ';');
}

static bool name_is_one_of(const char *name, size_t bytes, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == bytes && memcmp(*words, name, bytes) == 0)
			return true;
	return false;
}

/* The next token; false at the end. What lies between tokens is passed over. */
static bool names_next_token(struct reader *reader)
{
	static const char *const define[] = {"define", "undef", "ifdef", "ifndef", NULL};
	static const char *const no_type[] = {"return", "else", "case", "goto",
					      "sizeof", "do",   NULL};

	if (reader->name_bytes > 0) {
		const bool is_define = reader->in_directive && reader->last == '#' &&
				       name_is_one_of(reader->name, reader->name_bytes, define);
		reader->last = 'a';
		if (is_define)
			reader->last = 'd';
		else if (name_is_one_of(reader->name, reader->name_bytes, no_type))
			reader->last = 'k';
	}
	reader->name_bytes = 0;
	if (reader->at >= reader->end)
		return false;
	if (skip_text(reader))
		return true;
	char c = *reader->at;
	if (!isalnum((unsigned char)c) && c != '_') {
		reader->at++;
		note_character(reader, c);
		return true;
	}
	reader->line_begins = false;
	reader->name = reader->at;
	while (reader->at < reader->end &&
	       (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
		reader->at++;
	reader->name_bytes = (size_t)(reader->at - reader->name);
	return true;
}

/* Does the name that was read stand where it is declared? */
static void peek_token(struct reader *reader)
{
	bool called = peek_char(reader) == '(';

	if (!portable_name_is_builtin(reader->name, reader->name_bytes))
		return;
	if (reader->in_directive) {
		if (reader->last == 'd')
			declare_name(reader, true);
		return;
	}
	bool argument = reader->parentheses > 0 && (reader->last == '(' || reader->last == ',');
	if (reader->braces == 0 && !reader->in_initialiser &&
	    (reader->parentheses == 0 || argument))
		declare_name(reader, true); /* an argument: of a macro that declares it */
	else if (!called && !argument && !(reader->braces == 0 && reader->in_initialiser))
		declare_name(reader, false);
}

static void portable_names_put_text(const struct reader *reader, const char *from, char **to)
{
	size_t bytes = (size_t)(reader->at - from);
	memcpy(*to, from, bytes);
	*to += bytes;
}

/* `to` has room for a prefix before every name. Returns its end. */
static char *rewrite_names(struct reader *reader, char *to)
{
	for (const char *from = reader->at; names_next_token(reader); from = reader->at) {
		const struct own *own = reader->name_bytes > 0 ? find_own_name(reader) : NULL;
		if (own && (own->everywhere || peek_char(reader) != '('))
			to = stpcpy(to, PORTABLE_NAMES_PREFIX);
		portable_names_put_text(reader, from, &to);
	}
	*to = '\0';
	return to;
}

char *portable_names_own(const char *source, size_t source_bytes, size_t *bytes_out)
{
	struct reader reader = {.at = source, .end = source + source_bytes, .line_begins = true};
	size_t name_count = 0;
	char *text = NULL;

	while (names_next_token(&reader)) {
		if (reader.name_bytes > 0) {
			peek_token(&reader);
			name_count++;
		}
	}
	if (!reader.failed && reader.own_count > 0)
		text = malloc(source_bytes + name_count * (sizeof(PORTABLE_NAMES_PREFIX) - 1) + 1);
	if (text) {
		reader.at = source;
		reader.last = '\0';
		*bytes_out = (size_t)(rewrite_names(&reader, text) - text);
	}
	free(reader.owns);
	return text;
}

/* A symbol of C++ has a name's length before the name. */
static char *shorten_name(const char *text, char *to)
{
	const size_t bytes = sizeof(PORTABLE_NAMES_PREFIX) - 1;
	char *digits = to;

	while (digits > text && isdigit((unsigned char)digits[-1]))
		digits--;
	unsigned long length = digits < to ? strtoul(digits, NULL, 10) : 0;
	return length > bytes ? digits + sprintf(digits, "%lu", length - bytes) : to;
}

void portable_names_restore(char *text)
{
	const size_t bytes = sizeof(PORTABLE_NAMES_PREFIX) - 1;
	char *to = text;

	for (const char *from = text; *from;) {
		if (*from == PORTABLE_NAMES_PREFIX[0] &&
		    strncmp(from, PORTABLE_NAMES_PREFIX, bytes) == 0) {
			*to = '\0';
			to = shorten_name(text, to);
			from += bytes;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}
