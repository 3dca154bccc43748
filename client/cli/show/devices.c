#include "show/show.h"
#include "show/table.h"
#include "show/tables.h"
#include "units.h"
#include "users.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* An engine runs its user's code, so its report may have any text. */
static void print_dispute(const Sycl__V1__KnownDevice *device)
{
	enum { NAMED_MOST = 8 };
	char user[USER_TEXT_BYTES];
	(void)printf(
		"  device %u differs between engines: '%s' with %llu bytes of memory is what engines of",
		device->facts->device, device->facts->name,
		(unsigned long long)device->facts->global_mem_bytes);
	for (size_t i = 0; i < device->n_uids && i < NAMED_MOST; i++)
		(void)printf("%s %s", i ? "," : "", user_text(device->uids[i], user));
	(void)printf("%s say\n", device->n_uids > NAMED_MOST ? " and others" : "");
}

/* What these users give up for the speed of one server. */
static void print_mps(const Sycl__V1__KnownDevice *device)
{
	enum { NAMED_MOST = 8 };
	char user[USER_TEXT_BYTES];
	if (!strstr(device->facts->mode, "MPS client") || device->n_uids == 0)
		return;
	(void)printf("  device %u by an MPS server:", device->facts->device);
	for (size_t i = 0; i < device->n_uids && i < NAMED_MOST; i++)
		(void)printf("%s %s", i ? "," : "", user_text(device->uids[i], user));
	(void)printf("%s; a kernel that fails ends the work of all who share that server\n",
		     device->n_uids > NAMED_MOST ? " and others" : "");
}

const Sycl__V1__DevicePresent *device_present(const Sycl__V1__AdminReply *reply,
					      const Sycl__V1__KnownDevice *device)
{
	for (size_t i = 0; device->facts && i < reply->n_present; i++)
		if (reply->present[i]->backend == device->backend &&
		    reply->present[i]->index == device->facts->backend_index)
			return reply->present[i];
	return NULL;
}

uint64_t device_free_bytes(const Sycl__V1__DeviceFacts *facts,
			   const Sycl__V1__DevicePresent *present)
{
	uint64_t held = present ? present->held_bytes : 0;
	if (present && present->sensors && present->sensors->total_bytes)
		return present->sensors->free_bytes;
	return facts->global_mem_bytes > held ? facts->global_mem_bytes - held : 0;
}

/* Shows readings of the driver's library; "-": it has none. */
static void sensor_cells(struct table *table, const Sycl__V1__DeviceSensors *sensors)
{
	if (sensors && sensors->temperature_celsius)
		table_cell(table, COLOUR_NONE, "%u C", sensors->temperature_celsius);
	else
		table_cell(table, COLOUR_NONE, "-");
	if (sensors && sensors->power_milliwatts)
		table_cell(table, COLOUR_NONE, "%u W", sensors->power_milliwatts / 1000);
	else
		table_cell(table, COLOUR_NONE, "-");
	if (sensors && sensors->sm_occupancy_known)
		table_cell(table, COLOUR_NONE, "%u %%", (sensors->sm_occupancy_permille + 5) / 10);
	else
		table_cell(table, COLOUR_NONE, "-");
}

/* A device that no engine has opened is shown as idle and free, because nothing else is known. */
static void present_cells(struct table *table, const Sycl__V1__DeviceFacts *facts,
			  const Sycl__V1__DevicePresent *present)
{
	char text[UNIT_TEXT_BYTES];
	uint32_t permille = present ? present->busy_permille : 0;
	table_cell(table, COLOUR_NONE, "%u %%", (permille + 5) / 10);
	table_cell(table, COLOUR_NONE, "%s", format_bytes(present ? present->held_bytes : 0, text));
	table_cell(table, COLOUR_NONE, "%s", format_bytes(device_free_bytes(facts, present), text));
	sensor_cells(table, present ? present->sensors : NULL);
}

/* Shows the present clock; if it is unknown, the highest one. */
static void clock_cell(struct table *table, const Sycl__V1__DeviceFacts *facts,
		       const Sycl__V1__DevicePresent *present)
{
	const Sycl__V1__DeviceSensors *sensors = present ? present->sensors : NULL;
	uint32_t mhz =
		sensors && sensors->clock_mhz ? sensors->clock_mhz : facts->max_clock_frequency_mhz;
	table_cell(table, COLOUR_NONE, "%u MHz", mhz);
}

