/*
 * The answer to a client if the service cannot query the user database because no thread starts.
 * That happens if a user's code uses all processes of the service's unit.
 */
#include "account/tenant_identity.h"
#include "account/tenant_forget.h"
#include "base/log.h"
#include "base/user_lookup.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* The linker replaces the C library's function by it. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context)
{
	(void)thread;
	(void)attributes;
	(void)run;
	(void)context;
	return EAGAIN;
}

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	(void)level;
	(void)topic;
	(void)format;
}

bool user_question_needs_database(const struct user_question *question)
{
	(void)question;
	return true;
}

void user_question_answer(const struct user_question *question, struct user_answer *answer_out)
{
	(void)question;
	memset(answer_out, 0, sizeof(*answer_out));
}

void tenants_merge_unknown(const struct tenant *newcomer)
{
	(void)newcomer;
}

TestSuite(lookup_threads, .timeout = 20);

Test(lookup_threads, a_thread_that_cannot_start_is_not_said_to_be_a_slow_database)
{
	static struct supervisor supervisor;
	static struct tenant tenant = {.uid = 1000, .supervisor = &supervisor};
	struct refusal refusal = {.text = ""};
	uv_loop_t loop;
	cr_assert(eq(int, uv_loop_init(&loop), 0));
	cr_assert(eq(int, user_lookups_open(&loop), 0));
	cr_expect(lt(int, tenant_identify(&tenant, &refusal), 0));
	cr_expect(eq(int, (int)refusal.code, (int)STATUS_QUOTA));
	cr_expect(ne(ptr, strstr(refusal.text, "cannot start a thread"), NULL), "%s", refusal.text);
	cr_expect(ne(ptr, strstr(refusal.text, "uid 1000"), NULL), "%s", refusal.text);
	cr_expect(eq(ptr, strstr(refusal.text, "does not answer"), NULL), "%s", refusal.text);
	user_lookups_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert(eq(int, uv_loop_close(&loop), 0));
}
