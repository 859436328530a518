// threads.h: threads that share work which any number of them can do.
// Layer: core/base (0).
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace vouchfs {

// Starts up to `count` threads that run `work`, for the caller to join. The system may refuse some (limits of processes or memory): the work
// is then left to those that are there and to the caller, who must take part in it. Each thread has a copy of `work`; what that refers to must outlive it.
std::vector<std::thread> start_threads(std::size_t count, const std::function<void()>& work);

}  // namespace vouchfs
