#include "order/order.h"

#include "limit_list.h"
#include "words/operand.h"
#include "words/wrong_word.h"

#include <string.h>

enum { LIMIT_NAME_BYTES = 64 };

#define NAME(limit, most) " " #limit

const char order_limit_names[] = LIMIT_LIST(NAME) " sessions_per_tenant share_min share_max";

/* Percentages may be written as such. */
static bool parse_percent(const char *name, const char *value, uint64_t *number_out)
{
	char text[4];
	size_t length = strlen(value);
	if (strncmp(name, "share_", 6) != 0 || length < 2 || length > sizeof(text) ||
	    value[length - 1] != '%')
		return false;
	memcpy(text, value, length - 1);
	text[length - 1] = '\0';
	return operand_read_number(text, 1, 100, number_out);
}

static bool parse_limit(const char *word, Sycl__V1__OrderCommand *order_out)
{
	static char name[LIMIT_NAME_BYTES];
	const char *sign = strchr(word, '=');
	if (!sign || sign == word || (size_t)(sign - word) >= sizeof(name))
		return false;
	memcpy(name, word, (size_t)(sign - word));
	name[sign - word] = '\0';
	order_out->limit = name;
	order_out->value = 0;
	return strcmp(sign + 1, "default") == 0 ||
	       parse_percent(name, sign + 1, &order_out->value) ||
	       operand_read_bytes(sign + 1, 1, INT64_MAX, &order_out->value);
}

/* A service of a later release may have more names, so only a name whose value has no valid form is
 * looked up here: "shar_max=20%". */
static bool limit_is_known(const char *name)
{
	size_t length = strlen(name);
	for (const char *at = order_limit_names; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (length > 0 && strcspn(at, " ") == length && memcmp(at, name, length) == 0)
			return true;
	}
	return false;
}

static bool order_parse_target(const struct order_words *words, int at,
			       Sycl__V1__OrderCommand *order_out, const char **wrong_out)
{
	uint32_t uid = 0;
	int given = (words->count > at) + (words->uid != NULL) + words->all;
	*wrong_out = "name the sessions of the order once: SESSION, --uid UID or --all";
	if (given != 1 || words->count > at + 1)
		return false;
	*wrong_out = "a session is a number of 'syclctl sessions'";
	if (words->count > at &&
	    !operand_read_number(words->word[at], 1, UINT64_MAX, &order_out->session))
		return false;
	if (words->uid && !operand_read_user(words->uid, &uid, wrong_out))
		return false;
	order_out->of_user = words->uid != NULL;
	order_out->uid = uid;
	order_out->of_everybody = words->all;
	return true;
}

bool order_read(const char *verb, const struct order_words *words,
		Sycl__V1__OrderCommand *order_out, const char **wrong_out)
{
	static const struct {
		const char *verb;
		Sycl__V1__Order order;
	} orders[] = {
		{"kill", SYCL__V1__ORDER__ORDER_KILL},     {"pause", SYCL__V1__ORDER__ORDER_PAUSE},
		{"resume", SYCL__V1__ORDER__ORDER_RESUME}, {"drain", SYCL__V1__ORDER__ORDER_DRAIN},
		{"limit", SYCL__V1__ORDER__ORDER_LIMIT},
	};
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (strcmp(orders[i].verb, verb) == 0)
			order_out->order = orders[i].order;
	bool is_limit = order_out->order == SYCL__V1__ORDER__ORDER_LIMIT;
	*wrong_out =
		"limit needs NAME=VALUE: a whole number, for bytes with K, M, G or T, for shares with %, or 'default'";
	if (is_limit && (words->count == 0 || !parse_limit(words->word[0], order_out))) {
		if (*order_out->limit && !limit_is_known(order_out->limit))
			*wrong_out = wrong_choice("limit", order_out->limit, order_limit_names);
		return false;
	}
	if (words->reason)
		order_out->reason = (char *)(uintptr_t)words->reason;
	return order_parse_target(words, is_limit, order_out, wrong_out);
}
