/* For builds without ncurses, in which no screen can be opened. */
#include "top/screen.h"

bool top_screen_open(void)
{
	return false;
}

void top_screen_close(void)
{
}

void top_screen_draw(const Sycl__V1__AdminReply *reply, const struct top_view *view,
		     const char *note, bool is_paused)
{
	(void)reply;
	(void)view;
	(void)note;
	(void)is_paused;
}

enum top_key top_screen_key(struct top_view *view, int timeout_ms)
{
	(void)view;
	(void)timeout_ms;
	return TOP_KEY_QUIT;
}
