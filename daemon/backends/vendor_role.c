#include "vendor_role.h"

static struct vendor_role current_role;

void vendor_role_set(const struct vendor_role *role)
{
	current_role = *role;
}

const struct vendor_role *vendor_role(void)
{
	return &current_role;
}
