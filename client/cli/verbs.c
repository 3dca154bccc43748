#include "verb.h"

#include "events/events.h"
#include "order/job.h"
#include "order/order.h"
#include "show/show.h"

#include <string.h>

/* Looking for devices may start an engine and load a vendor's driver. */
enum { TIMEOUT_MS = 2000, DISCOVERY_TIMEOUT_MS = 25000 };

#define BIT(option) (1ull << (option))
#define GENERAL     (BIT(OPT_HELP) | BIT(OPT_VERSION) | BIT(OPT_JSON) | BIT(OPT_RUNTIME))
#define QUESTION    (GENERAL | BIT(OPT_WATCH))
#define FILTER      (BIT(OPT_USER) | BIT(OPT_GROUP) | BIT(OPT_DEVICE) | BIT(OPT_SESSION))
#define ORDER       (GENERAL | BIT(OPT_UID) | BIT(OPT_USER) | BIT(OPT_ALL) | BIT(OPT_REASON))

#define WHOSE                                                                                         \
	"WHOSE is SESSION (a number of 'syclctl sessions'), --uid USER or --all. Only root and the\n" \
	"administrators' group may give orders."

static void request_status(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__StatusQuery query = SYCL__V1__STATUS_QUERY__INIT;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_STATUS;
	request->status = &query;
}

static void request_devices(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__DevicesQuery query = SYCL__V1__DEVICES_QUERY__INIT;
	query.discover = true;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_DEVICES;
	request->devices = &query;
}

static void request_sessions(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__SessionsQuery query = SYCL__V1__SESSIONS_QUERY__INIT;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_SESSIONS;
	request->sessions = &query;
}

static void request_version(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__VersionQuery query = SYCL__V1__VERSION_QUERY__INIT;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_VERSION;
	request->version = &query;
}

Sycl__V1__AccountsQuery cli_accounts_query = SYCL__V1__ACCOUNTS_QUERY__INIT;

static void request_accounts(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS;
	request->accounts = &cli_accounts_query;
}

static void request_limits(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__LimitsQuery query = SYCL__V1__LIMITS_QUERY__INIT;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_LIMITS;
	request->limits = &query;
}

Sycl__V1__OrderCommand cli_order = SYCL__V1__ORDER_COMMAND__INIT;

static void request_order(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_ORDER;
	request->order = &cli_order;
}

static void request_jobs(Sycl__V1__AdminRequest *request)
{
	static Sycl__V1__JobsQuery query = SYCL__V1__JOBS_QUERY__INIT;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_JOBS;
	request->jobs = &query;
}

static void request_job(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_JOB;
	request->job = &cli_job;
}

static bool show_ordered(const Sycl__V1__AdminReply *reply)
{
	return show_order(reply, &cli_order);
}

#define ASKS(request, shown, as_json)                                                              \
	.timeout_ms = TIMEOUT_MS, .ask = (request), .show = (shown), .json = (as_json)
#define ORDERS ASKS(request_order, show_ordered, json_order)

