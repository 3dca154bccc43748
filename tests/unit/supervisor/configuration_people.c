/* Sections of users and groups, drop-in files, and the reports of a check. */
#include "base/configuration.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256, FINDINGS_MOST = 16, TEXT_BYTES = 512 };

static char folder[] = "/tmp/sycl-conf.XXXXXX";

static void path_of(const char *name, char path_out[PATH_BYTES])
{
	(void)snprintf(path_out, PATH_BYTES, "%s/%s", folder, name);
}

static void make_folder(void)
{
	char path[PATH_BYTES];
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	path_of("sycld.conf.d", path);
	cr_assert(zero(int, mkdir(path, 0700)));
}

static void remove_folder(void)
{
	static const char *const names[] = {"sycld.conf", "sycld.conf.d/10-a.conf",
					    "sycld.conf.d/20-b.conf", "sycld.conf.d/30-c.txt"};
	char path[PATH_BYTES];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		path_of(names[i], path);
		(void)unlink(path);
	}
	path_of("sycld.conf.d", path);
	(void)rmdir(path);
	(void)rmdir(folder);
}

TestSuite(configuration_people, .init = make_folder, .fini = remove_folder, .timeout = 30);

static void configuration_people_write_text(const char *name, const char *text)
{
	char path[PATH_BYTES];
	path_of(name, path);
	FILE *file = fopen(path, "we");
	cr_assert(ne(ptr, file, NULL));
	(void)fputs(text, file);
	cr_assert(zero(int, fclose(file)));
}

struct findings {
	unsigned errors, warnings;
	char text[FINDINGS_MOST][TEXT_BYTES];
};

static void take_finding(void *context, bool is_error, const char *text)
{
	struct findings *findings = context;
	unsigned index = findings->errors + findings->warnings;
	cr_assert(lt(uint, index, FINDINGS_MOST));
	(void)snprintf(findings->text[index], TEXT_BYTES, "%s", text);
	findings->errors += is_error;
	findings->warnings += !is_error;
}

static struct configuration configuration;
static struct findings findings;

static int check(void)
{
	char path[PATH_BYTES];
	path_of("sycld.conf", path);
	findings = (struct findings){.errors = 0};
	return configuration_check(path, false, &configuration, take_finding, &findings);
}

static void must_have_finding(unsigned index, const char *where, const char *words)
{
	cr_expect(ne(ptr, strstr(findings.text[index], where), NULL), "%u: %s", index,
		  findings.text[index]);
	cr_expect(ne(ptr, strstr(findings.text[index], words), NULL), "%u: %s", index,
		  findings.text[index]);
}

static unsigned index_of_limit(const char *name)
{
	unsigned i = 0;
	while (strcmp(configuration_limit_names[i], name) != 0)
		i++;
	return i;
}

Test(configuration_people, every_error_is_reported_with_its_line)
{
	configuration_people_write_text(
		"sycld.conf",
		"[service]\nengine_idel_seconds = 5\n[limits]\nbuilds = 0\n"
		"nonsense\n[user one]\ndevices = tpu:1\nshare = 101\n[colour]\na = 1\n");
	configuration_people_write_text("sycld.conf.d/10-a.conf",
					"[user one]\nbuild = 3\n[group a]\n[uid x]\nweight = 2\n");
	cr_assert(eq(int, check(), -EINVAL));
	cr_assert(eq(uint, findings.errors, 8u));
	must_have_finding(0, "sycld.conf:2: ", "Did you mean 'engine_idle_seconds'?");
	must_have_finding(1, "sycld.conf:4: ", "builds needs a number from 1");
	must_have_finding(2, "sycld.conf:5: ", "neither [section] nor key = value");
	must_have_finding(3, "sycld.conf:7: ", "cuda:0, opencl:*");
	must_have_finding(4, "sycld.conf:8: ", "needs MIN or MIN-MAX");
	must_have_finding(5, "sycld.conf:10: ", "no such section: [colour]");
	must_have_finding(6, "10-a.conf:2: ", "no such limit: 'build'. Did you mean 'builds'?");
	must_have_finding(7, "10-a.conf:5: ", "[uid x] names none");
}

