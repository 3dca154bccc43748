#include "portable_words.h"

#include "portable_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 50u

struct word {
	const char *word, *language, *portable;
};

static const char opencl[] = "OpenCL C", cuda[] = "CUDA C++";

static const struct word words[] = {
	{"__global__", cuda, "SYCL_KERNEL"},
	{"__kernel", opencl, "SYCL_KERNEL"},
	{"__global", opencl, "SYCL_GLOBAL(type)"},
	{"__local", opencl, "SYCL_LOCAL(type) or SYCL_LOCAL_ARRAY"},
	{"__constant", opencl, "SYCL_CONSTANT(type) or SYCL_DEVICE_DATA"},
	{"__private", opencl, "no word at all"},
	{"__device__", cuda, "no word at all"},
	{"__host__", cuda, "no word at all"},
	{"__forceinline__", cuda, "static inline"},
	{"__shared__", cuda, "SYCL_LOCAL_ARRAY"},
	{"__constant__", cuda, "SYCL_DEVICE_DATA"},
	{"__launch_bounds__", cuda, "SYCL_REQUIRED_GROUP"},
	{"reqd_work_group_size", opencl, "SYCL_REQUIRED_GROUP"},
	{"threadIdx", cuda, "sycl_local_id(d)"},
	{"blockIdx", cuda, "sycl_group_id(d)"},
	{"blockDim", cuda, "sycl_local_range(d)"},
	{"gridDim", cuda, "sycl_group_range(d)"},
	{"warpSize", cuda, "sycl_sub_group_max_size()"},
	{"get_global_id", opencl, "sycl_global_id(d)"},
	{"get_global_size", opencl, "sycl_global_range(d)"},
	{"get_global_offset", opencl, "sycl_global_offset(d)"},
	{"get_local_id", opencl, "sycl_local_id(d)"},
	{"get_local_size", opencl, "sycl_local_range(d)"},
	{"get_group_id", opencl, "sycl_group_id(d)"},
	{"get_num_groups", opencl, "sycl_group_range(d)"},
	{"get_work_dim", opencl, "sycl_dimensions()"},
	{"get_sub_group_local_id", opencl, "sycl_sub_group_local_id()"},
	{"get_sub_group_size", opencl, "sycl_sub_group_size()"},
	{"CLK_LOCAL_MEM_FENCE", opencl, "sycl_group_barrier()"},
	{"CLK_GLOBAL_MEM_FENCE", opencl, "sycl_group_barrier()"},
	{"__syncthreads", cuda, "sycl_group_barrier()"},
	{"__syncwarp", cuda, "sycl_sub_group_barrier()"},
	{"__threadfence", cuda, "sycl_fence()"},
	{"__threadfence_block", cuda, "sycl_atomic_fence(order, scope)"},
	{"__ldg", cuda, "SYCL_GLOBAL(const type) and a plain read"},
	{"__shfl_sync", cuda, "sycl_sub_group_shuffle(x, i)"},
	{"__shfl_up_sync", cuda, "sycl_sub_group_shuffle_up(x, d)"},
	{"__shfl_down_sync", cuda, "sycl_sub_group_shuffle_down(x, d)"},
	{"__shfl_xor_sync", cuda, "sycl_sub_group_shuffle_xor(x, m)"},
	{"sub_group_shuffle", opencl, "sycl_sub_group_shuffle(x, i)"},
	{"atomicAdd", cuda, "sycl_atomic_add(p, v)"},
	{"atomicSub", cuda, "sycl_atomic_sub(p, v)"},
	{"atomicMin", cuda, "sycl_atomic_min(p, v)"},
	{"atomicMax", cuda, "sycl_atomic_max(p, v)"},
	{"atomicExch", cuda, "sycl_atomic_exchange(p, v)"},
	{"atomicCAS", cuda, "sycl_atomic_compare_exchange(p, expected, desired)"},
	{"atomic_add", opencl, "sycl_atomic_add(p, v)"},
	{"atomic_sub", opencl, "sycl_atomic_sub(p, v)"},
	{"atomic_inc", opencl, "sycl_atomic_add(p, 1)"},
	{"atomic_dec", opencl, "sycl_atomic_sub(p, 1)"},
	{"atomic_min", opencl, "sycl_atomic_min(p, v)"},
	{"atomic_max", opencl, "sycl_atomic_max(p, v)"},
	{"atomic_xchg", opencl, "sycl_atomic_exchange(p, v)"},
	{"atomic_cmpxchg", opencl, "sycl_atomic_compare_exchange(p, expected, desired)"},
	{"make_float2", cuda, "sycl_float2(a, b)"},
	{"make_float3", cuda, "sycl_float3(a, b, c)"},
	{"make_float4", cuda, "sycl_float4(a, b, c, d)"},
	{"vload4", opencl, "sycl_load4(p, i)"},
	{"vstore4", opencl, "sycl_store4(p, i, v)"},
};

