// Memory for the work of one call, by instruction set and thread.
#pragma once

#include <cstdlib>
#include <new>

#include "base/arena.hpp"

SARRUS_BEGIN

// Zeros of which pages that are not written to take no memory.
struct ZeroedMemory {
  void* memory = nullptr;
  char* aligned = nullptr;  // to 64 bytes
  ZeroedMemory() = default;
  explicit ZeroedMemory(unsigned long long bytes) { need(bytes); }
  ~ZeroedMemory() { free(memory); }
  ZeroedMemory(const ZeroedMemory&) = delete;
  void need(unsigned long long bytes) {
    free(memory);
    memory = calloc(bytes + 128, 1);
#ifdef __cpp_exceptions
    if (!memory) throw std::bad_alloc();
#else
    if (!memory) abort();  // studios
#endif
    aligned = static_cast<char*>(memory) + (-reinterpret_cast<unsigned long long>(memory) & 63);
  }
};

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

// What use(work) returns, with a Work(problem, arena) that is built twice: to measure, then with memory.
template <class Work, class Problem, class Use>
inline auto with_work(const Problem& problem, Use use) {
  Arena measure(nullptr);
  Work measured(problem, measure);
  Arena arena(scratch.need(measure.used + 64));
  Work work(problem, arena);
  return use(work);
}

}  // namespace
SARRUS_END
