#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include "base/log_text.h"

namespace vouchfs::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::shared_ptr<spdlog::logger> stderr_logger() {
  auto logger = std::make_shared<spdlog::logger>("vouchfs", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("vouchfs: %l: %v");
  logger->set_level(spdlog::level::warn);
  return logger;
}

std::shared_ptr<spdlog::logger>& current() {
  static std::shared_ptr<spdlog::logger> logger = stderr_logger();
  return logger;
}

}  // namespace

void set_level(Level level) { current()->set_level(to_spdlog(level)); }

void use_syslog(const char* program) {
  const auto level = current()->level();
  auto sink = std::make_shared<spdlog::sinks::syslog_sink_mt>(program, LOG_PID, LOG_DAEMON, false);
  current() = std::make_shared<spdlog::logger>(program, std::move(sink));
  current()->set_level(level);
}

void write(Level level, std::string_view line) { current()->log(to_spdlog(level), "{}", without_log_commands(line)); }

}  // namespace vouchfs::log
