#include "exporter/answers.h"

#include "protocol_limits.h"

static struct {
	struct sample sample;
	Sycl__V1__AdminReply status, by_user, by_session;
	Sycl__V1__ServiceFacts service;
	Sycl__V1__KnownDevice device;
	Sycl__V1__DeviceFacts facts;
	Sycl__V1__DevicePresent present, *present_list[1];
	Sycl__V1__DeviceSensors sensors;
	Sycl__V1__EngineFacts engines[2];
	Sycl__V1__SessionFacts sessions[2];
	Sycl__V1__AccountFacts accounts[2];
	Sycl__V1__Usage usage;
	Sycl__V1__ShareFacts shares[2];
	Sycl__V1__AccountRow rows[2], fault_row, session_row;
	Sycl__V1__DeviceUsage used[3], fault_used;
	uint32_t uids[2];
	Sycl__V1__KnownDevice *device_list[1];
	Sycl__V1__EngineFacts *engine_list[2];
	Sycl__V1__SessionFacts *session_list[2];
	Sycl__V1__AccountFacts *account_list[2];
	Sycl__V1__ShareFacts *share_list[2];
	Sycl__V1__AccountRow *row_list[3], *session_row_list[1];
} a;

static void make_use(Sycl__V1__DeviceUsage *used, Sycl__V1__AccountRow *row, uint32_t uid)
{
	sycl__v1__device_usage__init(used);
	sycl__v1__account_row__init(row);
	used->backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	used->commands = 7;
	used->device_ns = 2500000000;
	used->bytes_to_device = 4096;
	row->uid = uid;
	row->used = used;
	row->delays = 3;
	row->delay_p50_ns = 1500000;
	row->delay_p99_ns = 20000000;
}

static void make_user(int i, uint32_t uid)
{
	sycl__v1__engine_facts__init(&a.engines[i]);
	sycl__v1__session_facts__init(&a.sessions[i]);
	sycl__v1__account_facts__init(&a.accounts[i]);
	sycl__v1__share_facts__init(&a.shares[i]);
	a.uids[i] = uid;
	a.engines[i].uid = a.sessions[i].uid = a.accounts[i].uid = a.shares[i].uid = uid;
	a.engines[i].engine_pid = 100 + (uint32_t)i;
	a.engines[i].reported = true;
	a.engines[i].resident_bytes = 1 << 20;
	a.sessions[i].session = 11 + (uint64_t)i;
	a.sessions[i].phase = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	a.sessions[i].command = (char *)(uintptr_t)HOSTILE_NAME;
	a.sessions[i].delays = 4;
	a.sessions[i].delay_p50_ns = 250000000;
	a.sessions[i].delay_p99_ns = 1500000000 - (uint64_t)i * 500000000;
	a.sessions[i].usage = a.accounts[i].usage = &a.usage;
	a.accounts[i].engines_failed = (uint64_t)i;
	a.shares[i].backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	a.shares[i].min_percent = 25;
	a.shares[i].max_percent = 75;
	a.shares[i].granted_permille = 500;
	a.engine_list[i] = &a.engines[i];
	a.session_list[i] = &a.sessions[i];
	a.account_list[i] = &a.accounts[i];
	a.share_list[i] = &a.shares[i];
	a.row_list[i] = &a.rows[i];
	make_use(&a.used[i], &a.rows[i], uid);
}

static void make_device(void)
{
	sycl__v1__known_device__init(&a.device);
	sycl__v1__device_facts__init(&a.facts);
	a.facts.name = (char *)(uintptr_t)HOSTILE_NAME;
	a.facts.device = 3; /* it is the first device of its backend all the same */
	a.facts.available = true;
	a.facts.global_mem_bytes = 1ull << 30;
	a.device.facts = &a.facts;
	a.device.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	a.device.n_uids = 2;
	a.device.uids = a.uids;
	a.device_list[0] = &a.device;
	sycl__v1__device_present__init(&a.present);
	sycl__v1__device_sensors__init(&a.sensors);
	a.present.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	a.present.busy_permille = 250;
	a.present.sensors = &a.sensors;
	a.sensors.power_milliwatts = 61500;
	a.sensors.temperature_celsius = 40;
	a.sensors.sm_occupancy_known = true;
	a.sensors.sm_occupancy_permille = 137;
	a.present_list[0] = &a.present;
}

static void make_status(void)
{
	sycl__v1__admin_reply__init(&a.status);
	sycl__v1__service_facts__init(&a.service);
	a.service.pid = 42;
	a.service.version = (char *)(uintptr_t) "0.1.0";
	a.service.mode = SYCL__V1__SERVICE_MODE__SERVICE_MODE_SYSTEM;
	a.service.standby_pid = 77;
	a.status.service = &a.service;
	a.status.n_devices = 1;
	a.status.n_present = 1;
	a.status.present = a.present_list;
	a.status.devices = a.device_list;
	a.status.n_engines = a.status.n_sessions = a.status.n_accounts = a.status.n_shares = 2;
	a.status.engines = a.engine_list;
	a.status.sessions = a.session_list;
	a.status.accounts = a.account_list;
	a.status.shares = a.share_list;
}

struct sample *answers_sample(void)
{
	sycl__v1__usage__init(&a.usage);
	a.usage.buffer_bytes = 512;
	a.usage.groups_completed = 9;
	make_user(0, ALICE);
	make_user(1, BOB);
	make_device();
	make_status();
	make_use(&a.used[2], &a.session_row, ALICE);
	a.session_row.session = 11;
	a.session_row.command = (char *)(uintptr_t) "heat";
	/* Faults are in a row without a device. */
	make_use(&a.fault_used, &a.fault_row, BOB);
	sycl__v1__device_usage__init(&a.fault_used);
	a.fault_row.faults = 2;
	a.row_list[2] = &a.fault_row;
	sycl__v1__admin_reply__init(&a.by_user);
	a.by_user.n_account_rows = 3;
	a.by_user.account_rows = a.row_list;
	a.by_user.accounts_by = 5;
	sycl__v1__admin_reply__init(&a.by_session);
	a.session_row_list[0] = &a.session_row;
	a.by_session.n_account_rows = 1;
	a.by_session.account_rows = a.session_row_list;
	a.by_session.accounts_by = 13;
	a.by_user.service = a.by_session.service = &a.service;
	a.sample = (struct sample){.asked_ns = 1000000000000,
				   .asked_unix_ms = 1700000000000,
				   .is_up = true,
				   .status.reply = &a.status,
				   .by_user.reply = &a.by_user,
				   .by_session.reply = &a.by_session};
	return &a.sample;
}

void answers_later(struct sample *sample, uint64_t ns, uint64_t alice_ns, uint64_t bob_ns)
{
	sample->asked_ns += ns;
	sample->asked_unix_ms += ns / 1000000;
	a.used[0].device_ns += alice_ns;
	a.used[2].device_ns += alice_ns;
	a.used[1].device_ns += bob_ns;
}
