#include "processors.h"

#include "control_group.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

uint32_t processors_allowed(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
	/* More processors than the set has room for. */
	long online = errno == EINVAL ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	return online > 0 ? (uint32_t)online : 1;
}

uint32_t processors_parse_quota(const char *text)
{
	char *quota_end, *period_end;
	errno = 0;
	unsigned long long quota = strtoull(text, &quota_end, 10),
			   period = strtoull(quota_end, &period_end, 10);
	if (errno || quota_end == text || period_end == quota_end || period == 0 ||
	    quota / period >= UINT32_MAX)
		return UINT32_MAX;
	return quota < period ? 1 : (uint32_t)(quota / period);
}

static uint64_t processors_parse_quota_text(const char *text)
{
	uint32_t processors = processors_parse_quota(text);
	return processors == UINT32_MAX ? UINT64_MAX : processors;
}

uint32_t processors_quota(void)
{
	uint64_t least = control_group_least("cpu.max", processors_parse_quota_text);
	return least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
}

bool processors_parse(const char *text, uint32_t *count_out)
{
	char *end = NULL;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long count = strtoul(text, &end, 10);
	if (errno || *end || count < 1 || count > PROCESSORS_MOST)
		return false;
	*count_out = (uint32_t)count;
	return true;
}

uint32_t processors_here(void)
{
	const char *text = secure_getenv(PROCESSORS_VARIABLE);
	uint32_t said = 0;
	if (text && processors_parse(text, &said))
		return said;
	uint32_t allowed = processors_allowed(), quota = processors_quota();
	return allowed < quota ? allowed : quota;
}
