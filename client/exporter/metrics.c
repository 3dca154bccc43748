#include "metrics.h"

#include "names.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { LABEL_BYTES_MOST = 128 };

/* ------------------------------------------ text ------------------------------------------ */

/* Returns the size of the valid UTF-8 character at `text`; 0: there is none. */
static unsigned character_length(const unsigned char *text)
{
	static const struct {
		unsigned char mask, lead, least_second, most_second;
		unsigned length;
	} forms[] = {
		{0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
		{0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4},
		{0xe0, 0xc0, 0x80, 0xbf, 2}, {0xf0, 0xe0, 0x80, 0xbf, 3},
		{0xfc, 0xf0, 0x80, 0xbf, 4},
	};
	if (*text < 0x80)
		return *text >= 0x20 && *text != 0x7f;
	if (*text == 0xc0 || *text == 0xc1)
		return 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if ((*text & forms[i].mask) != forms[i].lead)
			continue;
		if (text[1] < forms[i].least_second || text[1] > forms[i].most_second)
			return 0;
		for (unsigned at = 2; at < forms[i].length; at++)
			if ((text[at] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

void metrics_write_label(const char *value, FILE *to)
{
	size_t written = 0;
	while (*value) {
		unsigned length = character_length((const unsigned char *)value);
		written += length ? length : 1;
		if (written > LABEL_BYTES_MOST)
			return;
		if (!length)
			(void)fputc('?', to);
		else if (*value == '"' || *value == '\\')
			(void)fprintf(to, "\\%c", *value);
		else
			(void)fwrite(value, 1, length, to);
		value += length ? length : 1;
	}
}

struct writing {
	FILE *to;
	bool open_metrics;
	const struct metrics_facts *facts;
};

enum kind { GAUGE, COUNTER, SUMMARY };

struct family {
	const char *name; /* without _total */
	enum kind kind;
	const char *unit; /* the end of its name; NULL: no unit */
	const char *help;
	size_t offset; /* offset of the value in the row; a double */
};

static void metric_write_head(const struct writing *writing, const struct family *family)
{
	static const char *const kinds[] = {"gauge", "counter", "summary"};
	const char *total = family->kind == COUNTER && !writing->open_metrics ? "_total" : "";
	(void)fprintf(writing->to, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, total,
		      family->help, family->name, total, kinds[family->kind]);
	if (writing->open_metrics && family->unit)
		(void)fprintf(writing->to, "# UNIT %s %s\n", family->name, family->unit);
}

static void write_label(const struct writing *writing, char before, const char *name,
			const char *value)
{
	(void)fprintf(writing->to, "%c%s=\"", before, name);
	metrics_write_label(value, writing->to);
	(void)fputc('"', writing->to);
}

static void write_value(const struct writing *writing, double value)
{
	(void)fprintf(writing->to, " %.16g\n", value);
}

static double row_value(const void *row, size_t offset)
{
	double value;
	memcpy(&value, (const char *)row + offset, sizeof(value));
	return value;
}

static void metric_write_name(const struct writing *writing, const struct family *family)
{
	(void)fprintf(writing->to, "%s%s", family->name, family->kind == COUNTER ? "_total" : "");
}

static void write_single(const struct writing *writing, const char *name, const char *unit,
			 const char *help, double value)
{
	const struct family family = {name, GAUGE, unit, help, 0};
	metric_write_head(writing, &family);
	metric_write_name(writing, &family);
	write_value(writing, value);
}

/* ---------------------------------------- by user ----------------------------------------- */

#define USER(member) offsetof(struct tally_user, member)
/* clang-format off */
static const struct family of_users[] = {
	{"sycld_user_engines", GAUGE, NULL, "Engine processes of the user.", USER(engines)},
	{"sycld_user_engines_answering", GAUGE, NULL, "Engine processes of the user that answered the last query.", USER(engines_answering)},
	{"sycld_user_engine_resident_memory_bytes", GAUGE, "bytes", "Resident host memory of the user's engines.", USER(resident_bytes)},
	{"sycld_user_engine_failures", COUNTER, NULL, "Engines of the user that crashed or ended because a device failed.", USER(engines_failed)},
	{"sycld_user_faults", COUNTER, NULL, "Engines that died while just one command ran, which was the user's.", USER(faults)},
	{"sycld_user_waiting_commands", GAUGE, NULL, "Commands that wait for their turn beside other sessions' work.", USER(waiting)},
	{"sycld_user_recent_commands", GAUGE, NULL, "Commands of the user's sessions that were sent in the last minute.", USER(recent_commands)},
	{"sycld_user_recent_wait_p50_seconds", GAUGE, "seconds", "Median wait of a session's commands of the last minute, once nothing of their own was in the way; the largest among the user's sessions.", USER(recent_wait_p50)},
	{"sycld_user_recent_wait_p99_seconds", GAUGE, "seconds", "The same for the 99th percentile.", USER(recent_wait_p99)},
	{"sycld_user_spilled_memory_bytes", GAUGE, "bytes", "Device memory of the user that is in the host's memory now.", USER(spilled_bytes)},
	{"sycld_user_drained", GAUGE, NULL, "1 if an operator's order keeps new sessions of the user out.", USER(drained)},
	{"sycld_user_sessions_ended", COUNTER, NULL, "Sessions of the user that are over.", USER(sessions_ended)},
	{"sycld_user_command_groups_submitted", COUNTER, NULL, "Command groups that the user's sessions have submitted.", USER(submitted)},
	{"sycld_user_command_groups_completed", COUNTER, NULL, "Command groups that are complete.", USER(completed)},
	{"sycld_user_command_groups_failed", COUNTER, NULL, "Command groups that have failed.", USER(failed)},
	{"sycld_user_buffer_memory_bytes", GAUGE, "bytes", "Device memory that the user's sessions hold.", USER(held_bytes)},
	{"sycld_user_arena_memory_bytes", GAUGE, "bytes", "Memory that the user's sessions share with their engines.", USER(shared_bytes)},
};
/* clang-format on */

static void write_user_labels(const struct writing *writing, const struct tally_user *user,
			      char before)
{
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%" PRIu32, user->uid);
	write_label(writing, before, "user", user->name);
	write_label(writing, ',', "uid", user->is_others ? "" : uid);
}

static void write_users(const struct writing *writing, const struct family *family)
{
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, family);
	for (unsigned i = 0; i < tally->user_count; i++) {
		metric_write_name(writing, family);
		write_user_labels(writing, &tally->users[i], '{');
		(void)fputc('}', writing->to);
		write_value(writing, row_value(&tally->users[i], family->offset));
	}
}

static void write_sessions(const struct writing *writing)
{
	static const struct family family = {"sycld_user_sessions", GAUGE, NULL,
					     "Sessions of the user in each state.", 0};
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, &family);
	for (unsigned i = 0; i < tally->user_count; i++)
		for (unsigned state = 0; state < TALLY_STATES; state++) {
			metric_write_name(writing, &family);
			write_user_labels(writing, &tally->users[i], '{');
			write_label(writing, ',', "state", tally_state_names[state]);
			(void)fputc('}', writing->to);
			write_value(writing, tally->users[i].sessions[state]);
		}
}

/* ----------------------------------- by user and device ----------------------------------- */

#define USE(member) offsetof(struct tally_use, member)
/* clang-format off */
static const struct family of_uses[] = {
	{"sycld_device_time_seconds", COUNTER, "seconds", "Device time of completed commands, as engines claim.", USE(device_seconds)},
	{"sycld_device_commands", COUNTER, NULL, "Commands that have run on the device or failed there.", USE(commands)},
	{"sycld_device_commands_failed", COUNTER, NULL, "Commands that have failed on the device.", USE(failed)},
	{"sycld_device_copied_to_device_bytes", COUNTER, "bytes", "Bytes that were copied to the device.", USE(to_device)},
	{"sycld_device_copied_to_host_bytes", COUNTER, "bytes", "Bytes that were copied from the device.", USE(to_host)},
	{"sycld_device_spills", COUNTER, NULL, "Copies of device memory to the host because the device was full.", USE(spills)},
	{"sycld_device_spilled_bytes", COUNTER, "bytes", "Device memory that was copied to the host because the device was full.", USE(spilled)},
};
static const struct family of_shares[] = {
	{"sycld_share_min_ratio", GAUGE, "ratio", "The least part of the device's time that the user gets when it has work.", USE(least)},
	{"sycld_share_max_ratio", GAUGE, "ratio", "The largest part of the device's time that the user may have.", USE(most)},
	{"sycld_share_granted_ratio", GAUGE, "ratio", "The part of the device's time that the user has now.", USE(granted)},
	{"sycld_share_wanted", GAUGE, NULL, "1 if a command of the user waits or runs on the device.", USE(wants)},
};
/* clang-format on */

static void write_use_labels(const struct writing *writing, const struct tally_use *use)
{
	const struct tally *tally = writing->facts->tally;
	write_label(writing, '{', "device", tally->devices[use->device].name);
	write_user_labels(writing, &tally->users[use->user], ',');
}

static void write_uses(const struct writing *writing, const struct family *family, bool of_share)
{
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, family);
	for (unsigned i = 0; i < tally->use_count; i++) {
		const struct tally_use *use = &tally->uses[i];
		if (of_share ? !use->has_share : !use->has_use)
			continue;
		metric_write_name(writing, family);
		write_use_labels(writing, use);
		(void)fputc('}', writing->to);
		write_value(writing, row_value(use, family->offset));
	}
}

static void write_waits(const struct writing *writing)
{
	static const struct family family = {
		"sycld_command_wait_seconds", SUMMARY, "seconds",
		"How long commands waited to be sent, once nothing of their own was in the way. "
		"The quantiles are of all commands that the service has counted for the user.",
		0};
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, &family);
	for (unsigned i = 0; i < tally->use_count; i++) {
		const struct tally_use *use = &tally->uses[i];
		const double quantiles[] = {use->wait_p50, use->wait_p99};
		static const char *const names[] = {"0.5", "0.99"};
		if (!use->has_wait)
			continue;
		for (unsigned q = 0; q < 2; q++) {
			metric_write_name(writing, &family);
			write_use_labels(writing, use);
			(void)fprintf(writing->to, ",quantile=\"%s\"}", names[q]);
			write_value(writing, quantiles[q]);
		}
		(void)fprintf(writing->to, "%s_count", family.name);
		write_use_labels(writing, use);
		(void)fputc('}', writing->to);
		write_value(writing, use->waits);
	}
}

