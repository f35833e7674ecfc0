#ifndef GAUGE_H
#define GAUGE_H
int gauge_add(int by);
int gauge_level(void);
void gauge_reset(void);
int gauge_scaled(int factor);
#ifdef GAUGE_SECOND_NAME
int gauge_raise(int by);
#endif
#endif
