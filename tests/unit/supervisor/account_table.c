/* Rows by user, group and device: they are found again, added up, and combined when there are too
 * many. */
#include "base/account_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

TestSuite(account_table, .timeout = 30);

static struct account_key account_table_key_of(uint32_t uid, uint32_t backend, uint32_t index,
					       const char *cgroup)
{
	struct account_key key = {.uid = uid, .backend = backend, .index = index};
	(void)snprintf(key.cgroup, sizeof(key.cgroup), "%s", cgroup);
	return key;
}

static void use_account(struct account_table *table, const struct account_key *key, uint64_t ns)
{
	struct account_row *row = account_table_get(table, key, MOST);
	struct account_sums sums = {.device_ns = ns, .commands = 1};
	cr_assert(ne(ptr, row, NULL));
	delay_note(&sums.delays, ns, 1);
	account_sums_add(&row->sums, &sums);
}

static uint64_t total_ns(const struct account_table *table)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < table->count; i++)
		total += table->rows[i].sums.device_ns;
	return total;
}

Test(account_table, each_key_has_one_row)
{
	struct account_table table = {.rows = NULL};
	struct account_key keys[] = {
		account_table_key_of(1, 2, 0, "/a"), account_table_key_of(2, 2, 0, "/a"),
		account_table_key_of(1, 3, 0, "/a"), account_table_key_of(1, 2, 1, "/a"),
		account_table_key_of(1, 2, 0, "/b"), account_table_key_of(1, 2, 0, ""),
	};
	enum { KEYS = sizeof(keys) / sizeof(*keys) };
	for (int times = 0; times < 3; times++)
		for (uint32_t i = 0; i < KEYS; i++)
			use_account(&table, &keys[i], i + 1);
	cr_assert(eq(u32, table.count, KEYS));
	for (uint32_t i = 0; i < KEYS; i++) {
		const struct account_row *row = account_table_find(&table, &keys[i]);
		cr_assert(ne(ptr, (void *)(uintptr_t)row, NULL));
		cr_assert(eq(u64, row->sums.device_ns, 3 * (i + 1)));
		cr_assert(eq(u64, delay_total(&row->sums.delays), 3));
	}
	keys[0].session = 9;
	cr_assert(eq(ptr, account_table_find(&table, &keys[0]), NULL));
	account_table_fini(&table);
	cr_assert(eq(u32, table.count, 0));
}

/* A user who makes groups without end has a limited number of rows. The names of the oldest are
 * lost, and no figure. */
Test(account_table, the_oldest_groups_become_one_and_nothing_is_lost)
{
	struct account_table table = {.rows = NULL};
	const struct account_key always = account_table_key_of(7, 2, 0, "/always");
	uint64_t right = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		char path[32];
		(void)snprintf(path, sizeof(path), "/job-%u", i);
		struct account_key key = account_table_key_of(7, 2, i % 3, path);
		use_account(&table, &key, i);
		use_account(&table, &always, 1);
		right += i + 1;
		cr_assert(le(u32, table.count, MOST));
		cr_assert(eq(u64, total_ns(&table), right), "after %u", i);
	}
	cr_assert(eq(u64, account_table_find(&table, &always)->sums.device_ns, 1000),
		  "one that is in use has lost its name");
	const struct account_key last = account_table_key_of(7, 2, 999 % 3, "/job-999"),
				 others = account_table_key_of(7, 2, 1, ACCOUNT_OTHERS);
	cr_assert(eq(u64, account_table_find(&table, &last)->sums.device_ns, 999));
	cr_assert(gt(u64, account_table_find(&table, &others)->sums.device_ns, 0));
	for (uint32_t i = 0; i < table.count; i++)
		cr_expect(eq(ptr, account_table_find(&table, &table.rows[i].key), &table.rows[i]));
	account_table_fini(&table);
}

/* Only wrong claims can be about so many devices. */
Test(account_table, what_finds_no_place_at_all_is_refused)
{
	struct account_table table = {.rows = NULL};
	unsigned refused = 0;
	for (uint32_t i = 0; i < 100; i++) {
		struct account_key key = account_table_key_of(7, 2, i, "/a");
		struct account_row *row = account_table_get(&table, &key, MOST);
		refused += row == NULL;
		cr_assert(le(u32, table.count, MOST));
	}
	cr_assert(gt(uint, refused, 0u));
	account_table_fini(&table);
}

/* A query about many sessions makes that many rows. */
Test(account_table, a_key_is_found_without_a_look_at_all_rows)
{
	enum { KEYS = 16384, PROBES_MOST = 16 };
	struct account_table table = {.rows = NULL};
	for (uint32_t i = 0; i < KEYS; i++) {
		struct account_key key = account_table_key_of(7, 2, i % 16, "");
		key.session = i / 16;
		cr_assert(ne(ptr, account_table_get(&table, &key, UINT32_MAX), NULL));
	}
	cr_assert(eq(u32, table.count, KEYS));
	cr_expect(lt(u64, table.probes, (uint64_t)KEYS * PROBES_MOST));
	for (uint32_t i = 0; i < KEYS; i++) {
		struct account_key key = account_table_key_of(7, 2, i % 16, "");
		key.session = i / 16;
		cr_assert(eq(ptr, account_table_find(&table, &key), &table.rows[i]));
	}
	cr_expect(lt(u64, table.probes, 2 * (uint64_t)KEYS * PROBES_MOST));
	account_table_fini(&table);
}

/* Otherwise a user could choose keys that all collide. */
Test(account_table, nobody_knows_the_hash_of_a_key)
{
	struct account_table tables[2] = {{.rows = NULL}, {.rows = NULL}};
	const struct account_key key = account_table_key_of(7, 2, 0, "/a");
	for (int i = 0; i < 2; i++)
		cr_assert(ne(ptr, account_table_get(&tables[i], &key, MOST), NULL));
	cr_expect(ne(u64, tables[0].hashes[0], tables[1].hashes[0]));
	for (int i = 0; i < 2; i++)
		account_table_fini(&tables[i]);
}

Test(account_table, sums_that_are_too_large_stay_the_largest)
{
	struct account_sums sums = {.device_ns = UINT64_MAX - 5, .commands = 1};
	const struct account_sums more = {
		.device_ns = 6, .commands = 2, .faults = 3, .spilled_bytes = UINT64_MAX};
	account_sums_add(&sums, &more);
	account_sums_add(&sums, &more);
	cr_assert(eq(u64, sums.device_ns, UINT64_MAX));
	cr_assert(eq(u64, sums.spilled_bytes, UINT64_MAX));
	cr_assert(eq(u64, sums.commands, 5));
	cr_assert(eq(u64, sums.faults, 6));
}
