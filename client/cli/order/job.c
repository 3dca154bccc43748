#include "order/job.h"

#include "words/operand.h"
#include "words/wrong_word.h"

#include <string.h>

enum { PERCENT = 100, DEVICES_MOST = 64, NUMBER_BYTES = 8 };

static Sycl__V1__JobFacts job_facts = SYCL__V1__JOB_FACTS__INIT;
Sycl__V1__JobCommand cli_job = SYCL__V1__JOB_COMMAND__INIT;

/* Returns the place of the word in the list, counted from 1; 0: it is not there. */
static unsigned place_of_word(const char *word, const char *list)
{
	size_t length = strlen(word);
	unsigned place = 1;
	for (const char *at = list; *at; at += strcspn(at, " "), place++) {
		at += strspn(at, " ");
		if (length > 0 && strcspn(at, " ") == length && memcmp(at, word, length) == 0)
			return place;
	}
	return 0;
}

/* "25" or "25-50" */
static bool parse_share(const char *text)
{
	char least[NUMBER_BYTES];
	uint64_t from = 0, to = PERCENT;
	size_t length = strcspn(text, "-");
	if (length >= sizeof(least))
		return false;
	memcpy(least, text, length);
	least[length] = '\0';
	if (!operand_read_number(least, 0, PERCENT, &from) ||
	    (text[length] && !operand_read_number(text + length + 1, 1, PERCENT, &to)) || from > to)
		return false;
	job_facts.share_least = (uint32_t)from;
	job_facts.share_most = (uint32_t)to;
	return true;
}

static bool read_job_bounds(const struct job_words *job, const char **wrong_out)
{
	uint64_t count = 0;
	*wrong_out = "--share needs MIN or MIN-MAX, percent from 0 to 100";
	if (job->share && !parse_share(job->share))
		return false;
	*wrong_out = "--memory needs bytes; K, M, G and T are allowed";
	if (job->memory && !operand_read_bytes(job->memory, 1, INT64_MAX, &job_facts.memory_bytes))
		return false;
	*wrong_out = "--count needs a number of devices, from 1 to 64";
	if (job->count && !operand_read_number(job->count, 1, DEVICES_MOST, &count))
		return false;
	job_facts.devices_wanted = (uint32_t)count;
	if (job->devices)
		job_facts.devices = (char *)(uintptr_t)job->devices;
	if (!job->class)
		return true;
	job_facts.best_class = (Sycl__V1__SessionClass)place_of_word(job->class, JOB_CLASSES);
	*wrong_out = wrong_choice("class", job->class, JOB_CLASSES);
	return job_facts.best_class != SYCL__V1__SESSION_CLASS__SESSION_CLASS_UNSPECIFIED;
}

static bool read_job_begin(const struct order_words *words, const struct job_words *job,
			   const char **wrong_out)
{
	*wrong_out = "job begin needs --uid USER and --cgroup PATH";
	if (!words->uid || !job->cgroup)
		return false;
	if (!operand_read_user(words->uid, &job_facts.uid, wrong_out))
		return false;
	job_facts.cgroup = (char *)(uintptr_t)job->cgroup;
	return read_job_bounds(job, wrong_out);
}

bool job_read_words(const struct order_words *words, const struct job_words *job,
		    const char **wrong_out)
{
	*wrong_out = "job needs begin, end, suspend or resume, and the job's number";
	if (words->count != ORDER_WORDS)
		return false;
	cli_job.job = &job_facts;
	cli_job.act = (Sycl__V1__JobAct)place_of_word(words->word[0], JOB_ACTS);
	if (cli_job.act == SYCL__V1__JOB_ACT__JOB_ACT_UNSPECIFIED) {
		*wrong_out = wrong_choice("order for a job", words->word[0], JOB_ACTS);
		return false;
	}
	*wrong_out = "a job's number is from 1 on";
	if (!operand_read_number(words->word[1], 1, INT64_MAX, &job_facts.job))
		return false;
	if (words->reason)
		cli_job.reason = (char *)(uintptr_t)words->reason;
	if (cli_job.act == SYCL__V1__JOB_ACT__JOB_ACT_BEGIN)
		return read_job_begin(words, job, wrong_out);
	*wrong_out = "only job begin has --uid, --cgroup, --share, --memory, --class, --devices "
		     "and --count";
	return !words->uid && !job->cgroup && !job->share && !job->memory && !job->class &&
	       !job->devices && !job->count;
}