/* --------------------------------------- by device ---------------------------------------- */

static void write_device_value(const struct writing *writing, const struct family *family,
			       double (*value)(const Sycl__V1__KnownDevice *known))
{
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, family);
	for (unsigned i = 0; i < tally->device_count; i++) {
		const struct tally_device *device = &tally->devices[i];
		if (!device->known)
			continue;
		metric_write_name(writing, family);
		write_label(writing, '{', "device", device->name);
		(void)fputc('}', writing->to);
		write_value(writing, value(device->known));
	}
}

static double is_available(const Sycl__V1__KnownDevice *known)
{
	return known->facts->available;
}

static double memory_bytes(const Sycl__V1__KnownDevice *known)
{
	return (double)known->facts->global_mem_bytes;
}

static double is_disputed(const Sycl__V1__KnownDevice *known)
{
	return known->disputed;
}

static void write_device_facts(const struct writing *writing)
{
	static const struct family family = {"sycld_device_info", GAUGE, NULL,
					     "A device that engines have found, always 1.", 0};
	const struct tally *tally = writing->facts->tally;
	metric_write_head(writing, &family);
	for (unsigned i = 0; i < tally->device_count; i++) {
		const Sycl__V1__KnownDevice *known = tally->devices[i].known;
		if (!known)
			continue;
		metric_write_name(writing, &family);
		write_label(writing, '{', "device", tally->devices[i].name);
		write_label(writing, ',', "name", known->facts->name);
		write_label(
			writing, ',', "type",
			value_name(&sycl__v1__device_type__descriptor, (int)known->facts->type));
		write_label(writing, ',', "bus_id", known->facts->bus_id);
		write_label(writing, ',', "driver_version", known->facts->driver_version);
		(void)fputc('}', writing->to);
		write_value(writing, 1);
	}
}

