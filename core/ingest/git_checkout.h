// git_checkout.h: what Git itself changes in a text file when it is checked out: line ends (core.autocrlf, eol=crlf) and `$Id$` (ident).
// Layer:   core/ingest (5).
// Source:  gitattributes(5): "text", "eol", "ident"; Git takes a file with a NUL byte near its start for binary and leaves its line ends alone.
// Errors:  none. Threads: pure.
// Cost:    two copies of the text and two SHA-1 of it at most.
#pragma once

#include <cstddef>
#include <string>

namespace vouchfs::ingest {

// The largest file that is looked at: the vocabularies of tokenizers are the largest texts of models.
inline constexpr std::size_t kMaxCheckedOutBytes = std::size_t{64} << 20;

enum class CheckoutChange { none, line_ends, ident, both };

// What has to be taken back so that `text` is the blob of this name (40 lower-case digits); none when that does not lead to it.
CheckoutChange checkout_change(const std::string& text, const std::string& git_sha1);

// "its line ends were converted", for people; "" for none.
const char* describe(CheckoutChange change) noexcept;

}  // namespace vouchfs::ingest
