/*
 * Names in [shares] that the user database does not know: most likely misspelt, so the user who was
 * meant has no share. They are no error of the file, as a user may be made later: they are told in
 * the log at the start and at each reload, and by `sycld --check-config`.
 */
#ifndef SYCLD_SUPERVISOR_SHARE_NAMES_H
#define SYCLD_SUPERVISOR_SHARE_NAMES_H

struct configuration_shares;

/* Look for them without waiting, and log what there is. */
void share_names_review(const struct configuration_shares *shares);

#endif
