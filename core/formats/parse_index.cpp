// The JSON of an index file.
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json_reader.h"
#include "formats/shard_index.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// A publisher's metadata longer than this is not carried over into a corrected index (the longest known has some kilobytes).
constexpr std::size_t kMaxMetadataBytes = 1 << 20;
// Problems listed of one file; what follows is counted.
constexpr std::size_t kMaxProblems = 100;
// Doubles up to here are exact integers.
constexpr double kMaxExactDouble = 9007199254740992.0;

struct Problems {
  std::vector<std::string>& list;
  std::size_t left_out = 0;
  void add(std::string problem) {
    if (list.size() < kMaxProblems) {
      list.push_back(std::move(problem));
    } else {
      ++left_out;
    }
  }
};

// What an index may hold at any place that is not understood: noted, never refused.
class TolerantSink : public JsonSink {
 public:
  explicit TolerantSink(Problems& problems) : problems_(problems) {}

 protected:
  Problems& problems_;
};

class WeightSink final : public TolerantSink {
 public:
  WeightSink(Problems& problems, std::map<std::string, std::string>& map) : TolerantSink(problems), map_(map) {}
  std::string tensor;

  Status scalar(JsonScalar& value) override {
    if (value.kind != JsonScalar::Kind::text) return note(value.kind_name());
    const auto [at, added] = map_.try_emplace(tensor, value.text);
    if (!added && at->second != value.text) {
      problems_.add("tensor '" + shown_name(tensor) + "' is listed twice: in '" + shown_name(at->second) + "' and in '" + shown_name(value.text) + "'");
      at->second = std::move(value.text);  // Python's reader keeps the last
    }
    return {};
  }
  Status begin(JsonContainer container) override { return note(container == JsonContainer::object ? "an object" : "an array"); }

 private:
  Status note(const char* what) {
    problems_.add("weight_map: tensor '" + shown_name(tensor) + "' maps to " + what + " instead of a file name");
    return {};
  }
  std::map<std::string, std::string>& map_;
};

class WeightMapSink final : public TolerantSink {
 public:
  WeightMapSink(Problems& problems, std::map<std::string, std::string>& map) : TolerantSink(problems), map_(map), weight_(problems, map) {}
  Status scalar(JsonScalar& value) override {
    problems_.add(std::string("weight_map is ") + value.kind_name() + " instead of an object");
    return {};
  }
  Status begin(JsonContainer container) override {
    map_.clear();
    if (container != JsonContainer::object) problems_.add("weight_map is an array instead of an object");
    return {};
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override {
    weight_.tensor = std::move(key);
    return &weight_;
  }

 private:
  std::map<std::string, std::string>& map_;
  WeightSink weight_;
};

class TotalSizeSink final : public TolerantSink {
 public:
  TotalSizeSink(Problems& problems, std::optional<std::uint64_t>& total) : TolerantSink(problems), total_(total) {}
  Status scalar(JsonScalar& value) override {
    total_.reset();
    if (value.kind == JsonScalar::Kind::number) {
      total_ = value.number;
    } else if (value.kind == JsonScalar::Kind::real && value.real >= 0 && value.real < kMaxExactDouble &&
               static_cast<double>(static_cast<std::uint64_t>(value.real)) == value.real) {
      total_ = static_cast<std::uint64_t>(value.real);  // some writers divide and keep "4096.0"
    } else {
      return note(value.kind_name());
    }
    return {};
  }
  Status begin(JsonContainer) override { return note("no single value"); }

 private:
  Status note(const char* what) {
    problems_.add(std::string("metadata.total_size is ") + what + " instead of an unsigned integer");
    return {};
  }
  std::optional<std::uint64_t>& total_;
};

// Remembers where the object lies, so that it can be cut out of the text afterwards.
class MetadataSink final : public TolerantSink {
 public:
  MetadataSink(Problems& problems, std::optional<std::uint64_t>& total) : TolerantSink(problems), total_(problems, total) {}
  bool is_object = false;
  std::uint64_t key_offset = 0;
  std::uint64_t end_offset = 0;

