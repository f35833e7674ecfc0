// C++ allocates from the arena, too: a driver may lend its memory to the library.
#include <cstddef>
#include <new>

extern "C" void *implfuzz_of_malloc(std::size_t bytes);
extern "C" void implfuzz_of_free(void *address);

void *operator new(std::size_t bytes)
{
    return implfuzz_of_malloc(bytes);
}

void *operator new[](std::size_t bytes)
{
    return implfuzz_of_malloc(bytes);
}

void operator delete(void *address) noexcept
{
    implfuzz_of_free(address);
}

void operator delete[](void *address) noexcept
{
    implfuzz_of_free(address);
}

void operator delete(void *address, std::size_t) noexcept
{
    implfuzz_of_free(address);
}

void operator delete[](void *address, std::size_t) noexcept
{
    implfuzz_of_free(address);
}
