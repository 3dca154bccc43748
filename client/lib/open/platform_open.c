/* Opening a platform: what is requested, then the connection behind it. */
#include "open/client.h"

#include "clock.h"
#include "platform/platform.h"
#include "connection/copy_threads.h"
#include "connection/helpers.h"
#include "base/session_rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_TIMEOUT_NS 10000000000ull
/* The sizes of the structure in earlier versions. */
#define OPEN_OPTIONS_BYTES_FIRST  offsetof(struct sycl_open_options, session_class)
#define OPEN_OPTIONS_BYTES_SECOND offsetof(struct sycl_open_options, copy_threads)

/* The endpoint that the caller named, else that of the environment, else NULL. */
static sycl_result endpoint_wanted(const char *given, const char **endpoint_out)
{
	const char *text = given ? NULL : secure_getenv("SYCLD_ENDPOINT");
	*endpoint_out = text && *text ? text : given;
	if (!text || !*text || connection_endpoint_is_valid(text))
		return SYCL_SUCCESS;
	return error_set(
		SYCL_ERROR_INVALID,
		"SYCLD_ENDPOINT in the environment is '%.64s', neither \"unix:PATH\" nor \"embedded:\"",
		text);
}

static sycl_result endpoint_check_wanted(uint32_t given, bool *check_out)
{
	const char *text = secure_getenv("SYCLD_CHECK");
	*check_out = given || (text && strcmp(text, "1") == 0);
	if (given || !text || !*text || strcmp(text, "0") == 0 || *check_out)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID, "SYCLD_CHECK in the environment is neither 0 nor 1");
}

/* Members beyond the structure's size are not read. */
static sycl_result open_request_from_options(const struct sycl_open_options *options,
					     struct open_request *request)
{
	const uint32_t bytes = options ? options->struct_bytes : OPEN_OPTIONS_BYTES_FIRST;
	if (bytes != OPEN_OPTIONS_BYTES_FIRST && bytes != OPEN_OPTIONS_BYTES_SECOND &&
	    bytes != sizeof(*options))
		return error_set(SYCL_ERROR_INVALID, "options: struct_bytes is wrong; start from "
						     "SYCL_OPEN_OPTIONS_INIT");
	if (options && options->helper_threads > HELPERS_MAX)
		return error_set(SYCL_ERROR_INVALID,
				 "%u helper threads were requested; at most %u are allowed",
				 options->helper_threads, HELPERS_MAX);
	if (bytes == sizeof(*options) && options->check > 1)
		return error_set(SYCL_ERROR_INVALID, "options: check is %u, neither 0 nor 1",
				 options->check);
	if (options && options->timeout_ns)
		request->deadline_ns = clock_deadline_ns(options->timeout_ns);
	if (options)
		request->name = options->name;
	request->helper_threads = options ? options->helper_threads : 0;
	bool has_rank = bytes >= OPEN_OPTIONS_BYTES_SECOND, has_copies = bytes == sizeof(*options);
	sycl_result result = session_class_wanted(has_rank ? options->session_class : 0,
						  &request->session_class);
	if (!result)
		result = session_weight_wanted(has_rank ? options->weight : 0, &request->weight);
	if (!result)
		result = copy_threads_wanted(has_copies ? options->copy_threads : 0,
					     &request->copy_threads);
	if (!result)
		result = endpoint_check_wanted(has_copies ? options->check : 0, &request->check);
	return result;
}

SYCL_API sycl_result sycl_platform_open_with(const char *endpoint,
					     const struct sycl_open_options *options,
					     sycl_platform *platform_out)
{
	struct open_request request = {.deadline_ns = clock_deadline_ns(OPEN_TIMEOUT_NS)};
	REQUIRE_OUTPUT(platform_out);
	sycl_result result = open_request_from_options(options, &request);
	if (!result)
		result = endpoint_wanted(endpoint, &request.endpoint);
	if (result)
		return result;
	struct connection *c = NULL;
	result = client_open(&request, &c);
	if (result)
		return result;
	struct platform *platform = platform_new(c, INDEX_UNRESOLVED);
	if (!platform) {
		connection_unref(c);
		return error_no_memory();
	}
	c->root = platform;  /* no other thread has the connection yet */
	connection_unref(c); /* the platform holds it now */
	result = object_give(&platform->object);
	if (!result)
		*platform_out = handle_of(&platform->object);
	object_unref(&platform->object);
	return result;
}

SYCL_API sycl_result sycl_platform_open(const char *endpoint, sycl_platform *platform_out)
{
	return sycl_platform_open_with(endpoint, NULL, platform_out);
}