  Status scalar(JsonScalar& value) override {
    is_object = false;
    problems_.add(std::string("metadata is ") + value.kind_name() + " instead of an object");
    return {};
  }
  Status begin(JsonContainer container) override {
    is_object = container == JsonContainer::object;
    if (!is_object) problems_.add("metadata is an array instead of an object");
    return {};
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override { return key == "total_size" ? &total_ : nullptr; }
  Status end(std::uint64_t offset) override {
    end_offset = offset;
    return {};
  }

 private:
  TotalSizeSink total_;
};

class IndexSink final : public TolerantSink {
 public:
  IndexSink(Problems& problems, ParsedIndex& index) : TolerantSink(problems), weights_(problems, index.weight_map), metadata_(problems, index.total_size) {}
  bool metadata_seen = false;
  bool weights_seen = false;
  // The metadata object as written; empty when there is none.
  std::string_view metadata_in(std::string_view text) const {
    if (!metadata_.is_object) return {};
    const auto start = text.find('{', metadata_.key_offset);
    return text.substr(start, metadata_.end_offset - start);
  }

  Status scalar(JsonScalar& value) override {
    return fail(ErrorCode::bad_format, std::string("the file holds ") + value.kind_name() + " instead of an object");
  }
  Status begin(JsonContainer container) override {
    if (container == JsonContainer::object) return {};
    return fail(ErrorCode::bad_format, "the file holds an array instead of an object");
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t offset) override {
    if (key == "weight_map") return once(weights_seen, key, weights_);
    if (key != "metadata") return nullptr;
    metadata_.key_offset = offset;
    return once(metadata_seen, key, metadata_);
  }

 private:
  JsonSink* once(bool& seen, const std::string& key, JsonSink& sink) {
    if (std::exchange(seen, true)) problems_.add("the key " + key + " comes twice");
    return &sink;
  }
  WeightMapSink weights_;
  MetadataSink metadata_;
};

// What a text is that is no JSON, as far as its first bytes tell.
std::string looks_like(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return text.empty() ? "the file is empty" : "the file holds nothing but blanks";
  if (text.front() == '\0') return "the file begins with zero bytes: its data never reached the disk";
  if (text.starts_with("version https://git-lfs") || text.starts_with("version https://hawser")) return "the file is a Git LFS pointer, not the index itself";
  if (text.front() == '<') return "the file is a web page or XML, not an index";
  return {};
}

// The metadata object as compact JSON with sorted keys. The text was checked before, so its depth is bounded.
std::string metadata_text(std::string_view object) {
  if (object.empty() || object.size() > kMaxMetadataBytes) return "{}";
  const nlohmann::json metadata = nlohmann::json::parse(object, nullptr, false);
  return metadata.is_object() ? metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "{}";
}

}  // namespace

ParsedIndex parse_index(std::string_view text) {
  ParsedIndex index;
  Problems problems{index.problems};
  if (text.starts_with(kByteOrderMark)) {
    problems.add("a byte order mark (ef bb bf) stands before the JSON");
    text.remove_prefix(kByteOrderMark.size());
  }
  IndexSink sink(problems, index);
  if (const Status status = read_json(text, sink); !status) {
    const std::string kind = looks_like(text);
    const Error& error = status.error();
    const std::string problem =
        kind.empty() ? "not a valid index: " + error.message + " (at byte " + std::to_string(error.where.offset.value_or(0)) + ")" : kind;
    return ParsedIndex{{}, {}, "{}", {problem}};
  }
  if (!sink.weights_seen) problems.add("the key weight_map is missing");
  if (!sink.metadata_seen) problems.add("the key metadata is missing");
  if (problems.left_out > 0) index.problems.push_back("and " + std::to_string(problems.left_out) + " more problems");
  index.metadata = metadata_text(sink.metadata_in(text));
  return index;
}

}  // namespace vouchfs::formats
