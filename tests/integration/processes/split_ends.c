/*
 * Something ends during the parts of a long launch: its client, its session, its engine, its device
 * or its time. No part runs once the end has been reported. A session beside it gets right results,
 * and the next one works.
 */
#include "processes/common.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_split_ends, .timeout = 280);

/* The launches of processes/programs/parts.c on a fake device take seconds each. So the test can
 * act before their end, also on a busy machine. */
#define LAUNCHES "2"
enum { PARTS = 2 * 32, USER = 65530, NEIGHBOUR = 65531 };

static const char configuration[] =
	"[service]\nstandby = no\nslice_us = 50\nengine_idle_seconds = 1\n";

struct scene {
	struct private_service *service;
	json_int_t uid; /* of the session whose launch is in parts */
	struct child batch, beside;
	struct child
		neighbour; /* a session of another user on the same device; only root has one */
	bool has_neighbour;
	pid_t engine;
	json_int_t before; /* parts that were complete before the launch */
	struct footprint base;
};

static json_int_t claimed(const struct scene *scene, const char *what)
{
	return processes_claimed_by(scene->service, scene->uid, what);
}

static void start_user_worker(const struct scene *scene, struct child *worker, json_int_t uid,
			      const char *class, const char *command, const char *option,
			      const char *value)
{
	char text[64], user[24];
	(void)snprintf(text, sizeof(text), "SYCLD_CLASS=%s", class);
	(void)snprintf(user, sizeof(user), "%lld", (long long)uid);
	const char *const environment[] = {text, NULL};
	const char *const arguments[] = {option, value,
					 uid == (json_int_t)geteuid() ? NULL : "--uid", user, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, scene->service->endpoint, command, arguments);
}

static void start_ready(const struct scene *scene, struct child *worker, json_int_t uid,
			const char *class, const char *command)
{
	char line[LINE_BYTES];
	start_user_worker(scene, worker, uid, class, command, "--count", LAUNCHES);
	worker_expect(worker, "ready", line);
}

/* Returns the worker's answer to an order. */
static void order(struct child *worker, const char *what, char line[LINE_BYTES])
{
	cr_assert_eq(child_say(worker, what), 0);
	worker_expect(worker, "result ", line);
}

static void expect_work(struct child *worker)
{
	char line[LINE_BYTES];
	order(worker, "work", line);
	cr_expect(strncmp(line, "result 0 ", strlen("result 0 ")) == 0, "%s", line);
}

static void run_next(const struct scene *scene)
{
	struct child next;
	start_user_worker(scene, &next, scene->uid, "normal", "split", "--count", "3");
	worker_finish(&next);
}

static struct private_service *start_fake_service(const char *more, bool system)
{
	static const char *const options[] = {"--fake-engine", NULL}, *const system_options[] = {
									      "--fake-engine",
									      "--system", NULL};
	struct private_service *service = NULL;
	char text[512];
	(void)snprintf(text, sizeof(text), "%s%s", configuration, more);
	cr_assert_eq(private_service_start(text, system ? system_options : options, &service), 0);
	return service;
}

/* `ends`: the engine will end. Then there is a session of another user, if that is possible. */
static struct scene scene_begin(const char *more, bool ends)
{
	bool system = ends && geteuid() == 0;
	struct scene scene = {.uid = system ? USER : geteuid(), .has_neighbour = system};
	scene.service = start_fake_service(more, system);
	start_ready(&scene, &scene.beside, scene.uid, "latency", "beside");
	if (scene.has_neighbour)
		start_ready(&scene, &scene.neighbour, NEIGHBOUR, "normal", "beside");
	/* The memory that an engine keeps after its first work. */
	run_next(&scene);
	start_ready(&scene, &scene.batch, scene.uid, "best-effort", "parts");
	child_end(&scene.batch);
	cr_assert(private_service_wait_sessions(scene.service, 1 + scene.has_neighbour, SOON));
	scene.engine = private_service_engine(scene.service, scene.uid);
	scene.base = footprint_take(scene.engine);
	return scene;
}

static bool some_parts_have_run(void *context)
{
	const struct scene *scene = context;
	return claimed(scene, "split_parts") >= scene->before + 2;
}

/* From here on it is in its launch, for seconds. */
static void go(struct scene *scene)
{
	start_ready(scene, &scene->batch, scene->uid, "best-effort", "parts");
	scene->before = claimed(scene, "split_parts");
	cr_assert_eq(child_say(&scene->batch, "go"), 0);
	cr_assert(wait_until(some_parts_have_run, scene, SOON), "it is not sent in parts");
}

/* Its end is so far away that some parts have not begun. */
static bool is_in_the_middle(const struct scene *scene)
{
	return claimed(scene, "split_parts") < scene->before + PARTS / 2;
}

/* The engine continues. It has nothing of the launch left, and no part begins any more, whatever
 * else runs. */
static void expect_over(struct scene *scene)
{
	json_int_t parts = claimed(scene, "split_parts");
	run_next(scene);
	expect_work(&scene->beside);
	cr_expect_eq(claimed(scene, "split_parts"), parts, "a part ran after the end was reported");
	worker_finish(&scene->beside);
	cr_assert(private_service_wait_sessions(scene->service, 0, SOON));
	scene->service = private_service_free(scene->service);
}