Test(configuration_people, the_names_of_a_share_in_orders_are_explained)
{
	configuration_people_write_text("sycld.conf", "[user one]\nshare_max = 20\n"
						      "[limits]\nshare_min = 5\n");
	cr_assert(eq(int, check(), -EINVAL));
	must_have_finding(0, "sycld.conf:2: ", "one key here: share = MIN-MAX");
	must_have_finding(1, "sycld.conf:4: ", "in [shares]: default = MIN-MAX");
}

Test(configuration_people, sections_of_users_and_groups_have_limits_devices_and_shares)
{
	configuration_people_write_text(
		"sycld.conf",
		"[user one]\ndevice_bytes = 2G\nbest_class = 3\nshare = 10-20\n"
		"devices = cuda:0, cuda:3,opencl:*\nsessions_per_tenant = 4\n"
		"[group two]\nbuilds = 9\n[uid 7]\ndevices = none\n[limits]\ndevices = cuda:1\n");
	cr_assert(zero(int, check()), "%s", findings.text[0]);
	const struct configuration_people *people = &configuration.people;
	cr_assert(eq(uint, people->owners.count, 3u));
	cr_expect_str_eq(people->owners.list[0].name, "one");
	cr_expect(eq(int, (int)people->owners.list[1].whose, SHARE_OF_GROUP));
	cr_expect(eq(u32, people->owners.list[2].uid, 7u));
	const struct configuration_settings *one = &people->settings[0];
	cr_expect(eq(u64, one->limits[index_of_limit("device_bytes")].value, 2ull << 30));
	cr_expect(eq(u64, one->limits[index_of_limit("best_class")].value, 3u));
	cr_expect(not(one->limits[index_of_limit("builds")].given));
	cr_expect(eq(u64, one->sessions.value, 4u));
	cr_expect(eq(u64, one->devices.set.devices[2], 9u));
	cr_expect(eq(u64, one->devices.set.devices[1], UINT64_MAX));
	cr_expect(zero(u64, one->devices.set.devices[3]));
	cr_expect(people->settings[2].devices.given &&
		  device_set_is_empty(&people->settings[2].devices.set));
	cr_expect(eq(u64, configuration.devices.set.devices[2], 2u));
	cr_assert(eq(uint, configuration.shares.count, 1u));
	cr_expect(eq(uint, configuration.shares.entries[0].share.most, 20u));
	char text[TEXT_BYTES];
	cr_expect_str_eq(configuration_devices_text(&one->devices, text, sizeof(text)),
			 "opencl:*,cuda:0,cuda:3");
}

Test(configuration_people, a_later_file_takes_the_place_of_an_earlier_one)
{
	char text[TEXT_BYTES];
	unsigned builds = index_of_limit("builds"), weight = index_of_limit("weight");
	configuration_people_write_text(
		"sycld.conf", "[limits]\nbuilds = 1\nweight = 5\n[user one]\nbuilds = 2\n");
	configuration_people_write_text("sycld.conf.d/20-b.conf",
					"[user one]\nbuilds = 7\n[shares]\ndefault = 5\n");
	configuration_people_write_text("sycld.conf.d/10-a.conf",
					"[limits]\nbuilds = 3\n[user one]\nbuilds = 6\n");
	configuration_people_write_text("sycld.conf.d/30-c.txt", "not a configuration\n");
	cr_assert(zero(int, check()), "%s", findings.text[0]);
	cr_expect(eq(u64, configuration.limits[builds].value, 3u));
	cr_expect(eq(u64, configuration.limits[weight].value, 5u));
	cr_expect(eq(u64, configuration.people.settings[0].limits[builds].value, 7u));
	cr_expect_str_eq(
		configuration_origin_text(&configuration,
					  configuration.people.settings[0].limits[builds].origin,
					  text, sizeof(text)),
		"20-b.conf:2");
	cr_expect_str_eq(configuration_origin_text(&configuration,
						   configuration.limits[weight].origin, text,
						   sizeof(text)),
			 "sycld.conf:3");
	/* In one file the same section twice is still an error. */
	configuration_people_write_text("sycld.conf.d/20-b.conf",
					"[user one]\nbuilds = 7\n[user one]\nbuilds = 8\n");
	cr_assert(eq(int, check(), -EINVAL));
	must_have_finding(0, "20-b.conf:4: ", "twice");
}

