// log.h: the one logger of the process (spdlog behind it; its header stays in log.cpp).
// Layer:   core/base (0).
// Threads: safe from any thread. The logger is the only global mutable state of vouchfs.
// Cost:    a line below the level costs one comparison.
#pragma once

#include <string_view>

namespace vouchfs::log {

enum class Level { debug, info, warning, error, off };

// Lines go to stderr until set_sink says otherwise. to_syslog: for a daemon whose stderr is closed.
void set_level(Level level);
void use_syslog(const char* program);
void write(Level level, std::string_view line);

inline void debug(std::string_view line) { write(Level::debug, line); }
inline void info(std::string_view line) { write(Level::info, line); }
inline void warning(std::string_view line) { write(Level::warning, line); }
inline void error(std::string_view line) { write(Level::error, line); }

}  // namespace vouchfs::log
