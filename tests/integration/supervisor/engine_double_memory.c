/* The engine's double: memory of a device that several engines use, and pages for shares. */
#include "supervisor/engine_double.h"

#include "cleanup.h"
#include "control.pb-c.h"
#include "memory_region.h"
#include "packet.h"
#include "share_page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICE_MIB = 64 };

/* The same device in all engines. */
static ProtobufCBinaryData device_uuid(void)
{
	static uint8_t uuid[16] = "the double's GPU";
	return (ProtobufCBinaryData){sizeof(uuid), uuid};
}

static uint64_t capacity_bytes(void)
{
	return (me.held_mib > DEVICE_MIB ? me.held_mib : DEVICE_MIB) * MIB;
}

static void say_memory_wanted(uint64_t mib)
{
	Sycl__V1__MemoryWanted wanted = SYCL__V1__MEMORY_WANTED__INIT;
	wanted.ask = ++me.ask;
	wanted.device = device_uuid();
	wanted.bytes = mib * MIB;
	wanted.held_bytes = me.held_mib * MIB;
	wanted.capacity_bytes = capacity_bytes();
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_WANTED;
	control.memory_wanted = &wanted;
	say(&control, NULL, 0);
}

static void say_memory_state(uint64_t request, uint64_t freed_bytes)
{
	Sycl__V1__MemoryState state = SYCL__V1__MEMORY_STATE__INIT;
	state.request = request;
	state.held_bytes = state.spillable_bytes = me.held_mib * MIB;
	state.capacity_bytes = capacity_bytes();
	state.freed_bytes = freed_bytes;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_MEMORY_STATE;
	control.memory_state = &state;
	say(&control, NULL, 0);
}

void give_memory(const Sycl__V1__MemoryRequest *request)
{
	bool is_stalled = !strcmp(me.giving, "stall") && request->bytes > 0;
	if (is_stalled || !strcmp(me.giving, "mute") || request->device.len != device_uuid().len ||
	    memcmp(request->device.data, device_uuid().data, request->device.len) != 0)
		return;
	uint64_t bytes = strcmp(me.giving, "keep") != 0 ? request->bytes : 0;
	if (!*me.giving)
		me.held_mib -= bytes / MIB;
	say_memory_state(request->request, bytes);
}

static void say_spilled(uint64_t session, uint32_t index)
{
	Sycl__V1__EngineSpilled spilled = SYCL__V1__ENGINE_SPILLED__INIT;
	spilled.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	spilled.index = index;
	spilled.spills = 12;
	spilled.spilled_bytes = 3 * MIB;
	spilled.returns = 5;
	spilled.returned_bytes = MIB;
	spilled.session = session;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_SPILLED;
	control.spilled = &spilled;
	say(&control, NULL, 0);
}

bool run_memory_word(int socket, const char *text)
{
	static const char *const givings[] = {"keep", "boast", "mute", "stall"};
	for (size_t i = 0; i < sizeof(givings) / sizeof(*givings); i++)
		if (!strcmp(text, givings[i]))
			me.giving = givings[i];
	if (!strncmp(text, "hold ", 5)) {
		me.held_mib = strtoul(text + 5, NULL, 10);
	} else if (!strncmp(text, "need ", 5)) {
		me.needing = socket;
		say_memory_wanted(strtoul(text + 5, NULL, 10));
		return true;
	} else if (!strcmp(text, "nag")) {
		for (int times = 0; times < 1000; times++)
			say_memory_wanted(1);
	} else if (!strncmp(text, "spill ", 6)) {
		say_spilled(strtoul(text + 6, NULL, 10), 1);
		say_spilled(1, UINT32_MAX);
	} else if (!strcmp(text, "overflow")) {
		for (int times = 0; times < 200; times++)
			say_spilled(1, 0);
	} else if (!strcmp(text, "volunteer")) {
		for (int times = 0; times < 100; times++)
			say_memory_state((uint64_t)times, MIB);
	} else {
		return false;
	}
	send_wake(socket);
	return true;
}

/* One page is read-only, and neither can be made shorter, because a process that reads it would die
 * of that. */
static unsigned harm_pages(void)
{
	const size_t bytes = sizeof(struct share_grants);
	char path[32];
	void *writable = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, me.grants, 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", me.grants);
	CLEANUP(close_fd) int again = open(path, O_RDWR | O_CLOEXEC);
	return 0u + (writable != MAP_FAILED) + (pwrite(me.grants, "x", 1, 64) > 0) +
	       (again >= 0 && pwrite(again, "x", 1, 64) > 0) + (ftruncate(me.grants, 1) == 0) +
	       (ftruncate(me.claims->fd, 1) == 0);
}

void take_division(struct packet_fds *fds)
{
	close_fd(&me.grants);
	me.grants = packet_fds_take(fds, 0);
	me.claims = memory_region_free(me.claims);
	if (memory_region_map(packet_fds_take(fds, 1), sizeof(struct share_claims), 1, &me.claims) <
	    0)
		exit(13);
	me.harmed = harm_pages();
}