Test(configuration_people, minima_beyond_all_of_a_device_are_a_warning)
{
	configuration_people_write_text("sycld.conf",
					"[shares]\nuid.1 = 60\n[group g]\nshare = 41-50\n");
	cr_assert(zero(int, check()));
	cr_assert(eq(uint, findings.warnings, 1u));
	must_have_finding(0, "sycld.conf:4: ", "add up to 101 %");
	configuration_people_write_text(
		"sycld.conf", "[shares]\nuid.1 = 60\ndefault = 10\n[group g]\nshare = 40-50\n");
	cr_assert(zero(int, check()));
	cr_assert(eq(uint, findings.warnings, 1u));
	must_have_finding(0, "sycld.conf:3: ", "110 % with one user of the default");
	configuration_people_write_text("sycld.conf",
					"[shares]\nuid.1 = 60\n[group g]\nshare = 40-50\n");
	cr_assert(zero(int, check()));
	cr_expect(zero(uint, findings.warnings));
}

/* The files of the test belong to its user, and their folder is one that is trusted. */
Test(configuration_people, users_of_an_mps_server_are_named)
{
	char text[3 * PATH_BYTES], pipes[PATH_BYTES];
	path_of("sycld.conf.d", pipes);
	(void)snprintf(
		text, sizeof(text),
		"[isolation]\nmps_folder = %s\n[user one]\nmps = yes\n[group two]\nmps = no\n",
		pipes);
	configuration_people_write_text("sycld.conf", text);
	cr_assert(eq(int, check(), 0));
	cr_assert(zero(uint, findings.warnings), "%s", findings.text[0]);
	cr_expect_str_eq(configuration.mps_folder, pipes);
	const struct configuration_settings *settings = configuration.people.settings;
	cr_expect(settings[0].mps.given && settings[0].mps.value == 1);
	cr_expect(settings[1].mps.given && settings[1].mps.value == 0);
	cr_expect(eq(u16, settings[0].mps.origin.line, 4));
}

Test(configuration_people, an_mps_server_that_cannot_be_used_is_told)
{
	configuration_people_write_text("sycld.conf", "[user one]\nmps = yes\n");
	cr_assert(eq(int, check(), 0));
	cr_assert(eq(uint, findings.warnings, 1u));
	must_have_finding(0, "sycld.conf:2: ", "without mps_folder in [isolation]");
	configuration_people_write_text("sycld.conf", "[user one]\nmps = yes\n"
						      "[isolation]\nmps_folder = /nonexistent\n");
	cr_assert(eq(int, check(), 0));
	cr_assert(eq(uint, findings.warnings, 1u));
	must_have_finding(0, "sycld.conf:2: ", "/nonexistent is no folder of root");
	configuration_people_write_text("sycld.conf", "[user one]\nmps = maybe\nmpss = yes\n"
						      "[isolation]\nmps_folder = mps\n");
	cr_assert(eq(int, check(), -EINVAL));
	must_have_finding(0, "sycld.conf:2: ", "mps needs yes or no, not 'maybe'");
	must_have_finding(1, "sycld.conf:3: ", "Did you mean 'mps'?");
	must_have_finding(2, "sycld.conf:5: ", "an absolute path");
}

Test(configuration_people, lists_of_devices_that_cannot_be_read_are_refused)
{
	static const char *const wrong[] = {"cuda",        "cuda:",    "cuda:64",        "cuda:-1",
					    ",cuda:0",     "cuda:0,",  "cuda:0,,cuda:1", ":0",
					    "all, cuda:0", "cuda:0x1", "CUDA:0"};
	struct configuration_devices devices = {.given = false};
	const struct configuration_origin origin = {.line = 1};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect(
			ne(ptr,
			   (void *)(uintptr_t)configuration_devices_set(&devices, wrong[i], origin),
			   NULL),
			"%s", wrong[i]);
		cr_expect(not(devices.given), "%s", wrong[i]);
	}
}

Test(configuration_people, a_section_that_is_too_long_or_one_too_many_is_refused)
{
	char text[8192] =
		"[user a-name-that-is-much-longer-than-what-the-parser-keeps-of-it]\nbuilds = 1\n";
	configuration_people_write_text("sycld.conf", text);
	cr_assert(eq(int, check(), -EINVAL));
	size_t used = 0;
	for (unsigned i = 0; i <= CONFIGURATION_PEOPLE; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "[uid %u]\nbuilds = 1\n",
					 i);
	configuration_people_write_text("sycld.conf", text);
	cr_assert(eq(int, check(), -EINVAL));
	must_have_finding(0, "sycld.conf:130: ", "one section more than the 64");
}
