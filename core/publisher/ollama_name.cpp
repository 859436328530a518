// Names of Ollama models, and the stores they are looked up in.
#include <cstdlib>
#include <utility>

#include "base/utf8.h"
#include "publisher/ollama_store.h"

namespace vouchfs::publisher {
namespace {

constexpr const char* kHost = "registry.ollama.ai";
constexpr const char* kNamespace = "library";
constexpr const char* kTag = "latest";
constexpr const char* kSystemStore = "/usr/share/ollama/.ollama/models";
constexpr std::size_t kMaxPart = 80;
constexpr std::size_t kMaxHost = 255;  // of a file name; Ollama allows 350
constexpr const char* kForms = "write NAME, NAME:TAG, NAMESPACE/NAME:TAG or HOST/NAMESPACE/NAME:TAG";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Ollama's own rule; it leaves no room for "..", a blank or a slash.
bool is_part(const std::string& text, std::size_t limit, bool colon) {
  if (text.empty() || text.size() > limit || !(is_letter_or_digit(text[0]) || text[0] == '_')) return false;
  for (const char c : text)
    if (!is_letter_or_digit(c) && c != '_' && c != '-' && c != '.' && !(colon && c == ':')) return false;
  return true;
}

// What is behind the last `mark`, taken off the text; empty when there is none.
std::string take_last(std::string& text, char mark) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos) return std::exchange(text, {});
  std::string part = text.substr(at + 1);
  text.resize(at);
  return part;
}

}  // namespace

Result<OllamaName> parse_ollama_name(const std::string& text) {
  std::string rest = text;
  OllamaName name{kHost, kNamespace, {}, kTag};
  const auto colon = rest.rfind(':');
  const auto slash = rest.rfind('/');
  if (colon != std::string::npos && (slash == std::string::npos || slash < colon)) name.tag = take_last(rest, ':');
  name.model = take_last(rest, '/');
  if (!rest.empty()) name.name_space = take_last(rest, '/');
  if (!rest.empty()) name.host = rest;
  const bool plain = is_part(name.model, kMaxPart, false) && is_part(name.tag, kMaxPart, false) && is_part(name.name_space, kMaxPart, false);
  if (plain && text.front() != '/' && is_part(name.host, kMaxHost, true)) return name;
  return fail(ErrorCode::invalid_argument, "'" + printable(text) + "' is no name of an Ollama model", {}, kForms);
}

std::vector<std::string> ollama_stores() {
  if (const char* models = std::getenv("OLLAMA_MODELS"); models != nullptr && *models != '\0') return {models};
  std::vector<std::string> stores;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') stores.push_back(std::string(home) + "/.ollama/models");
  stores.emplace_back(kSystemStore);
  return stores;
}

}  // namespace vouchfs::publisher
