#include "mount_tools/output.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/log_text.h"
#include "base/utf8.h"

namespace vouchfs::mount_tools {

using nlohmann::ordered_json;

void Output::result(std::string_view line) {
  if (!json_) out_ << without_log_commands(line) << '\n';
}

void Output::log_commands(std::string_view lines) {
  if (!json_) out_ << lines << '\n';
}

void Output::note(std::string_view line) {
  if (!json_ && !quiet_) out_ << without_log_commands(line) << '\n';
}

void Output::record(const ordered_json& object) {
  // Replace, because a name as given on the command line may be any bytes.
  if (json_) out_ << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void Output::record_text(std::string_view type, std::string_view object) {
  if (!json_) return;
  ordered_json whole = {{"type", type}};
  const ordered_json parsed = ordered_json::parse(object, nullptr, false);
  if (parsed.is_object()) whole.update(parsed);
  record(whole);
}

void Output::warning(std::string_view line) {
  err_ << "vouchfs: warning: " << without_log_commands(printable(line)) << '\n';
  record({{"type", "warning"}, {"message", line}});
}

void Output::error(const Error& error) {
  err_ << "vouchfs: " << without_log_commands(printable(error.describe())) << '\n';
  ordered_json object = {{"type", "error"}, {"message", error.describe()}, {"code", to_string(error.code)}};
  if (!error.where.file.empty()) object["file"] = error.where.file;
  if (error.where.offset) object["offset"] = *error.where.offset;
  if (error.where.length) object["length"] = *error.where.length;
  if (!error.advice.empty()) object["advice"] = error.advice;
  record(object);
}

bool Output::flush() {
  out_.flush();
  err_.flush();
  return out_.good();
}

}  // namespace vouchfs::mount_tools