static const struct word *find_word(const struct portable_tokens *tokens, uint32_t index)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (portable_token_is(tokens, index, words[i].word))
			return &words[i];
	return NULL;
}

/* The first word of a directive: "if", "endif". */
static bool directive_is(const struct portable_token *directive, const char *word)
{
	const char *at = directive->at + 1, *end = directive->at + directive->bytes;
	const size_t length = strlen(word);

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* The index behind the #endif of the #if at this token. */
static uint32_t skip_condition(const struct portable_tokens *tokens, uint32_t at)
{
	uint32_t depth = 0;

	for (; at < tokens->count; at++) {
		if (tokens->list[at].kind != PORTABLE_DIRECTIVE)
			continue;
		depth += directive_is(&tokens->list[at], "if");
		depth -= directive_is(&tokens->list[at], "endif");
		if (depth == 0)
			return at + 1;
	}
	return at;
}

static bool is_for_one_language(const struct portable_token *token)
{
	static const char macro[] = "SYCL_DEVICE_";

	return token->kind == PORTABLE_DIRECTIVE && directive_is(token, "if") &&
	       memmem(token->at, token->bytes, macro, sizeof(macro) - 1);
}

/* The place in the source, counted on from the place before. */
struct place {
	const char *at, *line_begin;
	unsigned long line;
};

static void source_place_move(struct place *place, const char *to)
{
	for (; place->at < to; place->at++) {
		if (*place->at == '\n') {
			place->line++;
			place->line_begin = place->at + 1;
		}
	}
}

static uint32_t words_find_all(const struct portable_tokens *tokens, const char *source, FILE *out)
{
	struct place place = {source, source, 1};
	uint32_t lines = 0;

	for (uint32_t i = 0; i < tokens->count && lines < LINES_MAX; i++) {
		if (is_for_one_language(&tokens->list[i]))
			i = skip_condition(tokens, i);
		const struct word *word = i < tokens->count ? find_word(tokens, i) : NULL;
		if (!word)
			continue;
		source_place_move(&place, tokens->list[i].at);
		(void)fprintf(out, "warning: kernel:%lu:%lu: %s is a word of %s; portable is %s\n",
			      place.line, (unsigned long)(place.at - place.line_begin) + 1,
			      word->word, word->language, word->portable);
		lines++;
	}
	return lines;
}

char *portable_words_find(const char *source, size_t bytes)
{
	struct portable_tokens tokens = {0};
	char *text = NULL;
	size_t count = 0;

	if (portable_tokens_read(source, bytes, &tokens) < 0)
		return NULL;
	FILE *out = open_memstream(&text, &count);
	uint32_t lines = out ? words_find_all(&tokens, source, out) : 0;
	if (out && (fclose(out) != 0 || lines == 0)) {
		free(text);
		text = NULL;
	}
	portable_tokens_fini(&tokens);
	return text;
}
