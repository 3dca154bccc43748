/* TG5: from the start of a program to the end of its first kernel on a GPU, with the program cached
 * and the service running. */
#include "harness/first.h"
#include "harness/mps.h"
#include "harness/pictures.h"
#include "gpu/compare.h"
#include "gpu/place.h"

#include <errno.h>
#include <stdlib.h>

static void side_text(const char *with, uid_t uid, char text_out[GPU_PLACE_BYTES])
{
	struct gpu_place place = {.uid = uid};
	(void)snprintf(place.with, sizeof(place.with), "%s", with);
	gpu_place_write(&place, text_out);
}

static int run_side(enum gpu_side side, const char *text, double *ms_out)
{
	bool is_client = side == GPU_SIDE_SERVICE || side == GPU_SIDE_TWO_USERS;
	return bench_first_kernel(is_client ? "first_gpu_service" : "first_gpu_direct", text,
				  ms_out);
}

static int run_sides(struct gpu_compared *compared, char texts[][GPU_PLACE_BYTES], unsigned first,
		     unsigned run)
{
	int r = 0;
	for (unsigned i = 0; i < GPU_SIDES && r == 0; i++) {
		unsigned side = (first + i) % GPU_SIDES;
		if (compared->sides & 1u << side)
			r = run_side(side, texts[side], &compared->values[side][0][run]);
	}
	return r;
}

static int measure_first_launch(struct bench *bench, struct gpu_compared *compared)
{
	CLEANUP(private_service_cleanup) struct private_service *service = NULL, *both = NULL;
	CLEANUP(mps_cleanup) struct mps *mps = NULL;
	char texts[GPU_SIDES][GPU_PLACE_BYTES];
	compared->runs = bench->runs;
	compared->sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT;
	int r = gpu_service(false, &service);
	if (r == 0 && gpu_users() && (r = gpu_service(true, &both)) == 0)
		compared->sides |= 1u << GPU_SIDE_TWO_USERS;
	if (r == 0 && mps_installed() && mps_start(false, &mps) == 0)
		compared->sides |= 1u << GPU_SIDE_MPS;
	if (r < 0)
		return r;
	side_text(service->endpoint, 0, texts[GPU_SIDE_SERVICE]);
	side_text(both ? both->endpoint : GPU_NOBODY, GPU_OTHER_UID, texts[GPU_SIDE_TWO_USERS]);
	side_text(GPU_NOBODY, 0, texts[GPU_SIDE_DIRECT]);
	side_text(mps ? mps->pipes : GPU_NOBODY, 0, texts[GPU_SIDE_MPS]);
	/* The first runs start engines and servers, and fill the caches. If MPS does not work, the
	 * row continues without it. */
	if (mps &&
	    run_side(GPU_SIDE_MPS, texts[GPU_SIDE_MPS], &compared->values[GPU_SIDE_MPS][0][0]) < 0)
		compared->sides &= ~(1u << GPU_SIDE_MPS);
	for (unsigned i = 0; i < 2 && r == 0; i++)
		r = run_sides(compared, texts, 0, 0);
	if (r == 0)
		gpu_settle(service);
	if (r == 0 && both)
		gpu_settle(both);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = run_sides(compared, texts, run, run);
	return r;
}

static int draw_first_launch(const struct bench *bench, const struct gpu_compared *compared)
{
	static const char *const names[GPU_SIDES] = {
		[GPU_SIDE_SERVICE] = "service",
		[GPU_SIDE_DIRECT] = "direct",
		[GPU_SIDE_MPS] = "mps",
		[GPU_SIDE_TWO_USERS] = "two users",
	};
	struct bench_distribution sides[GPU_SIDES];
	unsigned count = 0;
	for (unsigned side = 0; side < GPU_SIDES; side++)
		if (compared->sides & 1u << side)
			sides[count++] = (struct bench_distribution){
				names[side], compared->values[side][0], compared->runs};
	return bench_picture(bench, "TG5",
			     "start of a program to the end of its first kernel on a gpu", "ms",
			     sides, count);
}

int row_gpu_first(struct bench *bench)
{
	if (!gpu_row_possible(bench, "TG5", 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? measure_first_launch(bench, compared) : -ENOMEM;
	if (r == 0) {
		gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
			   (struct bench_result){.name = "TG5.first_kernel",
						 .unit = "ms",
						 .bound = BENCH_VALUE_AT_MOST,
						 .target = 5,
						 .note = "a process with its own context"});
		gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_MPS,
			   (struct bench_result){
				   .name = "TG5.mps", .unit = "ms", .note = "a process under MPS"});
		gpu_report(bench, compared, 0, GPU_SIDE_TWO_USERS, GPU_SIDE_DIRECT,
			   (struct bench_result){.name = "TG5.two_users",
						 .unit = "ms",
						 .note = "another user's engine runs beside"});
		r = draw_first_launch(bench, compared);
	}
	free(compared);
	return r;
}