/* What the table has no room for. */
static void print_device_notes(const Sycl__V1__AdminReply *reply)
{
	for (size_t i = 0; i < reply->n_present; i++) {
		const Sycl__V1__DeviceSensors *sensors = reply->present[i]->sensors;
		if (sensors && *sensors->unavailable)
			(void)printf("  device %u reports no temperature and power: %s\n",
				     reply->present[i]->device, sensors->unavailable);
	}
	for (size_t i = 0; i < reply->n_devices; i++) {
		const Sycl__V1__DeviceFacts *facts = reply->devices[i]->facts;
		if (facts && !facts->available && *facts->unavailable_reason)
			(void)printf("  device %u is not available: %s\n", facts->device,
				     facts->unavailable_reason);
		if (facts && reply->devices[i]->retired)
			(void)printf("  device %u: only engines that get no new sessions have it\n",
				     facts->device);
		if (facts && reply->devices[i]->disputed)
			print_dispute(reply->devices[i]);
		if (facts)
			print_mps(reply->devices[i]);
	}
}

bool show_device_table(const Sycl__V1__AdminReply *reply, bool coloured)
{
	static const struct column columns[] = {
		{"N", COLUMN_FIGURES},
		{"TYPE", COLUMN_TEXT},
		{"NAME", COLUMN_TEXT},
		{"DEVICE", COLUMN_TEXT},
		{"BUS", COLUMN_TEXT | COLUMN_MINOR},
		{"MODE", COLUMN_TEXT | COLUMN_MINOR},
		{"MEMORY", COLUMN_FIGURES},
		{"BUSY", COLUMN_FIGURES},
		{"HELD", COLUMN_FIGURES},
		{"FREE", COLUMN_FIGURES},
		{"TEMP", COLUMN_FIGURES | COLUMN_MINOR},
		{"POWER", COLUMN_FIGURES | COLUMN_MINOR},
		{"SM OCC", COLUMN_FIGURES | COLUMN_MINOR},
		{"LOCAL", COLUMN_FIGURES | COLUMN_MINOR},
		{"UNITS", COLUMN_FIGURES | COLUMN_MINOR},
		{"CLOCK", COLUMN_FIGURES | COLUMN_MINOR},
		{"DRIVER", COLUMN_TEXT | COLUMN_MINOR},
	};
	struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	char text[UNIT_TEXT_BYTES];
	for (size_t i = 0; i < reply->n_devices; i++) {
		const Sycl__V1__KnownDevice *device = reply->devices[i];
		const Sycl__V1__DeviceFacts *facts = device->facts;
		if (!facts)
			continue;
		table_cell(&table, COLOUR_NONE, "%u", facts->device);
		table_cell(&table, COLOUR_NONE, "%s",
			   value_name(&sycl__v1__device_type__descriptor, (int)facts->type));
		table_cell(&table, facts->available ? COLOUR_NONE : COLOUR_RED, "%s%s", facts->name,
			   facts->available ? "" : " (unavailable)");
		table_cell(&table, COLOUR_NONE, "%s:%u", backend_name(device->backend),
			   facts->backend_index);
		table_cell(&table, COLOUR_NONE, "%s", *facts->bus_id ? facts->bus_id : "-");
		table_cell(&table, COLOUR_NONE, "%s", *facts->mode ? facts->mode : "-");
		table_cell(&table, COLOUR_NONE, "%s", format_bytes(facts->global_mem_bytes, text));
		present_cells(&table, facts, device_present(reply, device));
		table_cell(&table, COLOUR_NONE, "%s", format_bytes(facts->local_mem_bytes, text));
		table_cell(&table, COLOUR_NONE, "%u", facts->max_compute_units);
		clock_cell(&table, facts, device_present(reply, device));
		table_cell(&table, COLOUR_NONE, "%s", facts->driver_version);
	}
	bool printed = table_print(&table, coloured, terminal_width());
	print_device_notes(reply);
	return printed;
}

void show_unavailable(const Sycl__V1__AdminReply *reply)
{
	for (size_t i = 0; i < reply->n_unavailable; i++) {
		const Sycl__V1__PlatformFacts *platform = reply->unavailable[i];
		(void)printf("  %s is not available: %s\n", backend_name(platform->backend),
			     platform->unavailable_reason);
	}
}

bool show_devices(const Sycl__V1__AdminReply *reply)
{
	bool printed = true;
	if (reply->n_devices == 0)
		(void)puts("no devices");
	else
		printed = show_device_table(reply, colours_wanted());
	show_unavailable(reply);
	return show_shares(reply, colours_wanted()) && printed;
}
