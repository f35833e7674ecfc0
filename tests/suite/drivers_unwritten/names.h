#include <stddef.h>
struct name { char text[24]; size_t length; };
struct page { char text[600]; };
struct all { unsigned char *data; size_t used; };
void name_set(struct name *to, const char *text);
void page_set(struct page *to, const char *text);
void mark(struct name *to);
void stir(struct page *to);
unsigned sum(const char *text);
void name_copy(struct name *to, const char *text);
struct all *load(int file, size_t size);
unsigned first(const unsigned char *block);
