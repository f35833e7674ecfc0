#ifndef STATE_H
#define STATE_H
#include <stddef.h>
#include <stdint.h>

enum level { LEVEL_LOW = 2, LEVEL_MID = 5, LEVEL_HIGH = 9 };
struct stats { uint8_t kind; uint32_t calls; int64_t total; };

extern int public_limit;

void set_level(enum level to);
int level_bonus(int x);
uint32_t next_id(void);
void note(int64_t amount);
void reset_stats(void);
uint8_t history_push(uint8_t value);
int clamp(int x, int state, int globals);
int64_t note_all(const int16_t *amounts, size_t n);
int64_t total_of(void);
int with_table(unsigned at);
int pure(int x);
int named(int x);
int once(int x);
int first_variable(int x);
#endif
