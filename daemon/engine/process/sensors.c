#include "process/sensors.h"

#include "cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SENSORS_DEVICES = 64, END_SECONDS = 1 };

struct reading {
	uint8_t uuid[16];
	bool is_wanted, is_read;
	struct backend_sensors sensors;
	char reason[SENSORS_REASON_BYTES];
};

struct sensors {
	pthread_t thread;
	pthread_mutex_t lock; /* guards all later members; no other lock is taken inside it */
	pthread_cond_t changed;
	bool quits;
	uint32_t count;
	struct reading readings[SENSORS_DEVICES];
};

/* Returns a device that must be read. SENSORS_DEVICES: there is none. */
static uint32_t sensors_next_wanted(const struct sensors *sensors)
{
	for (uint32_t i = 0; i < sensors->count; i++)
		if (sensors->readings[i].is_wanted)
			return i;
	return SENSORS_DEVICES;
}

/* Called with the lock, which is released while the library reads. */
static void sensors_read_device(struct sensors *sensors, uint32_t at)
{
	struct reading *reading = &sensors->readings[at];
	struct reading fresh = {.reason = ""};
	memcpy(fresh.uuid, reading->uuid, sizeof(fresh.uuid));
	reading->is_wanted = false;
	(void)pthread_mutex_unlock(&sensors->lock);
	(void)backend_sensors_read(NULL, fresh.uuid, &fresh.sensors, fresh.reason);
	(void)pthread_mutex_lock(&sensors->lock);
	reading->sensors = fresh.sensors;
	memcpy(reading->reason, fresh.reason, sizeof(reading->reason));
	reading->is_read = true;
}

static void *run_sensors(void *object)
{
	struct sensors *sensors = object;
	(void)pthread_mutex_lock(&sensors->lock);
	while (!sensors->quits) {
		uint32_t at = sensors_next_wanted(sensors);
		if (at < SENSORS_DEVICES)
			sensors_read_device(sensors, at);
		else
			(void)pthread_cond_wait(&sensors->changed, &sensors->lock);
	}
	(void)pthread_mutex_unlock(&sensors->lock);
	(void)pthread_mutex_destroy(&sensors->lock);
	(void)pthread_cond_destroy(&sensors->changed);
	free(sensors);
	return NULL;
}

int sensors_create(struct sensors **sensors_out)
{
	CLEANUP(free_pointer) struct sensors *sensors = calloc(1, sizeof(*sensors));
	sigset_t all, before;
	if (!sensors)
		return -ENOMEM;
	(void)pthread_mutex_init(&sensors->lock, NULL);
	(void)pthread_cond_init(&sensors->changed, NULL);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&sensors->thread, NULL, run_sensors, sensors);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return -error;
	*sensors_out = TAKE(sensors);
	return 0;
}

struct sensors *sensors_free(struct sensors *sensors)
{
	if (!sensors)
		return NULL;
	(void)pthread_mutex_lock(&sensors->lock);
	sensors->quits = true;
	pthread_t thread = sensors->thread;
	(void)pthread_cond_signal(&sensors->changed);
	(void)pthread_mutex_unlock(&sensors->lock);
	struct timespec until;
	/* ThreadSanitizer does not know the call that takes a clock. */
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_SECONDS;
	if (pthread_timedjoin_np(thread, NULL, &until) != 0)
		(void)pthread_detach(thread);
	return NULL;
}

static struct reading *sensors_find_reading(struct sensors *sensors, const uint8_t uuid[16])
{
	for (uint32_t i = 0; i < sensors->count; i++)
		if (memcmp(sensors->readings[i].uuid, uuid, 16) == 0)
			return &sensors->readings[i];
	if (sensors->count == SENSORS_DEVICES)
		return NULL;
	struct reading *reading = &sensors->readings[sensors->count++];
	memcpy(reading->uuid, uuid, 16);
	return reading;
}

bool sensors_of(struct sensors *sensors, const uint8_t uuid[16],
		struct backend_sensors *sensors_out, char reason_out[SENSORS_REASON_BYTES])
{
	bool is_read = false;
	(void)pthread_mutex_lock(&sensors->lock);
	struct reading *reading = sensors_find_reading(sensors, uuid);
	if (reading) {
		is_read = reading->is_read;
		*sensors_out = reading->sensors;
		memcpy(reason_out, reading->reason, SENSORS_REASON_BYTES);
		reading->is_wanted = true;
		(void)pthread_cond_signal(&sensors->changed);
	}
	(void)pthread_mutex_unlock(&sensors->lock);
	return is_read;
}
