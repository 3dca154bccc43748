#include "sample.h"

#include "clock.h"
#include "names.h"
#include "protocol_limits.h"

#include <stdlib.h>
#include <time.h>

enum { TIMEOUT_MS = 3000 };

static int ask_accounts(struct sample *sample, const char *directory, uint32_t by,
			struct answer *answer_out)
{
	Sycl__V1__AccountsQuery query = SYCL__V1__ACCOUNTS_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	query.by = by;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS;
	request.accounts = &query;
	return status_request(directory, &request, TIMEOUT_MS, answer_out, sample->problem,
			      sizeof(sample->problem));
}

static int sample_ask_service(struct sample *sample, const char *directory)
{
	Sycl__V1__StatusQuery query = SYCL__V1__STATUS_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_STATUS;
	request.status = &query;
	int r = status_request(directory, &request, TIMEOUT_MS, &sample->status, sample->problem,
			       sizeof(sample->problem));
	if (r == 0)
		r = ask_accounts(sample, directory, ACCOUNTS_BY_USER | ACCOUNTS_BY_DEVICE,
				 &sample->by_user);
	if (r == 0)
		r = ask_accounts(sample, directory,
				 ACCOUNTS_BY_USER | ACCOUNTS_BY_SESSION | ACCOUNTS_BY_DEVICE,
				 &sample->by_session);
	return r;
}

struct sample *sample_take(const char *runtime_directory)
{
	struct timespec now;
	struct sample *sample = calloc(1, sizeof(*sample));
	if (!sample)
		return NULL;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	sample->asked_unix_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	sample->asked_ns = clock_now_ns();
	sample->is_up = sample_ask_service(sample, runtime_directory) == 0;
	sample->took_ns = clock_now_ns() - sample->asked_ns;
	return sample;
}

struct sample *sample_free(struct sample *sample)
{
	if (!sample)
		return NULL;
	answer_free(&sample->status);
	answer_free(&sample->by_user);
	answer_free(&sample->by_session);
	free(sample);
	return NULL;
}