/* These functions return present values of a device; negative: unknown. */
static double busy_ratio(const Sycl__V1__DevicePresent *now)
{
	return now->busy_permille / 1000.0;
}

static double commands_now(const Sycl__V1__DevicePresent *now)
{
	return now->commands;
}

static double held_bytes(const Sycl__V1__DevicePresent *now)
{
	return (double)now->held_bytes;
}

/* The library of the driver reports unknown values as 0. */
static double known_or_none(double value)
{
	return value > 0 ? value : -1;
}

static double used_bytes(const Sycl__V1__DevicePresent *now)
{
	return now->sensors ? known_or_none((double)now->sensors->used_bytes) : -1;
}

static double temperature_celsius(const Sycl__V1__DevicePresent *now)
{
	return now->sensors ? known_or_none(now->sensors->temperature_celsius) : -1;
}

static double power_watts(const Sycl__V1__DevicePresent *now)
{
	return now->sensors ? known_or_none(now->sensors->power_milliwatts / 1e3) : -1;
}

static double clock_hertz(const Sycl__V1__DevicePresent *now)
{
	return now->sensors ? known_or_none(now->sensors->clock_mhz * 1e6) : -1;
}

static double utilization_ratio(const Sycl__V1__DevicePresent *now)
{
	return now->sensors && now->sensors->utilisation_known
		       ? now->sensors->utilisation_percent / 100.0
		       : -1;
}

