/* Sessions that wait until there can be an engine for them. */
#include "engine/tenant_arrivals.h"

#include "account/tenant_forget.h"
#include "account/tenant_identity.h"
#include "base/refusal.h"
#include "engine/placement.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "service/unsettled.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { SESSIONS = 6 };

static struct supervisor supervisor;
static struct tenant tenant = {.supervisor = &supervisor};
static struct session sessions[SESSIONS];
static unsigned placed;
static bool turns_are_long;

uint64_t __wrap_uv_now(const uv_loop_t *loop);

uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
	(void)loop;
	return turns_are_long ? 0 : UINT64_MAX / 2;
}

void tenant_place(struct tenant *of, struct session *session)
{
	(void)of;
	cr_expect(eq(u64, session->id, placed), "they keep their order");
	placed++;
}

bool tenant_settings_are_known(const struct tenant *of)
{
	(void)of;
	return true;
}

void tenant_session_joined(struct tenant *of)
{
	of->session_count++;
}

void tenant_session_left(struct tenant *of, struct session *session)
{
	(void)session;
	of->session_count--;
}

/* Called at the end of each turn that continues sessions. uv_run may run several. */
void tenant_review(struct tenant *of)
{
	static unsigned before;
	(void)of;
	if (turns_are_long)
		cr_expect(eq(uint, placed, before + 1));
	before = placed;
}

void unsettled_add(struct tenant *of, struct engine *engine, struct session *session)
{
	(void)of;
	(void)engine;
	session->since_ns = UINT64_MAX / 2; /* never late */
}

bool session_has_hung_up(const struct session *session)
{
	(void)session;
	return false;
}

struct session *session_free(struct session *session)
{
	(void)session;
	return NULL;
}

void refuse_client(int socket, enum sycl_status code, const char *text)
{
	(void)socket;
	(void)code;
	cr_fatal("%s", text);
}

static void open_arrivals(void)
{
	cr_assert(eq(int, uv_loop_init(&supervisor.loop), 0));
	supervisor.configuration.engine_start_ns = UINT64_MAX;
	TAILQ_INIT(&supervisor.tenants);
	TAILQ_INIT(&tenant.arriving);
	TAILQ_INSERT_TAIL(&supervisor.tenants, &tenant, link);
	arrivals_init(&supervisor);
	for (unsigned i = 0; i < SESSIONS; i++) {
		sessions[i].id = i;
		arrivals_add(&tenant, &sessions[i]);
	}
}

static void close_arrivals(void)
{
	uv_close((uv_handle_t *)&supervisor.arrivals, NULL);
	(void)uv_run(&supervisor.loop, UV_RUN_DEFAULT);
	cr_expect(eq(int, uv_loop_close(&supervisor.loop), 0));
}

TestSuite(arrivals, .init = open_arrivals, .fini = close_arrivals, .timeout = 20);

Test(arrivals, all_go_on_when_there_can_be_an_engine)
{
	arrivals_continue_tenant(&tenant);
	cr_expect(eq(uint, placed, (unsigned)SESSIONS));
	cr_expect(eq(uint, supervisor.arriving_count, 0u));
}

/* With an engine for each session, each starts one. */
Test(arrivals, a_turn_of_the_loop_that_takes_long_continues_with_one)
{
	turns_are_long = true;
	arrivals_continue_tenant(&tenant);
	cr_expect(eq(uint, placed, 1u));
	while (supervisor.arriving_count > 0)
		(void)uv_run(&supervisor.loop, UV_RUN_ONCE);
	cr_expect(eq(uint, placed, (unsigned)SESSIONS));
	cr_expect(eq(uint, tenant.session_count, 0u));
}
