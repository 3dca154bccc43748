/* The engine's double as the standby. */
#include "supervisor/engine_double.h"

#include "control.pb-c.h"
#include "packet.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

void become(uid_t uid, gid_t gid)
{
	if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		exit(8);
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		exit(9);
}

static void say_standby_ready(void)
{
	Sycl__V1__StandbyReady ready = SYCL__V1__STANDBY_READY__INIT;
	ready.pid = (uint32_t)getpid();
	ready.version = (char *)(uintptr_t)(manner("outdated") ? "0.0.0" : SYCLD_VERSION);
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	control.body_case = SYCL__V1__CONTROL__BODY_STANDBY_READY;
	control.standby_ready = &ready;
	say(&control, NULL, 0);
}

void stand_by(unsigned long *warm_out, long *prepared_out)
{
	struct decode_arena arena;
	ProtobufCMessage *message = NULL;
	if (manner("unable"))
		exit(12);
	if (manner("useless"))
		exit(5);
	if (decode_arena_init(&arena, DECODE_BYTES_MAX) < 0)
		exit(10);
	*prepared_out = 0;
	for (;;) {
		if (message_receive(me.control, &sycl__v1__control__descriptor, &arena, &message,
				    NULL, 0) <= 0)
			exit(0);
		const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
		if (control->body_case == SYCL__V1__CONTROL__BODY_STANDBY_PREPARE) {
			if (control->standby_prepare->n_devices == 1)
				*prepared_out = (long)control->standby_prepare->devices[0]->devices;
			say_standby_ready();
			continue;
		}
		if (manner("forbidden"))
			exit(6);
		while (manner("undecided"))
			(void)pause();
		if (control->body_case != SYCL__V1__CONTROL__BODY_ADOPT || manner("unwilling"))
			exit(11);
		if (control->adopt->change_user)
			become(control->adopt->uid, control->adopt->gid);
		*warm_out = control->adopt->open_devices;
		break;
	}
	decode_arena_fini(&arena);
}