static double sm_occupancy_ratio(const Sycl__V1__DevicePresent *now)
{
	return now->sensors && now->sensors->sm_occupancy_known
		       ? now->sensors->sm_occupancy_permille / 1e3
		       : -1;
}

/* clang-format off */
static const struct {
	struct family family;
	double (*value)(const Sycl__V1__DevicePresent *now);
} of_present[] = {
	{{"sycld_device_busy_ratio", GAUGE, "ratio", "The part of the last second in which commands of sessions ran on the device.", 0}, busy_ratio},
	{{"sycld_device_running_commands", GAUGE, NULL, "Commands that are on the device now.", 0}, commands_now},
	{{"sycld_device_held_memory_bytes", GAUGE, "bytes", "Memory of the device that sessions hold.", 0}, held_bytes},
	{{"sycld_device_used_memory_bytes", GAUGE, "bytes", "Memory of the device that is used, by all processes of the machine.", 0}, used_bytes},
	{{"sycld_device_temperature_celsius", GAUGE, "celsius", "Temperature of the device.", 0}, temperature_celsius},
	{{"sycld_device_power_watts", GAUGE, "watts", "Power that the device takes.", 0}, power_watts},
	{{"sycld_device_clock_hertz", GAUGE, "hertz", "Clock of the device's compute units.", 0}, clock_hertz},
	{{"sycld_device_utilization_ratio", GAUGE, "ratio", "The part of the time with any kernel, of all processes of the machine.", 0}, utilization_ratio},
	{{"sycld_device_sm_occupancy_ratio", GAUGE, "ratio", "Warps on the device's compute units, of the most that fit, of all processes of the machine.", 0}, sm_occupancy_ratio},
};
/* clang-format on */