/* This is repeated as often as it takes: a slow machine may come too late. */
static void end_in_the_middle(struct scene *scene, void (*end)(struct scene *))
{
	uint64_t deadline = clock_deadline_ns(SOON);
	bool in_the_middle = false;
	while (!in_the_middle && clock_now_ns() < deadline) {
		go(scene);
		end(scene);
		in_the_middle = is_in_the_middle(scene);
		expect_work(&scene->beside);
		cr_assert(private_service_wait_sessions(scene->service, 1, SOON),
			  "its session outlives it");
		/* No part of its launches begins any more. */
		if (in_the_middle)
			cr_expect_lt(claimed(scene, "split_parts"), scene->before + PARTS);
		child_end(&scene->batch);
	}
	cr_assert(in_the_middle);
	footprint_expect(&scene->base);
	expect_over(scene);
}

static void kill_client(struct scene *scene)
{
	child_end(&scene->batch);
}

Test(processes_split_ends, N4_N6_a_client_that_is_killed)
{
	struct scene scene = scene_begin("", false);
	end_in_the_middle(&scene, kill_client);
}

static void kill_session(struct scene *scene)
{
	char id[24] = "", answer[ANSWER_BYTES], line[LINE_BYTES];
	json_t *status = private_service_status(scene->service),
	       *sessions = json_object_get(status, "sessions");
	for (size_t i = 0; i < json_array_size(sessions); i++) {
		const json_t *session = json_array_get(sessions, i);
		const char *class = json_string_value(json_object_get(session, "class"));
		if (class && strcmp(class, "best-effort") == 0)
			(void)snprintf(
				id, sizeof(id), "%lld",
				(long long)json_integer_value(json_object_get(session, "id")));
	}
	json_decref(status);
	const char *const words[ORDER_WORDS_MAX] = {"kill", id, "--reason", "too long"};
	cr_assert_eq(processes_order(scene->service, words, answer), 0, "%s", answer);
	worker_expect(&scene->batch, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_CONNECTION_LOST") &&
			  strstr(line, "ended by the operator: too long"),
		  "%s", line);
	worker_finish(&scene->batch);
}

Test(processes_split_ends, N4_a_session_that_an_operator_ends)
{
	struct scene scene = scene_begin("", false);
	end_in_the_middle(&scene, kill_session);
}

/* The engine has ended or is about to, and all parts end with it. */
static void expect_engine_over(struct scene *scene, const char *named, const char *why)
{
	char line[LINE_BYTES];
	worker_expect(&scene->batch, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, named) && strstr(line, why), "%s", line);
	worker_finish(&scene->batch);
	order(&scene->beside, "work", line);
	cr_expect(strncmp(line, "result 0 ", strlen("result 0 ")) != 0,
		  "its engine was the same one");
	worker_finish(&scene->beside);
	run_next(scene);
	cr_expect_neq(private_service_engine(scene->service, scene->uid), scene->engine);
	cr_expect_eq(claimed(scene, "split_parts"), 0);
	cr_assert(wait_until(processes_gone, &scene->engine, SOON), "the engine is still there");
	if (scene->has_neighbour) {
		expect_work(&scene->neighbour);
		worker_finish(&scene->neighbour);
	}
	/* The next engine splits as the former one did. */
	start_ready(scene, &scene->beside, scene->uid, "latency", "beside");
	go(scene);
	child_end(&scene->batch);
	expect_work(&scene->beside);
	worker_finish(&scene->beside);
	cr_assert(private_service_wait_sessions(scene->service, 0, SOON));
	scene->service = private_service_free(scene->service);
}

Test(processes_split_ends, N5_an_engine_that_is_killed)
{
	struct scene scene = scene_begin("", true);
	go(&scene);
	cr_assert_eq(kill(scene.engine, SIGKILL), 0);
	expect_engine_over(&scene, "take_increment_u32", "");
}

/* The loss is reported between two parts. The command at fault is identified, and it is not this
 * one. */
Test(processes_split_ends, M10_a_device_that_is_lost_with_the_process)
{
	char line[LINE_BYTES];
	struct scene scene = scene_begin("", true);
	go(&scene);
	order(&scene.beside, "lose_process", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	expect_engine_over(&scene, "lost the process", "");
}

Test(processes_split_ends, a_device_that_is_lost_alone)
{
	char line[LINE_BYTES];
	struct child elsewhere;
	struct scene scene = scene_begin("", false);
	start_user_worker(&scene, &elsewhere, scene.uid, "normal", "beside", "--device", "1");
	worker_expect(&elsewhere, "ready", line);
	go(&scene);
	order(&scene.beside, "lose_device", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	worker_expect(&scene.batch, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	json_int_t parts = claimed(&scene, "split_parts");
	cr_expect_lt(parts, scene.before + PARTS, "it was not in the middle");
	worker_finish(&scene.batch);
	expect_work(&elsewhere);
	expect_work(&elsewhere);
	cr_expect_eq(claimed(&scene, "split_parts"), parts,
		     "a part ran after the end was reported");
	worker_finish(&scene.beside);
	worker_finish(&elsewhere);
	cr_assert(private_service_wait_sessions(scene.service, 0, SOON));
	/* The device is lost for this engine, which has no session any more. */
	cr_assert(wait_until(processes_gone, &scene.engine, SOON), "the engine is still there");
	run_next(&scene);
	scene.service = private_service_free(scene.service);
}

Test(processes_split_ends, a_deadline_that_passes)
{
	struct scene scene = scene_begin("[limits]\ngroup_seconds = 2\n", true);
	go(&scene);
	expect_engine_over(&scene, "take_increment_u32", "deadline of 2 s");
}
