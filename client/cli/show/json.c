#include "json.h"
#include "show/show.h"

#include <stdio.h>

/* Takes the object; NULL: there was no memory for it. */
static bool print_json(json_t *object)
{
	if (!object)
		return false;
	int r = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_DIGITS);
	json_decref(object);
	(void)putchar('\n');
	return r == 0;
}

bool json_status(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_status(reply));
}

bool json_status_and_limits(const Sycl__V1__AdminReply *reply)
{
	json_t *object = json_of_status(reply);
	json_t *limits = reply->n_limits > 0 ? json_of_limits(reply) : json_pack("{s:n}", "limits");
	if (json_object_update_new(object, limits) < 0) {
		json_decref(object);
		return false;
	}
	return print_json(object);
}

bool json_devices(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_devices(reply));
}

bool json_sessions(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_sessions(reply));
}

bool json_order(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_order(reply));
}

bool json_jobs(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_jobs(reply));
}

bool json_job_order(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_job_order(reply));
}

bool json_limits(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_limits(reply));
}

bool json_accounts(const Sycl__V1__AdminReply *reply)
{
	return print_json(json_of_accounts(reply));
}

bool json_version(const Sycl__V1__AdminReply *reply)
{
	json_t *service = json_of_service(reply);
	json_t *object = json_pack("{s:s}", "syclctl", SYCLD_VERSION);
	if (json_object_update_new(object, service) < 0) {
		json_decref(object);
		return false;
	}
	return print_json(object);
}
