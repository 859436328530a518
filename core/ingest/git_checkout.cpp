#include "ingest/git_checkout.h"

#include <string_view>

#include "hash/git_sha1.h"

namespace vouchfs::ingest {
namespace {

constexpr std::size_t kLookedAtBytes = 8000;  // Git's buffer_is_binary

std::string name_of(const std::string& text) {
  hash::GitSha1Stream stream(text.size());
  stream.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return hash::to_hex(stream.finish());
}

std::string with_plain_line_ends(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') out.push_back(text[i]);
  return out;
}

// "$Id: 1a2b $" -> "$Id$", as Git does when a file is added: up to the next dollar sign of the same line.
std::string with_plain_ident(const std::string& text) {
  constexpr std::string_view kStart = "$Id:";
  std::string out;
  out.reserve(text.size());
  std::size_t from = 0;
  for (std::size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, from)) {
    const std::size_t end = text.find_first_of("$\n", at + kStart.size());
    const bool whole = end != std::string::npos && text[end] == '$';
    out.append(text, from, at - from).append(whole ? "$Id$" : kStart);
    from = whole ? end + 1 : at + kStart.size();
  }
  return out.append(text, from);
}

}  // namespace

CheckoutChange checkout_change(const std::string& text, const std::string& git_sha1) {
  const bool is_text = std::string_view(text).substr(0, kLookedAtBytes).find('\0') == std::string_view::npos;
  const std::string lines = is_text ? with_plain_line_ends(text) : text;
  if (lines.size() != text.size() && name_of(lines) == git_sha1) return CheckoutChange::line_ends;
  const std::string plain = with_plain_ident(text);
  if (plain.size() == text.size()) return CheckoutChange::none;
  if (name_of(plain) == git_sha1) return CheckoutChange::ident;
  const bool is_both = lines.size() != text.size() && name_of(with_plain_ident(lines)) == git_sha1;
  return is_both ? CheckoutChange::both : CheckoutChange::none;
}

const char* describe(CheckoutChange change) noexcept {
  switch (change) {
    case CheckoutChange::none:
      return "";
    case CheckoutChange::line_ends:
      return "Git converted its line ends when it was checked out (core.autocrlf, or eol=crlf in .gitattributes), else it is as published";
    case CheckoutChange::ident:
      return "Git filled in its $Id$ when it was checked out (ident in .gitattributes), else it is as published";
    case CheckoutChange::both:
      return "Git converted its line ends and filled in its $Id$ when it was checked out, else it is as published";
  }
  return "";
}

}  // namespace vouchfs::ingest
