/* The current engines in the chaos test, and the drivers in them. */
#include "processes/chaos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void note_engine(const json_t *tenant)
{
	const pid_t pid = (pid_t)json_integer_value(json_object_get(tenant, "engine_pid"));
	const json_t *spill = json_object_get(tenant, "spill");
	struct chaos_engine seen = {
		.pid = pid,
		.start = pid > 0 ? process_start(pid) : 0,
		.spills = json_integer_value(json_object_get(spill, "spills")),
		.returns = json_integer_value(json_object_get(spill, "returns")),
	};
	unsigned i = 0;
	while (i < chaos.engine_count && chaos.engines[i].pid != pid)
		i++;
	/* An engine that has just ended is not needed. */
	if (seen.start == 0 || i == CHAOS_ENGINES_MAX)
		return;
	if (i == chaos.engine_count) {
		chaos.engine_count++;
	} else if (chaos.engines[i].start != seen.start) {
		chaos.spills += chaos.engines[i].spills;
		chaos.returns += chaos.engines[i].returns;
	} else if (chaos.engines[i].spills > seen.spills) { /* an engine that does not answer, or
							       ends, may report nothing any more */
		seen = chaos.engines[i];
	}
	chaos.engines[i] = seen;
}

bool chaos_is_gone(void *engine)
{
	const struct chaos_engine *seen = engine;
	return !process_exists(seen->pid) || process_start(seen->pid) != seen->start;
}

json_int_t chaos_random_entry(const char *list, const char *name)
{
	json_t *status = private_service_status(chaos.fake.service);
	const json_t *entries = json_object_get(status, list),
		     *tenants = json_object_get(status, "tenants");
	size_t count = json_array_size(entries);
	json_int_t found = 0;
	if (count > 0)
		found = json_integer_value(json_object_get(
			json_array_get(entries, chaos_random((uint32_t)count)), name));
	for (size_t i = 0; i < json_array_size(tenants); i++)
		note_engine(json_array_get(tenants, i));
	json_decref(status);
	return found;
}

pid_t chaos_random_engine(void)
{
	return (pid_t)chaos_random_entry("tenants", "engine_pid");
}

void chaos_count_spills(json_int_t *spills_out, json_int_t *returns_out)
{
	*spills_out = chaos.spills;
	*returns_out = chaos.returns;
	for (unsigned i = 0; i < chaos.engine_count; i++) {
		*spills_out += chaos.engines[i].spills;
		*returns_out += chaos.engines[i].returns;
	}
}

int chaos_send_line(pid_t engine, const char *line)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%ld.socket",
		       chaos.fake.folder, (long)engine);
	ssize_t sent = sendto(chaos.fake.socket, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
			      (const struct sockaddr *)&address, sizeof(address));
	return sent < 0 ? -errno : 0;
}

/*
 * Reads a number that a driver has answered, and which driver it was. Returns false if there is no
 * answer. Commands are answered with 0 or less. A larger number counts wrong uses of the driver,
 * which must not happen, whatever fails.
 */
static bool read_answer(struct sockaddr_un *from, long *number_out)
{
	char answer[64];
	socklen_t from_bytes = sizeof(*from);
	*from = (struct sockaddr_un){.sun_family = AF_UNIX};
	ssize_t got = recvfrom(chaos.fake.socket, answer, sizeof(answer) - 1, MSG_DONTWAIT,
			       (struct sockaddr *)from, &from_bytes);
	if (got <= 0)
		return false;
	answer[got] = '\0';
	*number_out = strtol(answer, NULL, 10);
	if (*number_out > 0)
		private_service_print_log(chaos.fake.service);
	cr_assert_leq(*number_out, 0, "%ld times a driver was used wrongly: %s", *number_out,
		      from->sun_path);
	return true;
}

void chaos_read_answers(void)
{
	struct sockaddr_un from;
	long number;
	while (read_answer(&from, &number))
		;
}

/* The answer of a driver to an unknown command. */
#define NOT_UNDERSTOOD (-EINVAL)

struct instructed {
	struct chaos_engine engine;
	unsigned lines_sent; /* of the lines to be sent */
	bool answered;
};

/* A driver that does not exist yet has no requested failures. */
static void send_the_rest(struct instructed *instructed)
{
	/* The driver answers in order, and no other line has the answer of the last one. */
	static const char *const lines[] = {"command calm", "command set lazy 0",
					    "command set copy_ns_per_mib 0", "count misuse",
					    "is that done?"};
	int result = 0;
	while (result == 0 && instructed->lines_sent < sizeof(lines) / sizeof(*lines)) {
		result = chaos_send_line(instructed->engine.pid, lines[instructed->lines_sent]);
		instructed->lines_sent += result == 0;
	}
	instructed->answered = result == -ENOENT || result == -ECONNREFUSED;
}

static bool has_answered(void *context)
{
	struct instructed *instructed = context;
	send_the_rest(instructed);
	struct sockaddr_un from;
	long number;
	char name[32];
	(void)snprintf(name, sizeof(name), "/%ld.socket", (long)instructed->engine.pid);
	/* This is neither a late answer of another engine, nor one to an earlier line. */
	while (!instructed->answered && read_answer(&from, &number))
		instructed->answered =
			strstr(from.sun_path, name) != NULL && number == NOT_UNDERSTOOD;
	return instructed->answered || chaos_is_gone(&instructed->engine);
}

void chaos_calm_drivers(void)
{
	(void)chaos_random_engine(); /* notes them all */
	chaos_read_answers();
	for (unsigned i = 0; i < chaos.engine_count; i++) {
		struct instructed instructed = {.engine = chaos.engines[i]};
		cr_assert(wait_until(has_answered, &instructed, SOON),
			  "the driver of engine %d does not answer", (int)instructed.engine.pid);
	}
}