static void write_present(const struct writing *writing)
{
	const struct tally *tally = writing->facts->tally;
	for (size_t at = 0; at < sizeof(of_present) / sizeof(*of_present); at++) {
		metric_write_head(writing, &of_present[at].family);
		for (unsigned i = 0; i < tally->device_count; i++) {
			const Sycl__V1__DevicePresent *now = tally->devices[i].present;
			double value = now ? of_present[at].value(now) : -1;
			if (value < 0)
				continue;
			metric_write_name(writing, &of_present[at].family);
			write_label(writing, '{', "device", tally->devices[i].name);
			(void)fputc('}', writing->to);
			write_value(writing, value);
		}
	}
}

static void write_devices(const struct writing *writing)
{
	static const struct family available = {"sycld_device_available", GAUGE, NULL,
						"1 if the device can be used.", 0};
	static const struct family memory = {"sycld_device_memory_size_bytes", GAUGE, "bytes",
					     "Memory of the device.", 0};
	static const struct family disputed = {
		"sycld_device_disputed", GAUGE, NULL,
		"1 if engines of different users claim different facts of the device.", 0};
	write_device_facts(writing);
	write_device_value(writing, &available, is_available);
	write_device_value(writing, &memory, memory_bytes);
	write_device_value(writing, &disputed, is_disputed);
	write_present(writing);
}

/* ----------------------------------------- all of it -------------------------------------- */

static void write_service(const struct writing *writing)
{
	static const struct family info = {"sycld_service_info", GAUGE, NULL,
					   "The service, always 1.", 0};
	const Sycl__V1__ServiceFacts *service = writing->facts->status->service;
	metric_write_head(writing, &info);
	metric_write_name(writing, &info);
	write_label(writing, '{', "version", service->version);
	write_label(writing, ',', "mode",
		    value_name(&sycl__v1__service_mode__descriptor, (int)service->mode));
	(void)fputc('}', writing->to);
	write_value(writing, 1);
	write_single(writing, "sycld_service_start_time_seconds", "seconds",
		     "When the service started, in seconds since 1970.",
		     (double)service->since_unix_seconds);
	write_single(writing, "sycld_service_drained", NULL,
		     "1 if an operator's order keeps all new sessions out.", service->drained);
	write_single(writing, "sycld_service_stopping", NULL, "1 if the service is about to end.",
		     service->stopping);
}

static void write_exporter(const struct writing *writing)
{
	const struct metrics_facts *facts = writing->facts;
	write_single(writing, "sycld_up", NULL, "1 if the service has answered the last query.",
		     facts->is_up);
	write_single(writing, "sycld_exporter_query_duration_seconds", "seconds",
		     "How long the last queries of the service took.", facts->query_seconds);
	write_single(writing, "sycld_exporter_sample_age_seconds", "seconds",
		     "How old the figures are.", facts->age_seconds);
	write_single(writing, "sycld_exporter_sees_all", NULL,
		     "1 if this scrape has the figures of all users.", facts->sees_all);
}

int metrics_write(const struct metrics_facts *facts, bool open_metrics, FILE *to)
{
	const struct writing writing = {to, open_metrics, facts};
	write_exporter(&writing);
	if (facts->is_up) {
		write_single(&writing, "sycld_exporter_rows_left_out", NULL,
			     "Rows of the last answers that found no place.",
			     facts->tally->left_out);
		write_service(&writing);
		write_devices(&writing);
		for (size_t i = 0; i < sizeof(of_users) / sizeof(*of_users); i++)
			write_users(&writing, &of_users[i]);
		write_sessions(&writing);
		for (size_t i = 0; i < sizeof(of_uses) / sizeof(*of_uses); i++)
			write_uses(&writing, &of_uses[i], false);
		write_waits(&writing);
		for (size_t i = 0; i < sizeof(of_shares) / sizeof(*of_shares); i++)
			write_uses(&writing, &of_shares[i], true);
	}
	if (open_metrics)
		(void)fputs("# EOF\n", to);
	return fflush(to) == 0 && !ferror(to) ? 0 : -ENOMEM;
}
