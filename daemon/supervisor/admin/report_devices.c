#include "admin/report_devices.h"

#include "base/uid_places.h"
#include "engine/engine.h"
#include "service/supervisor.h"

#include <stdlib.h>
#include <string.h>

struct claimed_device {
	const struct device_claim *claim;
	uint32_t uid, block; /* uid_block */
	bool is_retired;     /* the engine gets no new sessions */
};

/* A device of the reply. Uids of one block may all be one user's, so they are counted as one. */
struct known_device {
	Sycl__V1__KnownDevice message; /* `list` points here */
	size_t users;
	const struct claimed_device *first;
};

static bool inquiry_covers_tenant(const struct inquiry *inquiry, const struct tenant *tenant)
{
	return inquiry->asker.sees_all || tenant->uid == inquiry->asker.uid;
}

static size_t report_count_claims(const struct inquiry *inquiry)
{
	const struct tenant *tenant;
	const struct engine *engine;
	size_t count = 0;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			count += inquiry_covers_tenant(inquiry, tenant)
					 ? engine->claims.device_count
					 : 0;
	return count;
}

static bool engine_gets_no_sessions(const struct engine *engine)
{
	return engine->is_retired || engine->is_older || engine->is_refused;
}

static void report_add_claims(const struct inquiry *inquiry, struct report_devices *devices)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			for (unsigned i = 0; inquiry_covers_tenant(inquiry, tenant) &&
					     i < engine->claims.device_count;
			     i++)
				devices->claimed[devices->claimed_count++] =
					(struct claimed_device){
						&engine->claims.devices[i], tenant->uid,
						uid_block(tenant->uid, tenant->was_found),
						engine_gets_no_sessions(engine)};
}

static int compare_claims(const struct device_claim *a, const struct device_claim *b)
{
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->size);
}

/* Orders by users: block 0 has users, and each other block may be one user's. */
static int claimed_devices_compare_user(const struct claimed_device *a,
					const struct claimed_device *b)
{
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->block ? 0 : (a->uid > b->uid) - (a->uid < b->uid);
}

/* Equal claims lie side by side then, ordered by user and uid. */
static int compare_claimed(const void *one, const void *other)
{
	const struct claimed_device *a = one, *b = other;
	int r = compare_claims(a->claim, b->claim);
	if (r == 0)
		r = claimed_devices_compare_user(a, b);
	return r ? r : (a->uid > b->uid) - (a->uid < b->uid);
}

static const struct known_device *known_device_of(const Sycl__V1__KnownDevice *message)
{
	return (const struct known_device *)message;
}

static int known_devices_compare_place(const Sycl__V1__KnownDevice *a,
				       const Sycl__V1__KnownDevice *b)
{
	if (a->facts->device != b->facts->device)
		return a->facts->device < b->facts->device ? -1 : 1;
	return (a->backend > b->backend) - (a->backend < b->backend);
}

/* Orders by engines' numbers. Of disputed facts, those of most users' engines come first. */
static int known_devices_compare(const void *one, const void *other)
{
	const Sycl__V1__KnownDevice *a = *(Sycl__V1__KnownDevice *const *)one,
				    *b = *(Sycl__V1__KnownDevice *const *)other;
	int r = known_devices_compare_place(a, b);
	if (r == 0)
		r = (known_device_of(a)->users < known_device_of(b)->users) -
		    (known_device_of(a)->users > known_device_of(b)->users);
	return r ? r : (a > b) - (a < b);
}

static void report_add_known_device(const struct claimed_device *claimed,
				    struct report_devices *devices, size_t index)
{
	devices->known[index].first = claimed;
	Sycl__V1__KnownDevice *known = &devices->known[index].message;
	sycl__v1__known_device__init(known);
	known->facts = (Sycl__V1__DeviceFacts *)(uintptr_t)claimed->claim->facts;
	known->backend = claimed->claim->backend;
	known->platform_name = (char *)(uintptr_t)claimed->claim->platform_name;
	known->retired = true;
	devices->list[index] = known;
}

/* Merges equal claims. Returns the number of devices; each takes its part of `uids`. */
static size_t merge_known_devices(struct report_devices *devices)
{
	size_t count = 0, uid_count = 0;
	for (size_t i = 0; i < devices->claimed_count; i++) {
		const struct claimed_device *claimed = &devices->claimed[i];
		const struct claimed_device *before = i ? claimed - 1 : NULL;
		bool is_equal = before && compare_claims(before->claim, claimed->claim) == 0;
		if (!is_equal) {
			report_add_known_device(claimed, devices, count++);
			devices->known[count - 1].message.uids = &devices->uids[uid_count];
		}
		struct known_device *known = &devices->known[count - 1];
		if (!claimed->is_retired)
			known->message.retired = false;
		if (!is_equal || claimed_devices_compare_user(before, claimed) != 0)
			known->users++;
		if (is_equal && before->uid == claimed->uid)
			continue;
		devices->uids[uid_count++] = claimed->uid;
		known->message.n_uids++;
	}
	return count;
}

