#include "opencl/program/growth.h"

#include "opencl/program/program.h"

#include <string.h>

static uint64_t opencl_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool growth_is_of(const struct opencl_growth *growth, const char *name, uint32_t variant,
			 const size_t *local)
{
	return growth->variant == variant &&
	       memcmp(growth->local, local, sizeof(growth->local)) == 0 &&
	       strcmp(growth->name, name) == 0;
}

static int find_growth(struct backend_kernel *kernel, uint32_t variant, const size_t *local,
		       struct opencl_growth **growth_out)
{
	struct backend_program *program = kernel->program;
	struct opencl_growth *growth = kernel->growth;

	if (!growth || !growth_is_of(growth, kernel->name, variant, local))
		for (growth = program->growths;
		     growth && !growth_is_of(growth, kernel->name, variant, local);)
			growth = growth->next;
	if (!growth) {
		growth = calloc(1, sizeof(*growth));
		if (!growth || !(growth->name = strdup(kernel->name))) {
			free(growth);
			return -ENOMEM;
		}
		growth->variant = variant;
		memcpy(growth->local, local, sizeof(growth->local));
		growth->next = program->growths;
		program->growths = growth;
	}
	kernel->growth = *growth_out = growth;
	return 0;
}

int opencl_growth_find(struct backend_kernel *kernel, const struct opencl_geometry *geometry,
		       struct opencl_growth_user *user_out)
{
	size_t local[3] = {1, 1, 1}, global[3] = {1, 1, 1};

	*user_out = (struct opencl_growth_user){.growth = NULL};
	/* The application's own programs are excluded, because the application launches their
	 * kernels, too. */
	if (!kernel->program->device->compiles_each_size || kernel->is_native ||
	    !geometry->has_local)
		return 0;
	memcpy(local, geometry->local, geometry->dimensions * sizeof(size_t));
	memcpy(global, geometry->global, geometry->dimensions * sizeof(size_t));
	const uint64_t plane = opencl_larger(global[0], global[1]);
	user_out->need = (struct opencl_growth_need){
		.width_pocl = opencl_larger(plane, local[2] * local[2]),
		.width = opencl_larger(plane, global[2]),
		.some_offset = geometry->has_offset,
		.some_without = !geometry->has_offset,
	};
	return find_growth(kernel, opencl_program_variant(kernel->program, geometry->dimensions),
			   local, &user_out->growth);
}

void opencl_growth_merge(struct opencl_growth_need *need, const struct opencl_growth_need *more)
{
	need->width_pocl = opencl_larger(need->width_pocl, more->width_pocl);
	need->width = opencl_larger(need->width, more->width);
	need->some_offset |= more->some_offset;
	need->some_without |= more->some_without;
}

static void forget_leader(const struct opencl_library *cl, struct opencl_growth *growth)
{
	if (growth->leader)
		(void)cl->ReleaseEvent(growth->leader);
	growth->leader = NULL;
}

/* Checks whether the leader has ended. A leader that failed has prepared nothing. */
static void poll_leader(const struct opencl_library *cl, struct opencl_growth *growth)
{
	cl_int state = CL_QUEUED;

	if (!growth->leader)
		return;
	cl_int code = cl->GetEventInfo(growth->leader, CL_EVENT_COMMAND_EXECUTION_STATUS,
				       sizeof(state), &state, NULL);
	if (code == CL_SUCCESS && state > CL_COMPLETE)
		return;
	growth->is_known &= code == CL_SUCCESS && state == CL_COMPLETE;
	forget_leader(cl, growth);
}

static bool growth_is_served(const struct backend_device *device,
			     const struct opencl_growth *growth,
			     const struct opencl_growth_need *need)
{
	return growth->is_known &&
	       growth->epoch == device->growth_leaders / OPENCL_GROWTH_LEADERS &&
	       need->width_pocl <= growth->served.width_pocl &&
	       need->width <= growth->served.width &&
	       (!need->some_offset || growth->served.some_offset) &&
	       (!need->some_without || growth->served.some_without);
}

bool opencl_growth_is_served(const struct backend_device *device,
			     const struct opencl_growth_user *user)
{
	poll_leader(device->cl, user->growth);
	return growth_is_served(device, user->growth, &user->need);
}

void opencl_growth_led(struct backend_device *device, const struct opencl_growth_user *user,
		       cl_event event)
{
	struct opencl_growth *growth = user->growth;

	forget_leader(device->cl, growth);
	device->growth_leaders++;
	growth->epoch = device->growth_leaders / OPENCL_GROWTH_LEADERS;
	growth->served = user->need;
	/* If a command has launches with and without an offset, the last of them decides which
	 * preparation is first. So the next launch leads again. */
	growth->is_known = !(user->need.some_offset && user->need.some_without);
	if (device->cl->RetainEvent(event) == CL_SUCCESS)
		growth->leader = event;
	else
		growth->is_known = false;
}

void opencl_growths_free(struct backend_program *program)
{
	while (program->growths) {
		struct opencl_growth *growth = program->growths;
		program->growths = growth->next;
		forget_leader(program->device->cl, growth);
		free(growth->name);
		free(growth);
	}
}
