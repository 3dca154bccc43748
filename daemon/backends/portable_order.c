#include "portable_order.h"

#include <string.h>

struct word {
	const char *text;
	enum portable_order order;
};

/* The first one that fits decides. */
static const struct word whole[] = {
	{"sycl_group_barrier", PORTABLE_ORDER_BARRIER},
	{"sycl_group_barrier_scope", PORTABLE_ORDER_BARRIER},
	{"sycl_group_id", PORTABLE_ORDER_NONE},
	{"sycl_group_range", PORTABLE_ORDER_NONE},
	{"sycl_group_linear_id", PORTABLE_ORDER_NONE},
	{"sycl_group_any", PORTABLE_ORDER_TEST},
	{"sycl_group_all", PORTABLE_ORDER_TEST},
	{"sycl_group_broadcast", PORTABLE_ORDER_VALUE},
};
static const struct word beginnings[] = {
	{"sycl_group_reduce_", PORTABLE_ORDER_VALUE},
	{"sycl_group_inclusive_scan_", PORTABLE_ORDER_VALUE},
	{"sycl_group_exclusive_scan_", PORTABLE_ORDER_VALUE},
	{"sycl_group_", PORTABLE_ORDER_OTHER},
	{"sycl_sub_group_", PORTABLE_ORDER_OTHER},
	{"__sync", PORTABLE_ORDER_OTHER},
	{"asm", PORTABLE_ORDER_OTHER},
};
static const char *const parts[] = {"barrier", "fence", "_explicit"};

static bool token_has(const struct portable_token *token, const char *text)
{
	return memmem(token->at, token->bytes, text, strlen(text)) != NULL;
}

bool portable_order_is_in(const char *options)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (strstr(options, beginnings[i].text))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(options, parts[i]))
			return true;
	return false;
}

enum portable_order portable_order_of(const struct portable_token *token)
{
	const bool is_line = token->kind == PORTABLE_DIRECTIVE;

	if (token->kind != PORTABLE_NAME && !is_line)
		return PORTABLE_ORDER_NONE;
	for (size_t i = 0; !is_line && i < sizeof(whole) / sizeof(*whole); i++)
		if (token->bytes == strlen(whole[i].text) &&
		    memcmp(token->at, whole[i].text, token->bytes) == 0)
			return whole[i].order;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		const size_t length = strlen(beginnings[i].text);
		if (is_line ? token_has(token, beginnings[i].text)
			    : token->bytes >= length &&
				      memcmp(token->at, beginnings[i].text, length) == 0)
			return is_line ? PORTABLE_ORDER_OTHER : beginnings[i].order;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (token_has(token, parts[i]))
			return PORTABLE_ORDER_OTHER;
	return PORTABLE_ORDER_NONE;
}
