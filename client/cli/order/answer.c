/* Shows the result of an order in one sentence. The service answers with the number of sessions
 * only. */
#include "order/order.h"
#include "units.h"
#include "users.h"

#include <stdio.h>
#include <string.h>

enum { WHOSE_BYTES = USER_TEXT_BYTES + 16 };

/* " of session 5", " of alice(1000)" or "": of everybody. */
static const char *order_whose_text(const Sycl__V1__OrderCommand *order, char text[WHOSE_BYTES])
{
	char user[USER_TEXT_BYTES];
	if (order->session)
		(void)snprintf(text, WHOSE_BYTES, " of session %llu",
			       (unsigned long long)order->session);
	else if (order->of_user)
		(void)snprintf(text, WHOSE_BYTES, " of %s", user_text(order->uid, user));
	else
		*text = '\0';
	return text;
}

static void show_sessions_of(const char *done, const Sycl__V1__OrderCommand *order,
			     unsigned sessions)
{
	char text[WHOSE_BYTES];
	if (order->session)
		(void)printf("%s: session %llu\n", done, (unsigned long long)order->session);
	else if (sessions == 0)
		(void)printf("nothing to do: no session%s was open\n",
			     order_whose_text(order, text));
	else
		(void)printf("%s: %u session%s%s\n", done, sessions, sessions == 1 ? "" : "s",
			     order_whose_text(order, text));
}

static void show_let_in(const Sycl__V1__OrderCommand *order)
{
	char text[WHOSE_BYTES];
	if (!order->session)
		(void)printf("new sessions%s are accepted\n", order_whose_text(order, text));
}

static void show_drained(const Sycl__V1__OrderCommand *order)
{
	char user[USER_TEXT_BYTES];
	if (order->of_user)
		(void)printf(
			"drained: no new session of %s is accepted until 'syclctl resume --uid %u'\n",
			user_text(order->uid, user), order->uid);
	else
		(void)puts("drained: no new session is accepted until 'syclctl resume --all'");
}

/* A limit of the service itself changes no session, so a count of 0 is not shown. */
static void show_limited(const Sycl__V1__OrderCommand *order, unsigned sessions)
{
	char text[WHOSE_BYTES], value[UNIT_TEXT_BYTES];
	(void)printf("%s%s is ", order->limit, order_whose_text(order, text));
	if (order->value == 0)
		(void)fputs("not ordered any more", stdout);
	else if (strstr(order->limit, "_bytes"))
		(void)printf("changed to %s", format_bytes(order->value, value));
	else
		(void)printf("changed to %llu%s", (unsigned long long)order->value,
			     strncmp(order->limit, "share_", 6) == 0 ? " %" : "");
	if (!order->session && sessions)
		(void)printf(", for %u open session%s too", sessions, sessions == 1 ? "" : "s");
	(void)putchar('\n');
}

bool show_order(const Sycl__V1__AdminReply *reply, const Sycl__V1__OrderCommand *order)
{
	switch (order->order) {
	case SYCL__V1__ORDER__ORDER_KILL:
		show_sessions_of("killed", order, reply->ordered);
		break;
	case SYCL__V1__ORDER__ORDER_PAUSE:
		show_sessions_of("paused", order, reply->ordered);
		break;
	case SYCL__V1__ORDER__ORDER_RESUME:
		if (order->session || reply->ordered)
			show_sessions_of("resumed", order, reply->ordered);
		show_let_in(order);
		break;
	case SYCL__V1__ORDER__ORDER_DRAIN:
		show_drained(order);
		break;
	default:
		show_limited(order, reply->ordered);
	}
	return true;
}