const struct verb verbs[] = {
	{"status", NULL, "the service, its devices, tenants and sessions",
	 "A tenant is a user, with an engine. Root and the administrators' group see everything;\n"
	 "others see their own sessions. The first line says what is wrong, if anything is.",
	 QUESTION | FILTER, ASKS(request_status, show_status, json_status)},
	{"devices", NULL, "the devices; starts your engine to list them",
	 "Also the backends that cannot be used, with the reason.", QUESTION | BIT(OPT_DEVICE),
	 .timeout_ms = DISCOVERY_TIMEOUT_MS, .ask = request_devices, .show = show_devices,
	 .json = json_devices},
	{"sessions", NULL, "the connected programs, what they run and what they have used",
	 "Orders take the number of a session.", QUESTION | FILTER,
	 ASKS(request_sessions, show_sessions, json_sessions)},
	{"show", "KIND ID", "everything about one session, device or user",
	 "KIND is session, device or user; ID is a session's number, a device such as cuda:0, or a\n"
	 "user's name or number.",
	 QUESTION, .words = WORDS_KIND_ID, .choice = "session device user",
	 ASKS(request_status, show_one, json_one)},
	{"top", NULL, "the current state on the whole terminal, updated again and again",
	 "Keys: q ends, p pauses, s sorts by the next column, r turns the order, / filters by a\n"
	 "word. With --json, it prints an object in a line each time. --watch sets the interval.",
	 QUESTION | FILTER, .words = WORDS_NONE},
	{"accounts", NULL, "what was used, and how long commands waited",
	 "Over all sessions and engines, and over restarts of the service.",
	 QUESTION | BIT(OPT_BY) | BIT(OPT_UID) | BIT(OPT_USER) | BIT(OPT_CGROUP) | BIT(OPT_DEVICE) |
		 BIT(OPT_JOB),
	 ASKS(request_accounts, show_accounts, json_accounts)},
	{"jobs", NULL, "the jobs of a cluster's manager, and what they may have",
	 "Root, the administrators' group and the jobs' group see all jobs; others see their own.",
	 QUESTION, ASKS(request_jobs, show_jobs, json_jobs)},
	{"kill", "SESSION | --uid UID", "end a session, or a user's engine with all its sessions",
	 "The session's client gets the reason. Its running commands end on their devices, and no\n"
	 "other one begins.",
	 ORDER, WORDS_SESSION, ORDERS},
	{"pause", "WHOSE", "stop reading commands of sessions; those that were read run", WHOSE,
	 ORDER, WORDS_SESSION, ORDERS},
	{"resume", "WHOSE", "end a pause or a drain",
	 "--uid also ends the drain of that user, --all every drain.\n" WHOSE, ORDER, WORDS_SESSION,
	 ORDERS},
	{"drain", "--uid UID | --all", "accept no new sessions",
	 "Present sessions continue until they end. A drain lasts until 'resume', also over a\n"
	 "restart of the service. With --wait the exit status is 0 once no session is left, and 4 if\n"
	 "some are after --timeout.",
	 ORDER | BIT(OPT_WAIT) | BIT(OPT_TIMEOUT), ORDERS},
	{"limit", "NAME=VALUE WHOSE",
	 "change a limit of sycld.conf(5); NAME=default revokes the order",
	 "Besides the limits of sycld.conf(5) there are sessions_per_tenant, share_min and share_max\n"
	 "(of users), in percent. Bytes may be written with K, M, G or T.\n" WHOSE,
	 ORDER, WORDS_LIMIT_SESSION, ORDERS},
	{"job", "ACT NUMBER",
	 "begin, end, suspend or resume a job: what a cluster's manager orders",
	 "ACT is begin, end, suspend or resume. A job is the processes of --uid in the control group\n"
	 "--cgroup. All its sessions have one engine, and --share, --memory, --class and --devices\n"
	 "are for all of them together. With --count the service chooses so many of the devices.\n"
	 "Only root, the administrators' group and the jobs' group may give these orders.",
	 GENERAL | BIT(OPT_UID) | BIT(OPT_USER) | BIT(OPT_CGROUP) | BIT(OPT_SHARE) |
		 BIT(OPT_MEMORY) | BIT(OPT_CLASS) | BIT(OPT_DEVICES) | BIT(OPT_COUNT) |
		 BIT(OPT_REASON),
	 WORDS_CHOICE, JOB_ACTS, ASKS(request_job, show_job_order, json_job_order)},
	{"limits", NULL, "the limits that apply, each from sycld.conf or an order",
	 "An order for a session comes first, then one for its user, then one for all users, then\n"
	 "sycld.conf(5), then the default. Sections of sycld.conf(5) for groups, and for users who have\n"
	 "not connected yet, are listed to operators; others see theirs after their first connection.",
	 QUESTION, ASKS(request_limits, show_all_limits, json_limits)},
	{"events", NULL, "follow faults, orders, engines and sessions as they come",
	 "First the events that the service still has, then each new one, until interrupted; with\n"
	 "--once only the former. Root and the administrators' group see everything; others see\n"
	 "events about them. --json writes one object a line. Yesterday's faults:\n"
	 "  syclctl events --once --since yesterday --kind fault\n"
	 "If the service has started since, this names where its log has them.",
	 GENERAL | BIT(OPT_ONCE) | BIT(OPT_SINCE) | BIT(OPT_KIND) | BIT(OPT_USER) | BIT(OPT_GROUP) |
		 BIT(OPT_SESSION),
	 .words = WORDS_NONE},
	{"trace", "FILE", "record what all sessions send to a device",
	 "The file is written at the end of the time, or at SIGINT. Only root and the\n"
	 "administrators' group may take a trace. With --format chrome it is a timeline for\n"
	 "https://ui.perfetto.dev or chrome://tracing. With --exact the device measures each\n"
	 "command's times, which slows programs down while the trace runs.",
	 GENERAL | BIT(OPT_SECONDS) | BIT(OPT_DEVICE) | BIT(OPT_FORMAT) | BIT(OPT_EXACT),
	 .words = WORDS_FILE},
	{"version", NULL, "the versions of this program and of the service",
	 "With --version alone the same.", QUESTION,
	 ASKS(request_version, show_version, json_version)},
	{"completion", "SHELL", "the completion file for bash, zsh or fish",
	 "Packages install these files. Without a package:\n"
	 "  . <(syclctl completion bash)",
	 BIT(OPT_HELP) | BIT(OPT_VERSION), .words = WORDS_CHOICE, .choice = "bash zsh fish"},
	{"help", "[VERB]", "print this text, or what a verb does and takes",
	 "The same as 'syclctl VERB --help'.", BIT(OPT_HELP) | BIT(OPT_VERSION),
	 .words = WORDS_VERB},
};

