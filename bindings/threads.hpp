// Work on a batch in several threads. What is done to one entry never depends on the thread that does it.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace sarrus {

inline int all_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// call(begin, end) for parts of [0, n) of at most `part` entries. An exception ends the work and is thrown here.
template <class Function>
void in_parallel(long n, long part, int threads, Function call) {
  std::atomic<long> next = 0;
  std::exception_ptr thrown;
  std::atomic<bool> failed = false;
  auto work = [&] {
    try {
      for (long begin; !failed && (begin = next.fetch_add(part)) < n;) call(begin, std::min(n, begin + part));
    } catch (...) {
      if (!failed.exchange(true)) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (long i = 1; i < std::min<long>(threads, (n + part - 1) / part); ++i) others.emplace_back(work);
  work();
  for (std::thread& one : others) one.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace sarrus
