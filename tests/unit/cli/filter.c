/* The rows of an answer that are shown. */
#include "words/filter.h"

#include "users.h"
#include "words/wrong_word.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <pwd.h>

TestSuite(cli_filter, .timeout = 10);

/* The first device of the backend is hidden from users, and another backend's precedes it. */
Test(cli_filter, a_device_is_found_by_its_number_in_its_backend)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__KnownDevice known[3], *list[3];
	Sycl__V1__DeviceFacts facts[2];
	const struct filter_words words = {.device = "cuda:1"};
	const char *wrong;
	struct filter filter;
	for (unsigned i = 0; i < 3; i++) {
		sycl__v1__known_device__init(&known[i]);
		list[i] = &known[i];
	}
	for (unsigned i = 0; i < 2; i++) {
		sycl__v1__device_facts__init(&facts[i]);
		facts[i].device = i + 2;
		facts[i].backend_index = 1;
		known[i].facts = &facts[i];
	}
	known[0].backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	known[1].backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	known[2].backend = SYCL__V1__BACKEND__BACKEND_CUDA; /* without facts */
	reply.devices = list;
	reply.n_devices = 3;
	cr_assert(filter_read(&words, &filter, &wrong));
	filter_apply(&filter, &reply);
	cr_assert(eq(sz, reply.n_devices, 1));
	cr_expect(eq(ptr, (void *)reply.devices[0], (void *)&known[1]));
}

static void add_limit(Sycl__V1__AdminReply *reply, Sycl__V1__LimitFacts *limit, const char *name,
		      uint32_t uid, uint64_t session)
{
	sycl__v1__limit_facts__init(limit);
	limit->name = (char *)(uintptr_t)name;
	limit->of_user = uid > 0;
	limit->uid = uid;
	limit->session = session;
	reply->limits[reply->n_limits++] = limit;
}

/* The limit of all users is shown only where nothing of the user's own replaces it. */
Test(cli_filter, a_users_own_limit_replaces_that_of_all)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__LimitFacts facts[6], *list[6];
	const struct filter filter = {.of_user = true, .uid = 7};
	reply.limits = list;
	add_limit(&reply, &facts[0], "objects", 0, 0);
	add_limit(&reply, &facts[1], "builds", 0, 0);
	add_limit(&reply, &facts[2], "weight", 0, 0);
	add_limit(&reply, &facts[3], "builds", 8, 0);
	add_limit(&reply, &facts[4], "objects", 7, 0);
	add_limit(&reply, &facts[5], "weight", 7, 3); /* of one session: not of the others */
	filter_limits(&filter, &reply);
	cr_assert(eq(sz, reply.n_limits, 4));
	cr_expect(eq(ptr, (void *)list[0], (void *)&facts[4]));
	cr_expect(eq(ptr, (void *)list[1], (void *)&facts[5]));
	/* In the order of `syclctl limits`. */
	cr_expect(eq(ptr, (void *)list[2], (void *)&facts[1]));
	cr_expect(eq(ptr, (void *)list[3], (void *)&facts[2]));
}

static const char *name_of_seven(uint32_t uid)
{
	return uid == 7 ? "alice" : NULL;
}

/* Sections come after what is in force for a user, and are in the order in which they precede each
 * other. */
Test(cli_filter, sections_of_a_user_who_has_not_connected_are_the_users)
{
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__LimitFacts facts[6], *list[6];
	const struct filter filter = {.of_user = true, .uid = 7};
	reply.limits = list;
	add_limit(&reply, &facts[0], "objects", 0, 0);
	add_limit(&reply, &facts[1], "builds", 0, 0);
	add_limit(&reply, &facts[2], "weight", 7, 0);
	add_limit(&reply, &facts[3], "builds", UINT32_MAX, 0);
	add_limit(&reply, &facts[4], "weight", UINT32_MAX, 0); /* an order replaces it */
	add_limit(&reply, &facts[5], "objects", UINT32_MAX, 0);
	facts[3].owner = facts[4].owner = (char *)(uintptr_t) "user alice";
	facts[5].owner = (char *)(uintptr_t) "user bob";
	user_names_from(name_of_seven);
	filter_limits(&filter, &reply);
	user_names_from(NULL);
	cr_assert(eq(sz, reply.n_limits, 3));
	cr_expect(eq(ptr, (void *)list[0], (void *)&facts[2]));
	cr_expect(eq(ptr, (void *)list[1], (void *)&facts[3]));
	cr_expect(eq(ptr, (void *)list[2], (void *)&facts[0]));
}

static char *listed_user; /* NULL: the end of the list */

/* Instead of the C library's. */
struct passwd *getpwent(void)
{
	static struct passwd entry;
	entry.pw_name = listed_user;
	listed_user = NULL;
	return entry.pw_name ? &entry : NULL;
}

/* A name may come from a foreign directory. */
Test(cli_filter, a_suggested_name_cannot_control_the_terminal)
{
	char name[] = "alice\033[";
	listed_user = name;
	cr_expect(eq(str, (char *)(uintptr_t)wrong_user("alcie["),
		     "there is no such user: 'alcie['. Did you mean 'alice?['?"));
}

Test(cli_filter, known_words_are_listed)
{
	cr_expect(eq(str, (char *)(uintptr_t)wrong_choice("limit", "joyjoyjoy", " builds weight"),
		     "there is no such limit: 'joyjoyjoy'. It is one of: builds weight"));
}
