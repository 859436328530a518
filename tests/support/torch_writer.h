// torch_writer.h: files as torch.save writes them, byte by byte: the zip form, the legacy form, and the pickles in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/crc32.h"

namespace vouchfs::tests {

inline std::string little(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += i < sizeof value ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0';
  return text;
}

// Pieces of a pickle of protocol 2; join them with +.
namespace pickle {

inline const std::string kProto("\x80\x02");
inline std::string text(std::string_view value) { return "X" + little(value.size(), 4) + std::string(value); }
inline std::string number(std::int64_t value) { return "J" + little(static_cast<std::uint64_t>(value), 4); }
inline std::string long_number(std::int64_t value) { return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8); }
inline std::string global(std::string_view module, std::string_view name) { return "c" + std::string(module) + "\n" + std::string(name) + "\n"; }
inline std::string tuple(std::string_view items) { return "(" + std::string(items) + "t"; }
inline std::string list(std::string_view items) { return "](" + std::string(items) + "e"; }
inline std::string dict(std::string_view keys_and_values) { return "}(" + std::string(keys_and_values) + "u"; }
inline std::string call(std::string_view module, std::string_view name, std::string_view args) { return global(module, name) + tuple(args) + "R"; }
inline std::string numbers(const std::vector<std::int64_t>& values) {
  std::string items;
  for (const std::int64_t value : values) items += long_number(value);
  return tuple(items);
}
// What stands for the bytes of "data/KEY": `type` is "FloatStorage" and the like; `view` is that of the legacy form.
inline std::string storage(std::string_view type, std::string_view key, std::int64_t count, std::string_view view = {}, std::string_view location = "cpu") {
  return tuple(text("storage") + global("torch", type) + text(key) + text(location) + long_number(count) + std::string(view)) + "Q";
}
inline std::string tensor(const std::string& of_storage, const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& stride,
                          std::int64_t offset = 0) {
  return call("torch._utils", "_rebuild_tensor_v2",
              of_storage + long_number(offset) + numbers(size) + numbers(stride) + "\x89" + call("collections", "OrderedDict", {}));
}
inline std::string whole(std::string_view value) { return kProto + std::string(value) + "."; }

}  // namespace pickle

struct TorchPart {
  std::string name;
  std::string data;
};

struct ZipOptions {
  std::string folder = "archive";
  bool checksums = true;
  bool zip64 = true;
  std::string comment;
};

// Stored records with descriptors behind them and their content on 64 bytes.
inline std::string torch_zip(const std::vector<TorchPart>& parts, const ZipOptions& options = {}) {
  std::string out;
  std::string directory;
  for (const TorchPart& part : parts) {
    const std::string name = options.folder + "/" + part.name;
    formats::Crc32 crc;
    if (options.checksums) crc.add({reinterpret_cast<const std::uint8_t*>(part.data.data()), part.data.size()});
    const std::size_t at = out.size();
    const std::size_t pad = (64 - (at + 30 + name.size() + 4) % 64) % 64;
    out += "PK\x03\x04" + little(0, 2) + little(0x0808, 2) + little(0, 18) + little(name.size(), 2) + little(4 + pad, 2) + name;
    out += "FB" + little(pad, 2) + std::string(pad, 'Z') + part.data;
    if (!part.data.empty()) out += "PK\x07\x08" + little(crc.value(), 4) + little(part.data.size(), 4) + little(part.data.size(), 4);
    directory += "PK\x01\x02" + little(0, 4) + little(0x0808, 2) + little(0, 6) + little(crc.value(), 4) + little(part.data.size(), 4) +
                 little(part.data.size(), 4) + little(name.size(), 2) + little(0, 12) + little(at, 4) + name;
  }
  const std::size_t begin = out.size();
  const std::size_t end = begin + directory.size();
  out += directory;
  if (options.zip64)
    out += "PK\x06\x06" + little(44, 8) + little(0x031E, 2) + little(45, 2) + little(0, 8) + little(parts.size(), 8) + little(parts.size(), 8) +
           little(directory.size(), 8) + little(begin, 8) + "PK\x06\x07" + little(0, 4) + little(end, 8) + little(1, 4);
  return out + "PK\x05\x06" + little(0, 4) + little(parts.size(), 2) + little(parts.size(), 2) + little(directory.size(), 4) + little(begin, 4) +
         little(options.comment.size(), 2) + options.comment;
}

// The parts of a whole file: its pickle, its storages by key, and what torch puts around them.
inline std::vector<TorchPart> torch_parts(const std::string& pickled, const std::vector<TorchPart>& storages) {
  std::vector<TorchPart> parts{{"data.pkl", pickled}, {".format_version", "1"}, {"byteorder", "little"}};
  for (const TorchPart& storage : storages) parts.push_back({"data/" + storage.name, storage.data});
  parts.push_back({"version", "3\n"});
  return parts;
}

struct LegacyStorage {
  std::string key;
  std::string data;
  std::size_t element = 1;
};

// `value` is the pickle of the object without its frame; storages must be sorted by key.
inline std::string torch_legacy(std::string_view value, const std::vector<LegacyStorage>& storages, bool little_endian = true) {
  const std::string magic("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", 12);
  std::string keys;
  for (const LegacyStorage& storage : storages) keys += pickle::text(storage.key);
  std::string out = pickle::whole(magic) + pickle::whole(pickle::number(1001)) +
                    pickle::whole(pickle::dict(pickle::text("little_endian") + (little_endian ? "\x88" : "\x89"))) + pickle::whole(value) +
                    pickle::whole(pickle::list(keys));
  for (const LegacyStorage& storage : storages) out += little(storage.data.size() / storage.element, 8) + storage.data;
  return out;
}

}  // namespace vouchfs::tests