const unsigned verb_count = sizeof(verbs) / sizeof(*verbs);

const struct cli_option cli_options[] = {
	{OPT_UID, "uid", "UID", WORDS_UID, NULL,
	 "the sessions of this user, a name or a number; accounts: what this user has used"},
	{OPT_BY, "by", "WHAT[,...]", WORDS_CHOICE, "uid cgroup device session job",
	 "accounts: a row for each uid (the default), cgroup, device, session or job"},
	{OPT_JOB, "job", "N", WORDS_NONE, NULL, "accounts: this job alone"},
	{OPT_SHARE, "share", "MIN[-MAX]", WORDS_NONE, NULL,
	 "job begin: percent of each of its devices' time"},
	{OPT_MEMORY, "memory", "BYTES", WORDS_NONE, NULL,
	 "job begin: the most device memory of all its sessions"},
	{OPT_CLASS, "class", "CLASS", WORDS_CHOICE, JOB_CLASSES,
	 "job begin: the best class of its sessions"},
	{OPT_DEVICES, "devices", "LIST", WORDS_NONE, NULL,
	 "job begin: its devices, such as cuda:0,cuda:1"},
	{OPT_COUNT, "count", "N", WORDS_NONE, NULL, "job begin: choose so many of these devices"},
	{OPT_CGROUP, "cgroup", "PATH", WORDS_NONE, NULL,
	 "accounts: this control group and those inside it; job begin: the job's"},
	{OPT_DEVICE, "device", "DEVICE", WORDS_NONE, NULL,
	 "this device, and what is about it; such as cuda:0"},
	{OPT_USER, "user", "USER", WORDS_UID, NULL,
	 "only what belongs to this user: a name or a number; with orders the same as --uid"},
	{OPT_GROUP, "group", "GROUP", WORDS_NONE, NULL, "only what belongs to users of this group"},
	{OPT_SESSION, "session", "N", WORDS_SESSION, NULL, "this session alone"},
	{OPT_SECONDS, "seconds", "N", WORDS_NONE, NULL,
	 "trace: for how long, 1 to 3600 seconds; the default is 10"},
	{OPT_FORMAT, "format", "FORMAT", WORDS_CHOICE, "text chrome",
	 "trace: text to replay (the default), or chrome: a timeline"},
	{OPT_EXACT, "exact", NULL, WORDS_NONE, NULL,
	 "trace: the device measures each command's times; this costs time"},
	{OPT_ALL, "all", NULL, WORDS_NONE, NULL, "the sessions of all users"},
	{OPT_REASON, "reason", "TEXT", WORDS_NONE, NULL,
	 "the reason of an order, for the log; kill: also for the client"},
	{OPT_WAIT, "wait", NULL, WORDS_NONE, NULL, "drain: return when the last session has ended"},
	{OPT_TIMEOUT, "timeout", "SECONDS", WORDS_NONE, NULL,
	 "drain --wait: return after so many seconds even if sessions are left"},
	{OPT_ONCE, "once", NULL, WORDS_NONE, NULL, "events: do not follow"},
	{OPT_SINCE, "since", "TIME", WORDS_CHOICE, "today yesterday",
	 "events: only later ones than today, yesterday, 2h, 2026-01-31 or '2026-01-31 12:00'"},
	{OPT_KIND, "kind", "KIND", WORDS_CHOICE, EVENT_KINDS, "events: of this kind only"},
	{OPT_JSON, "json", NULL, WORDS_NONE, NULL, "one JSON object instead of text"},
	{OPT_RUNTIME, "runtime-dir", "DIR", WORDS_FOLDER, NULL,
	 "the service in DIR (else the system's, else your own)"},
	{OPT_WATCH, "watch", "SECONDS", WORDS_NONE, NULL,
	 "repeat every so many seconds, until interrupted"},
	{OPT_HELP, "help", NULL, WORDS_NONE, NULL, "what the verb does and takes"},
	{OPT_VERSION, "version", NULL, WORDS_NONE, NULL, "the same as the verb version"},
};

_Static_assert(sizeof(cli_options) / sizeof(*cli_options) < CLI_OPTIONS_MOST, "a bit each");

const unsigned cli_option_count = sizeof(cli_options) / sizeof(*cli_options);

const struct verb *find_verb(const char *name)
{
	for (unsigned i = 0; i < verb_count; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

bool verb_is(const struct verb *verb, const char *name)
{
	return strcmp(verb->name, name) == 0;
}

bool verb_has_option(const struct verb *verb, enum cli_option_number number)
{
	return verb->options >> number & 1;
}
