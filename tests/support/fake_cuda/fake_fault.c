/* Faults on demand, and gates that block an operation of a stream until a test opens them. */
#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES 64u

/* Applies to the n-th call of a function, or the n-th launch, from now. */
struct rule {
	char name[48];
	int device; /* of launches; -1: any */
	uint64_t left, times;
	CUresult result;
};

struct gate {
	char name[64];
	bool closed;
	uint64_t holds; /* how many more operations it will block; UINT64_MAX: all */
	unsigned held;
};

static struct rule call_rules[RULES], launch_rules[RULES];
static unsigned call_rule_count, launch_rule_count;
static struct gate gates[RULES];
static unsigned gate_count;
static char missing[RULES][48];
static unsigned missing_count;

void fake_make_sticky(CUresult result)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&fake.sticky, &none, (int)result))
		fake_number_add("faults", 1);
	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		(void)pthread_cond_signal(&stream->work);
	(void)pthread_cond_broadcast(&fake.changed);
}

static CUresult rule_apply(struct rule *rules, unsigned count, const char *name, int device)
{
	for (unsigned i = 0; i < count; i++) {
		struct rule *rule = &rules[i];
		if (!rule->times || (name && strcmp(rule->name, name) != 0) ||
		    (rule->device >= 0 && rule->device != device))
			continue;
		if (--rule->left)
			continue;
		rule->times--;
		rule->left = 1;
		return rule->result;
	}
	return CUDA_SUCCESS;
}

CUresult fake_call_fault(const char *name)
{
	return call_rule_count ? rule_apply(call_rules, call_rule_count, name, -1) : CUDA_SUCCESS;
}

CUresult fake_launch_fault(int device)
{
	return rule_apply(launch_rules, launch_rule_count, NULL, device);
}

bool fake_is_missing(const char *name)
{
	for (unsigned i = 0; i < missing_count; i++)
		if (strcmp(missing[i], name) == 0)
			return true;
	return false;
}

static struct gate *gate_find(const char *name)
{
	for (unsigned i = 0; i < gate_count; i++)
		if (strcmp(gates[i].name, name) == 0)
			return &gates[i];
	return NULL;
}

bool fake_gate_passes(const char *name)
{
	struct gate *gate = gate_count && name ? gate_find(name) : NULL;
	char number[80];

	if (!gate || !gate->closed || !gate->holds)
		return !fake.sticky;
	if (gate->holds != UINT64_MAX)
		gate->holds--;
	(void)snprintf(number, sizeof(number), "held %s", name);
	fake_number_add(number, 1);
	(void)pthread_cond_broadcast(&fake.changed);
	while (gate->closed && !fake.sticky)
		fake_wait_changed();
	fake_number_add(number, -1);
	return !fake.sticky;
}

/* "close NAME [HOW_MANY]", "open NAME" */
static int gate_command(const char *rest)
{
	char action[8], name[64];
	unsigned long long holds = UINT64_MAX;
	int words = sscanf(rest, "%7s %63s %llu", action, name, &holds);

	if (words < 2)
		return -EINVAL;
	struct gate *gate = gate_find(name);
	if (!gate) {
		if (gate_count == RULES)
			return -ENOSPC;
		gate = &gates[gate_count++];
		(void)snprintf(gate->name, sizeof(gate->name), "%s", name);
	}
	gate->closed = strcmp(action, "close") == 0;
	if (!gate->closed && strcmp(action, "open") != 0)
		return -EINVAL;
	gate->holds = holds;
	(void)pthread_cond_broadcast(&fake.changed);
	return 0;
}

/* "fail FUNCTION N RESULT [TIMES]": its n-th call from now fails, and so do the next TIMES - 1
 * calls. */
static int fail_command(const char *rest)
{
	struct rule rule = {.device = -1, .times = 1};
	unsigned long long left, times = 1;
	unsigned result;

	if (sscanf(rest, "%47s %llu %u %llu", rule.name, &left, &result, &times) < 3 || !left)
		return -EINVAL;
	if (call_rule_count == RULES)
		return -ENOSPC;
	rule.left = left;
	rule.times = times;
	rule.result = (CUresult)result;
	call_rules[call_rule_count++] = rule;
	return 0;
}

/* "fault_launch N RESULT [DEVICE]": the n-th launch from now ends with this result. */
static int fault_launch_command(const char *rest)
{
	struct rule rule = {.device = -1, .times = 1};
	unsigned long long left;
	unsigned result;

	if (sscanf(rest, "%llu %u %d", &left, &result, &rule.device) < 2 || !left)
		return -EINVAL;
	if (launch_rule_count == RULES)
		return -ENOSPC;
	rule.left = left;
	rule.result = (CUresult)result;
	launch_rules[launch_rule_count++] = rule;
	return 0;
}

/* "calm": removes faults and gates that were requested and have not taken effect. */
static int calm_command(void)
{
	for (unsigned i = 0; i < call_rule_count; i++)
		call_rules[i].times = 0;
	for (unsigned i = 0; i < launch_rule_count; i++)
		launch_rules[i].times = 0;
	return 0;
}

int fake_fault_command(const char *verb, const char *rest)
{
	if (strcmp(verb, "calm") == 0)
		return calm_command();
	if (strcmp(verb, "gate") == 0)
		return gate_command(rest);
	if (strcmp(verb, "fail") == 0)
		return fail_command(rest);
	if (strcmp(verb, "fault_launch") == 0)
		return fault_launch_command(rest);
	if (strcmp(verb, "lose") == 0) {
		unsigned result = (unsigned)CUDA_ERROR_UNKNOWN;
		(void)sscanf(rest, "%u", &result);
		fake_make_sticky((CUresult)result);
		return 0;
	}
	if (strcmp(verb, "missing") == 0) {
		if (missing_count == RULES || sscanf(rest, "%47s", missing[missing_count]) != 1)
			return -EINVAL;
		missing_count++;
		return 0;
	}
	if (strcmp(verb, "forget") == 0) { /* rules that have not taken effect yet */
		call_rule_count = launch_rule_count = 0;
		return 0;
	}
	return -ENOENT;
}
