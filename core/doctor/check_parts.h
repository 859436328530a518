// check_parts.h: what many checks need: a finding about a file, words for amounts, the tensors a cut file has lost. Internal to core/doctor.
// Layer: core/doctor (5). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"

namespace vouchfs::doctor {

// A finding of this code about a file of the model; severity, loader texts and advice are the catalogue's.
Finding about(const ModelFacts& model, const std::string& path, const char* code);

// "1 tensor", "3 tensors".
std::string count_text(std::uint64_t count, const std::string& noun);
// "512 bytes", "5368709120 bytes (5.0 GiB)".
std::string bytes_text(std::uint64_t bytes);
// "a, b, c and 4 more".
std::string list_text(const std::vector<std::string>& names, std::size_t most = 8);

std::string base_name(const std::string& path);
// "" for a file of the root.
std::string folder_of(const std::string& path);
// "folder/name", or "name" when the folder is "".
std::string join_path(const std::string& folder, const std::string& name);

// Names of the tensors that do not lie wholly within the first `bytes` bytes, in order of place.
std::vector<std::string> tensors_past(const std::vector<formats::Tensor>& tensors, std::uint64_t bytes);
// Names of the tensors that bytes [begin, end) touch, in order of place. `tensors` may overlap.
std::vector<std::string> tensors_within(const std::vector<formats::Tensor>& tensors, std::uint64_t begin, std::uint64_t end);

// The command that writes the index of this path anew from the headers. `force`: what is there is no index, so that it is replaced only when asked to.
std::string index_command(const ModelFacts& model, const std::string& path, bool force);

// "manifests/registry.ollama.ai/library/llama3/8b" -> "llama3:8b".
std::string ollama_name(const std::string& manifest);
// The command that fetches a file of this model anew, or "" when its place does not tell where it came from. A file that is there is fetched all the
// same: both stores take a blob that exists for a good one.
std::string fetch_command(const ModelFacts& model, const std::string& path);

// Without what the other checks said of files whose download has not ended.
std::vector<Finding> leave_out_partials(std::vector<Finding> findings);

bool is_hex(std::string_view text, std::size_t digits);

}  // namespace vouchfs::doctor
