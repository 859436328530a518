#include "base/threads.h"

#include <system_error>

namespace vouchfs {

std::vector<std::thread> start_threads(std::size_t count, const std::function<void()>& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer hands, the same work; leaving by the exception would end the process, since threads run already.
  }
  return threads;
}

}  // namespace vouchfs
