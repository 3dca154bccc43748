#include "words/filter.h"

#include "names.h"
#include "users.h"
#include "words/operand.h"
#include "words/wrong_word.h"

#include <string.h>

struct filter cli_filter;

enum { DEVICE_MOST = 63 };

static bool device_word_parse(const char *text, Sycl__V1__Backend *backend_out, uint32_t *index_out)
{
	const char *colon = strchr(text, ':');
	uint64_t index = 0;
	if (!colon || !operand_read_number(colon + 1, 0, DEVICE_MOST, &index))
		return false;
	size_t length = (size_t)(colon - text);
	for (int backend = 1; backend <= SYCL__V1__BACKEND__BACKEND_FAKE; backend++) {
		const char *name = backend_name((Sycl__V1__Backend)backend);
		if (strlen(name) != length || memcmp(text, name, length) != 0)
			continue;
		*backend_out = (Sycl__V1__Backend)backend;
		*index_out = (uint32_t)index;
		return true;
	}
	return false;
}

bool device_word_read(const char *text, Sycl__V1__Backend *backend_out, uint32_t *index_out,
		      const char **wrong_out)
{
	if (device_word_parse(text, backend_out, index_out))
		return true;
	*wrong_out = wrong_device(text);
	return false;
}

bool filter_read(const struct filter_words *words, struct filter *filter_out,
		 const char **wrong_out)
{
	*filter_out = (struct filter){
		.of_user = words->user != NULL,
		.of_group = words->group != NULL,
		.of_device = words->device != NULL,
		.of_session = words->session != NULL,
	};
	if (words->user && !operand_read_user(words->user, &filter_out->uid, wrong_out))
		return false;
	if (words->group && !operand_read_group(words->group, &filter_out->gid, wrong_out))
		return false;
	if (words->device &&
	    !device_word_read(words->device, &filter_out->backend, &filter_out->index, wrong_out))
		return false;
	*wrong_out = "a session is a number of 'syclctl sessions'";
	return !words->session ||
	       operand_read_number(words->session, 1, UINT64_MAX, &filter_out->session);
}

static bool filter_has_user(const struct filter *filter, uint32_t uid)
{
	return (!filter->of_user || uid == filter->uid) &&
	       (!filter->of_group || user_is_in_group(uid, filter->gid));
}

static bool filter_has_device(const struct filter *filter, Sycl__V1__Backend backend,
			      uint32_t index)
{
	return !filter->of_device || (backend == filter->backend && index == filter->index);
}

static bool filter_has_session(const struct filter *filter, const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	if (filter->of_session && session->session != filter->session)
		return false;
	if (filter->of_device &&
	    !(present && filter_has_device(filter, present->backend, present->index)))
		return false;
	return filter_has_user(filter, session->uid);
}

/* True if the engine has a session that is shown. Called only for answers with sessions. */
static bool has_session(const Sycl__V1__AdminReply *reply, uint32_t engine_pid)
{
	for (size_t i = 0; i < reply->n_sessions; i++)
		if (reply->sessions[i]->engine_pid == engine_pid)
			return true;
	return false;
}

static void filter_devices(const struct filter *filter, Sycl__V1__AdminReply *reply)
{
	size_t count = 0;
	for (size_t i = 0; i < reply->n_devices; i++) {
		Sycl__V1__KnownDevice *device = reply->devices[i];
		if (device->facts &&
		    filter_has_device(filter, device->backend, device->facts->backend_index))
			reply->devices[count++] = device;
	}
	reply->n_devices = count;
	count = 0;
	for (size_t i = 0; i < reply->n_present; i++)
		if (filter_has_device(filter, reply->present[i]->backend, reply->present[i]->index))
			reply->present[count++] = reply->present[i];
	reply->n_present = count;
}

static void filter_sessions(const struct filter *filter, Sycl__V1__AdminReply *reply)
{
	size_t count = 0;
	for (size_t i = 0; i < reply->n_sessions; i++)
		if (filter_has_session(filter, reply->sessions[i]))
			reply->sessions[count++] = reply->sessions[i];
	reply->n_sessions = count;
}

static void filter_people(const struct filter *filter, Sycl__V1__AdminReply *reply)
{
	bool by_session = filter->of_session || filter->of_device;
	size_t count = 0;
	for (size_t i = 0; i < reply->n_engines; i++)
		if (filter_has_user(filter, reply->engines[i]->uid) &&
		    (!by_session || has_session(reply, reply->engines[i]->engine_pid)))
			reply->engines[count++] = reply->engines[i];
	reply->n_engines = count;
	count = 0;
	for (size_t i = 0; i < reply->n_accounts; i++)
		if (filter_has_user(filter, reply->accounts[i]->uid) && !by_session)
			reply->accounts[count++] = reply->accounts[i];
	reply->n_accounts = count;
	count = 0;
	for (size_t i = 0; i < reply->n_shares; i++)
		if (filter_has_user(filter, reply->shares[i]->uid) &&
		    filter_has_device(filter, reply->shares[i]->backend, reply->shares[i]->index))
			reply->shares[count++] = reply->shares[i];
	reply->n_shares = count;
}

void filter_apply(const struct filter *filter, Sycl__V1__AdminReply *reply)
{
	filter_sessions(filter, reply);
	filter_people(filter, reply);
	if (filter->of_device)
		filter_devices(filter, reply);
}

/* True if the first rows, which are the user's, have that limit for all the user's sessions. */
static bool has_own_limit(const Sycl__V1__AdminReply *reply, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (reply->limits[i]->session == 0 && strcmp(reply->limits[i]->name, name) == 0)
			return true;
	return false;
}

/* `owner`: "user alice" or "group staff". */
static bool owner_has_user(const char *owner, uint32_t uid)
{
	static const char of_user[] = "user ", of_group[] = "group ";
	const char *name = user_name(uid);
	uint32_t gid = 0;
	if (strncmp(owner, of_user, strlen(of_user)) == 0)
		return name && strcmp(owner + strlen(of_user), name) == 0;
	return strncmp(owner, of_group, strlen(of_group)) == 0 &&
	       group_find(owner + strlen(of_group), &gid) && user_is_in_group(uid, gid);
}

/* True if the limit is the user's own. Sections come after what is in force for a user already, and
 * in the order in which they precede each other. */
static bool is_own_limit(const Sycl__V1__AdminReply *reply, size_t own,
			 const Sycl__V1__LimitFacts *limit, uint32_t uid)
{
	if (!limit->of_user)
		return false;
	if (!*limit->owner)
		return limit->uid == uid;
	return !has_own_limit(reply, own, limit->name) && owner_has_user(limit->owner, uid);
}

void filter_limits(const struct filter *filter, Sycl__V1__AdminReply *reply)
{
	size_t all = reply->n_limits, count = 0;
	/* The user's own limits first: they are not overwritten while those of all are compared.
	 * The others stay in order. */
	for (size_t i = 0; i < all; i++) {
		Sycl__V1__LimitFacts *limit = reply->limits[i];
		if (!is_own_limit(reply, count, limit, filter->uid))
			continue;
		for (size_t k = i; k > count; k--)
			reply->limits[k] = reply->limits[k - 1];
		reply->limits[count++] = limit;
	}
	size_t own = count;
	for (size_t i = own; i < all; i++) {
		Sycl__V1__LimitFacts *limit = reply->limits[i];
		if (!limit->of_user && limit->session == 0 &&
		    !has_own_limit(reply, own, limit->name))
			reply->limits[count++] = limit;
	}
	reply->n_limits = count;
}
