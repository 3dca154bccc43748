/* Memory of an NVIDIA GPU, shared between sessions of two users; otherwise as gpu_share.c. */
#include "processes/gpu_share_parties.h"

#include <linux/limits.h>
#include <signal.h>
#include <unistd.h>

enum { GRANTER = 64021, GUEST = 64022 };

static struct fake_service users = FAKE_SERVICE_INIT;

static void start_users(void)
{
	char path[PATH_MAX];
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
	parties.real = parties_have_gpu();
	if (!parties.real &&
	    (build_path("tests", "fake_cuda/libcuda.so.1", path, sizeof(path)) < 0 ||
	     access(path, R_OK) < 0))
		cr_skip_test("SKIPPED: neither an NVIDIA GPU nor the double of its driver");
	parties.worker = parties.second = parties.program =
		(struct party){.child = CHILD_INIT, .socket = -1};
	if (parties.real) {
		parties.service = processes_service(NULL, true);
	} else {
		fake_service_start(&users, "", "", true);
		parties.service = users.service;
	}
	cr_assert(party_start_worker_of(&parties.worker, GRANTER));
	cr_assert(party_start_worker_of(&parties.second, GUEST));
	pid_t granter = private_service_engine(parties.service, GRANTER),
	      guest = private_service_engine(parties.service, GUEST);
	cr_assert(granter > 0 && guest > 0 && granter != guest, "engines %d and %d", (int)granter,
		  (int)guest);
}

static void stop_users(void)
{
	party_end(&parties.worker);
	party_end(&parties.second);
	if (parties.real)
		parties.service = private_service_free(parties.service);
	else
		fake_service_end(&users);
}

/* The descriptor is sufficient, and nothing else is: both read and write, one after the other. */
Test(processes_gpu_share, F10_M10_a_descriptor_grants_another_user_the_buffer_and_nothing_else,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = party_make_and_export("vmm", 21);
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "check 21");
	(void)party_ask(&parties.second, "fill 22");
	(void)party_ask(&parties.second, "check 22");
	(void)party_ask(&parties.worker, "check 22");
	(void)party_ask(&parties.worker, "write 23");
	(void)party_ask(&parties.worker, "check 23");
	(void)party_ask(&parties.second, "check 23");
	/* Only the owner of a buffer may export it, not a session that imported it. */
	party_expect_refused(&parties.second, "INVALID", "export");
	close_fd(&exported.descriptor);
	/* A granted access cannot be withdrawn: it does not end with the owner. */
	(void)party_ask(&parties.worker, "close");
	cr_assert(wait_until(party_is_charged_nothing, &parties.worker, SOON));
	(void)party_ask(&parties.second, "check 23");
	(void)party_ask(&parties.second, "fill 24");
	(void)party_ask(&parties.second, "check 24");
	(void)party_ask(&parties.second, "close");
	cr_assert(wait_until(party_is_charged_nothing, &parties.second, SOON));
}

Test(processes_gpu_share,
     F10_N5_a_granter_that_dies_with_its_engine_leaves_the_memory_to_another_user,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = party_make_and_export("vmm", 31);
	party_import(&parties.second, &exported);
	close_fd(&exported.descriptor);
	(void)party_ask(&parties.worker, "fill-later 32");
	pid_t engine = private_service_engine(parties.service, GRANTER);
	cr_assert_eq(kill(engine, SIGKILL), 0);
	party_end(&parties.worker);
	(void)party_ask(&parties.second, "fill 33");
	(void)party_ask(&parties.second, "check 33");
	(void)party_ask(&parties.second, "close");
	cr_assert(wait_until(party_is_charged_nothing, &parties.second, SOON));
}

Test(processes_gpu_share, F10_N5_a_guest_that_dies_with_its_engine_harms_the_granter_not,
     .init = start_users, .fini = stop_users)
{
	struct exported exported = party_make_and_export("vmm", 41);
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "fill-later 42");
	pid_t engine = private_service_engine(parties.service, GUEST);
	cr_assert_eq(kill(engine, SIGKILL), 0);
	party_end(&parties.second);
	(void)party_ask(&parties.worker, "fill 43");
	(void)party_ask(&parties.worker, "check 43");
	/* The descriptor also works in the next session. */
	cr_assert(party_start_worker_of(&parties.second, GUEST));
	party_import(&parties.second, &exported);
	(void)party_ask(&parties.second, "check 43");
	close_fd(&exported.descriptor);
	(void)party_ask(&parties.second, "close");
	(void)party_ask(&parties.worker, "close");
}
