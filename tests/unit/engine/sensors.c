/* The thread that reads sensors, and its end. The management library is invented. */
#include "process/sensors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

static sem_t has_begun, may_end, has_ended;
static atomic_bool hangs, is_gone;
static pthread_key_t end_key;

/* The thread's last step takes a moment, so that whoever does not wait for it is found. */
static void on_thread_end(void *value)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	(void)value;
	(void)nanosleep(&moment, NULL);
	atomic_store(&is_gone, true);
	(void)sem_post(&has_ended);
}

int backend_sensors_read(const char *library, const uint8_t uuid[16],
			 struct backend_sensors *sensors_out, char reason_out[SENSORS_REASON_BYTES])
{
	(void)library;
	(void)uuid;
	*sensors_out = (struct backend_sensors){.total_bytes = 0};
	reason_out[0] = '\0';
	(void)pthread_setspecific(end_key, &end_key);
	(void)sem_post(&has_begun);
	if (atomic_load(&hangs))
		(void)sem_wait(&may_end);
	return 0;
}

static struct sensors *start_reading(void)
{
	static const uint8_t uuid[16] = {1};
	struct sensors *sensors = NULL;
	struct backend_sensors read;
	char reason[SENSORS_REASON_BYTES];
	(void)sem_init(&has_begun, 0, 0);
	(void)sem_init(&may_end, 0, 0);
	(void)sem_init(&has_ended, 0, 0);
	cr_assert(eq(int, pthread_key_create(&end_key, on_thread_end), 0));
	cr_assert(eq(int, sensors_create(&sensors), 0));
	(void)sensors_of(sensors, uuid, &read, reason);
	(void)sem_wait(&has_begun);
	return sensors;
}

Test(engine_sensors, the_thread_has_ended_when_they_are_freed)
{
	struct sensors *sensors = start_reading();
	(void)sensors_free(sensors);
	cr_expect(atomic_load(&is_gone));
}

Test(engine_sensors, a_library_that_does_not_return_does_not_stop_the_engine)
{
	atomic_store(&hangs, true);
	struct sensors *sensors = start_reading();
	(void)sensors_free(sensors);
	cr_expect(not(atomic_load(&is_gone)));
	(void)sem_post(&may_end);
	(void)sem_wait(&has_ended);
}