static void report_mark_disputed(struct report_devices *devices, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (known_devices_compare_place(devices->list[i - 1], devices->list[i]) == 0)
			devices->list[i - 1]->disputed = devices->list[i]->disputed = true;
}

/* A device of the reply. `turn`: the number of earlier ones of the same first user. */
struct ranked_device {
	Sycl__V1__KnownDevice *known;
	size_t place, turn;
};

static int compare_first_users(const void *one, const void *other)
{
	const struct ranked_device *a = one, *b = other;
	int r = claimed_devices_compare_user(known_device_of(a->known)->first,
					     known_device_of(b->known)->first);
	if (r)
		return r;
	return (a->place > b->place) - (a->place < b->place);
}

static int ranked_devices_compare(const void *one, const void *other)
{
	const struct ranked_device *a = one, *b = other;
	size_t users = known_device_of(a->known)->users;
	size_t other_users = known_device_of(b->known)->users;
	if (users != other_users)
		return users > other_users ? -1 : 1;
	if (a->turn != b->turn)
		return a->turn < b->turn ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/*
 * Chooses the devices of a reply that has no room for all. Those that most users' engines claim
 * come first, then the users in turn, so that no user's inventions push out others' devices. False:
 * no memory.
 */
static bool report_choose_devices(struct report_devices *devices, size_t count)
{
	struct ranked_device *ranked = calloc(count, sizeof(*ranked));
	if (!ranked)
		return false;
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked_device){devices->list[i], i, 0};
	qsort(ranked, count, sizeof(*ranked), compare_first_users);
	for (size_t i = 1; i < count; i++)
		if (claimed_devices_compare_user(known_device_of(ranked[i].known)->first,
						 known_device_of(ranked[i - 1].known)->first) == 0)
			ranked[i].turn = ranked[i - 1].turn + 1;
	qsort(ranked, count, sizeof(*ranked), ranked_devices_compare);
	for (size_t i = 0; i < REPORT_DEVICES_MAX; i++)
		devices->list[i] = ranked[i].known;
	free(ranked);
	qsort((void *)devices->list, REPORT_DEVICES_MAX, sizeof(void *), known_devices_compare);
	return true;
}

/* A backend that cannot be used has no device to carry the reason, so its platform has it. */
static void report_add_unavailable(Sycl__V1__AdminReply *reply, Sycl__V1__PlatformFacts *facts)
{
	if (facts->available || reply->n_unavailable == REPORT_UNAVAILABLE_MAX)
		return;
	for (size_t i = 0; i < reply->n_unavailable; i++) {
		const Sycl__V1__PlatformFacts *known = reply->unavailable[i];
		if (known->backend == facts->backend && !strcmp(known->name, facts->name) &&
		    !strcmp(known->unavailable_reason, facts->unavailable_reason))
			return;
	}
	reply->unavailable[reply->n_unavailable++] = facts;
}

static void report_add_platforms(const struct inquiry *inquiry, Sycl__V1__AdminReply *reply)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			const Sycl__V1__Topology *topology = engine->claims.topology;
			for (size_t i = 0; inquiry_covers_tenant(inquiry, tenant) && topology &&
					   i < topology->n_platforms;
			     i++)
				report_add_unavailable(reply, topology->platforms[i]);
		}
}

bool report_devices_add(const struct inquiry *inquiry, struct report_devices *devices,
			Sycl__V1__AdminReply *reply)
{
	size_t room = report_count_claims(inquiry) + 1;
	devices->claimed = calloc(room, sizeof(*devices->claimed));
	devices->known = calloc(room, sizeof(*devices->known));
	devices->list = calloc(room, sizeof(void *));
	devices->uids = calloc(room, sizeof(*devices->uids));
	devices->unavailable = calloc(REPORT_UNAVAILABLE_MAX, sizeof(void *));
	if (!devices->claimed || !devices->known || !devices->list || !devices->uids ||
	    !devices->unavailable)
		return false;
	report_add_claims(inquiry, devices);
	qsort(devices->claimed, devices->claimed_count, sizeof(*devices->claimed), compare_claimed);
	size_t count = merge_known_devices(devices);
	qsort((void *)devices->list, count, sizeof(void *), known_devices_compare);
	report_mark_disputed(devices, count);
	if (count > REPORT_DEVICES_MAX && !report_choose_devices(devices, count))
		return false;
	reply->devices = devices->list;
	reply->n_devices = count < REPORT_DEVICES_MAX ? count : REPORT_DEVICES_MAX;
	reply->unavailable = devices->unavailable;
	report_add_platforms(inquiry, reply);
	return true;
}

void report_devices_fini(struct report_devices *devices)
{
	free(devices->claimed);
	free(devices->known);
	free((void *)devices->list);
	free(devices->uids);
	free((void *)devices->unavailable);
}
