// codes.h: the parts of the catalogue, one file a subject (codes_SUBJECT.cpp). Internal to core/doctor; catalogue.cpp joins and sorts them.
// Layer: core/doctor (5). Data.
#pragma once

#include <span>

#include "doctor/catalogue.h"

namespace vouchfs::doctor {

std::span<const CodeFacts> file_codes();
std::span<const CodeFacts> safetensors_codes();
std::span<const CodeFacts> index_codes();
std::span<const CodeFacts> torch_codes();
std::span<const CodeFacts> gguf_codes();
std::span<const CodeFacts> store_codes();
std::span<const CodeFacts> deep_codes();

}  // namespace vouchfs::doctor
