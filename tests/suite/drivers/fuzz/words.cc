#include <cstdint>
#include <string>
#include <vector>

extern "C" {
#include "store.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<std::string> words(1);
    for (size_t at = 0; at < size; at++) {
        if (data[at] == ' ')
            words.emplace_back();
        else
            words.back().push_back(static_cast<char>(data[at]));
    }
    store *names = store_new(nullptr, nullptr);
    for (const std::string &word : words)
        store_add(names, word.data(), word.size());
    store_free(names);
    return 0;
}
