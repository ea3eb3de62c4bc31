// Memory for the work of one call, by instruction set and thread.
#pragma once

#include <cstdlib>

#include "base/arena.hpp"

SARRUS_BEGIN
namespace {

// Memory of one thread, grown when a larger mechanism comes along.
struct Scratch {
  void* memory = nullptr;
  unsigned long long size = 0;
  ~Scratch() { free(memory); }
  void* need(unsigned long long bytes) {
    if (bytes > size) {
      free(memory);
      size = (bytes + 4095) / 4096 * 4096;
      memory = aligned_alloc(64, size);
    }
    return memory;
  }
};
thread_local Scratch scratch;

// Calls use(arena) twice: to measure, then with memory.
template <class Use>
inline void with_arena(Use use) {
  Arena measure(nullptr);
  use(measure, false);
  Arena arena(scratch.need(measure.used + 64));
  use(arena, true);
}

}  // namespace
SARRUS_END
