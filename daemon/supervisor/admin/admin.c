#include "admin/admin.h"

#include "packet_socket.h"
#include "protocol_limits.h"
#include "base/log.h"
#include "base/user_database.h"
#include "base/user_name_lookup.h"
#include "admin/report.h"
#include "status.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

void asker_drop(struct asker *asker)
{
	if (asker->peer)
		sp_drop(asker->peer);
	asker->peer = NULL;
}

void admin_answer(struct asker *asker, const Sycl__V1__AdminReply *reply)
{
	size_t size = sycl__v1__admin_reply__get_packed_size(reply);
	uint8_t *bytes = malloc(size ? size : 1);
	if (bytes)
		(void)sycl__v1__admin_reply__pack(reply, bytes);
	sp_answer(asker->peer, bytes, size);
	asker->peer = NULL;
}

void admin_answer_error(struct asker *asker, int code, const char *text)
{
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	status.code = code;
	status.text = (char *)(uintptr_t)text;
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	reply.error = &status;
	admin_answer(asker, &reply);
}

static void on_admin_request(struct sp_server *server, struct sp_peer *peer, const uint8_t *body,
			     size_t body_bytes)
{
	struct supervisor *supervisor = server->context;
	struct asker asker = {.peer = peer, .uid = sp_peer_uid(peer)};
	const struct admin *admin = supervisor->admin;
	asker.may_order = server == &admin->admin || asker.uid == 0;
	asker.may_manage_jobs =
		asker.may_order || (admin->has_managers && sp_peer_in_group(peer, admin->managers));
	asker.sees_all = asker.may_order ||
			 (admin->has_observers && sp_peer_in_group(peer, admin->observers));

	ProtobufCMessage *unpacked = NULL;
	int r = message_unpack(&sycl__v1__admin_request__descriptor, &supervisor->arena, body,
			       body_bytes, &unpacked);
	if (r < 0) {
		admin_answer_error(&asker, STATUS_INVALID, "the request is malformed");
		return;
	}
	const Sycl__V1__AdminRequest *request = (const Sycl__V1__AdminRequest *)unpacked;
	if (request->protocol >> 16 != PROTOCOL_MAJOR) {
		admin_answer_error(&asker, STATUS_VERSION, "this service speaks protocol 1");
		return;
	}
	report_inquire(supervisor, &asker, request);
}

/* Nothing waits for the user database here. Which uids are users' is known of those that have had a
 * session. */
static void on_admin_connected(struct sp_server *server, int connection, struct uid_place *place)
{
	struct supervisor *supervisor = server->context;
	const struct admin *admin = supervisor->admin;
	const struct tenant *tenant = tenant_find(supervisor, place->uid);
	place->block = uid_block(place->uid, tenant && tenant->was_found);
	place->is_operator =
		place->uid == 0 || server == &admin->admin ||
		(admin->has_observers &&
		 packet_socket_peer_in_group(connection, admin->observers)) ||
		(admin->has_managers && packet_socket_peer_in_group(connection, admin->managers)) ||
		(admin->has_admins && packet_socket_peer_in_group(connection, admin->admins));
	/* For the line of an order. */
	if (place->is_operator)
		user_name_request(place->uid);
}

bool admin_is_operator(const struct supervisor *supervisor, int socket, uid_t uid)
{
	const struct admin *admin = supervisor->admin;
	return uid == 0 ||
	       (admin->has_admins && packet_socket_peer_in_group(socket, admin->admins));
}

static const struct sp_calls admin_calls = {on_admin_request, on_admin_connected};

/* False: there is no such group, or the database has failed, which is logged. */
static bool admin_find_group(const char *name, gid_t *group_out)
{
	int r = user_database_group(name, group_out);
	if (r < 0 && r != -ENOENT)
		log_warning("admin",
			    "group %s cannot be looked up, and its members have no rights: %s",
			    name, strerror(-r));
	return r == 0;
}

/* Lets members of the group use the socket too. An owner may give a file to a group of its own, so
 * CAP_CHOWN is not needed. */
static void socket_give_to_group(const char *path, const char *name, gid_t group)
{
	(void)setfsgid(group);
	if (chown(path, (uid_t)-1, group) < 0)
		log_warning("admin", "%s stays closed to group %s: %s", path, name,
			    strerror(errno));
	(void)setfsgid(getegid());
}

int admin_open(struct supervisor *supervisor)
{
	bool user = supervisor->options.user;
	struct admin *admin = supervisor->admin;
	char path[sizeof(supervisor->directory.path) + sizeof("/" STATUS_SOCKET_NAME)];
	(void)snprintf(path, sizeof(path), "%s/" STATUS_SOCKET_NAME, supervisor->directory.path);
	int r = sp_server_open(&admin->status, &supervisor->loop, path, user ? 0600 : 0666,
			       &admin_calls, supervisor);
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "%s/" ADMIN_SOCKET_NAME,
			       supervisor->directory.path);
		r = sp_server_open(&admin->admin, &supervisor->loop, path, user ? 0600 : 0660,
				   &admin_calls, supervisor);
	}
	if (r < 0) {
		log_error("admin", "cannot listen at %s: %s", path, strerror(-r));
		return r;
	}
	if (!supervisor->privileged)
		return 0;
	admin->has_admins = admin_find_group(supervisor->configuration.admin_group, &admin->admins);
	if (admin->has_admins)
		socket_give_to_group(path, supervisor->configuration.admin_group, admin->admins);
	admin->has_managers =
		admin_find_group(supervisor->configuration.job_group, &admin->managers);
	admin->has_observers =
		admin_find_group(supervisor->configuration.observer_group, &admin->observers);
	return 0;
}

void admin_close(struct supervisor *supervisor)
{
	sp_server_close(&supervisor->admin->status);
	sp_server_close(&supervisor->admin->admin);
}
