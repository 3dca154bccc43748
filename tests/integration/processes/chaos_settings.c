/* Changes by operators during other disturbances: the configuration of the service, and shares,
 * classes and weights by orders. */
#include "processes/chaos.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char chaos_configuration[] =
	"[service]\nengine_idle_seconds = 1\nspill = yes\n[limits]\ngroup_seconds = 20\n";

bool chaos_order(const char *verb, const char *first, const char *second, const char *third)
{
	const char *const words[ORDER_WORDS_MAX] = {verb, first, second, third};
	char answer[ANSWER_BYTES];
	return processes_order(chaos.fake.service, words, answer) == 0;
}

enum { CONFIGURATION_BYTES = 1024 };

struct text {
	char bytes[CONFIGURATION_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text->bytes + text->used, sizeof(text->bytes) - text->used, format,
			       arguments);
	va_end(arguments);
	cr_assert(length >= 0 && text->used + (size_t)length < sizeof(text->bytes));
	text->used += (size_t)length;
}

static void read_again(const struct text *text)
{
	FILE *file = fopen(chaos.fake.service->configuration, "we");
	cr_assert(file && fputs(text->bytes, file) >= 0 && fclose(file) == 0, "%s",
		  chaos.fake.service->configuration);
	(void)kill(chaos.fake.service->sycld.pid, SIGHUP);
}

static void say_driver(struct text *text)
{
	say(text, "[cuda]\nlibrary = %s/libcuda.so.1\n", chaos.fake.folder);
}

/* No user gets so little that a command of milliseconds takes seconds. */
static void say_share(struct text *text, const char *whose)
{
	unsigned least = chaos_random(60), most = least + 15 + chaos_random(90);
	say(text, most < 100 ? "%s = %u-%u\n" : "%s = %u\n", whose, least, most);
}

static void say_shares(struct text *text)
{
	char whose[CHAOS_TEXT_BYTES];
	say(text, "[shares]\nmode = %s\n", chaos_random(3) ? "concurrent" : "exclusive");
	say_share(text, "default");
	for (unsigned user = 0; user < CHAOS_USERS; user++) {
		if (chaos_random(2) == 0)
			continue;
		(void)snprintf(whose, sizeof(whose), "uid.%u", CHAOS_FIRST_UID + user);
		say_share(text, whose);
	}
}

void chaos_configure(void)
{
	struct text text = {.used = 0};
	say_driver(&text);
	say(&text, "[service]\nengine_idle_seconds = 1\nspill = %s\n[limits]\ngroup_seconds = 20\n",
	    chaos_random(4) ? "yes" : "no");
	if (chaos_random(2))
		say(&text, "best_class = %u\nweight = %u\n", 1 + chaos_random(3),
		    1 + chaos_random(1000));
	if (chaos_random(3))
		say_shares(&text);
	read_again(&text);
}

static const char *const names[] = {"share_min", "share_max", "best_class", "weight"};
enum { NAMES = sizeof(names) / sizeof(*names) };

void chaos_order_shares(void)
{
	const uint32_t values[NAMES] = {1 + chaos_random(60), 15 + chaos_random(86),
					1 + chaos_random(3), 1 + chaos_random(1000)};
	unsigned which = chaos_random(NAMES);
	char assignment[CHAOS_TEXT_BYTES], uid[CHAOS_TEXT_BYTES];
	if (chaos_random(3))
		(void)snprintf(assignment, sizeof(assignment), "%s=%u", names[which],
			       values[which]);
	else
		(void)snprintf(assignment, sizeof(assignment), "%s=default", names[which]);
	chaos_random_uid(uid);
	if (chaos_random(5))
		(void)chaos_order("limit", assignment, "--uid", uid);
	else
		(void)chaos_order("limit", assignment, "--all", NULL);
}

static void take_back(const char *limit, const char *whose, const char *uid)
{
	char assignment[CHAOS_TEXT_BYTES];
	(void)snprintf(assignment, sizeof(assignment), "%s=default", limit);
	cr_assert(chaos_order("limit", assignment, whose, uid), "%s of %s is not taken back",
		  assignment, uid ? uid : "all");
}

static void take_back_of_everybody(const char *limit)
{
	char uid[CHAOS_TEXT_BYTES];
	take_back(limit, "--all", NULL);
	for (unsigned user = 0; user < CHAOS_USERS; user++) {
		(void)snprintf(uid, sizeof(uid), "%u",
			       geteuid() == 0 ? CHAOS_FIRST_UID + user : (unsigned)geteuid());
		take_back(limit, "--uid", uid);
	}
}

/* Orders stay in force for the next service. That includes those whose end came while no service
 * ran. */
void chaos_settle(void)
{
	static const char *const for_a_while[] = {
		"buffer_bytes",        "groups_in_flight", "tenant_arena_bytes",
		"sessions_per_tenant", "objects",          "device_bytes"};
	struct text text = {.used = 0};
	say_driver(&text);
	say(&text, "%s", chaos_configuration);
	read_again(&text);
	for (unsigned i = 0; i < NAMES; i++)
		take_back_of_everybody(names[i]);
	for (unsigned i = 0; i < sizeof(for_a_while) / sizeof(*for_a_while); i++)
		take_back_of_everybody(for_a_while[i]);
}
