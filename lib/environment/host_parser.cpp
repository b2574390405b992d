// Reads host files: docs/host-file.md.
#include <arpa/inet.h>

#include <charconv>

#include "lib/environment/host.h"
#include "lib/support/read_file.h"
#include "lib/support/source.h"

namespace nftjit {

// One line of the file is a keyword and its words; see docs/host-file.md.
class HostParser {
 public:
  HostParser(std::string_view text, const std::string& file_name) : text_(text) { where_.file = file_name; }

  absl::StatusOr<Host> Parse() {
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      ++where_.line;
      if (absl::Status status = ParseLine(text_.substr(0, end)); !status.ok()) return status;
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    return std::move(host_);
  }

 private:
  absl::Status Error(std::string_view what) const { return ErrorAt(where_, absl::StatusCode::kInvalidArgument, what); }

  absl::Status ParseLine(std::string_view line) {
    std::istringstream stream{std::string(line.substr(0, line.find('#')))};
    words_.clear();
    for (std::string word; stream >> word;) words_.push_back(word);
    if (words_.empty()) return absl::OkStatus();
    const std::string& keyword = words_[0];
    if (words_.size() < 2) return Error(keyword + ": a second word is expected");
    if (keyword == "interface") return ParseInterface();
    if (keyword == "address") return ParseAddress();
    if (keyword == "route") return ParseRoute();
    if (keyword == "user") return ParseId(host_.users_);
    if (keyword == "group") return ParseId(host_.groups_);
    return Error("'" + keyword + "': interface, address, route, user or group is expected");
  }

  absl::StatusOr<uint32_t> Number(const std::string& word) const {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) {
      return Error("'" + word + "': a number of 32 bits is expected");
    }
    return number;
  }

  // interface NAME [index N] [type ether|loopback|none|N] [kind WORD] [group N]
  absl::Status ParseInterface() {
    if (host_.FindInterface(words_[1]) != nullptr) return Error("interface '" + words_[1] + "' is given twice");
    uint32_t index = 0;
    Interface wanted;
    wanted.type = words_[1] == "lo" ? 772 : 1;
    for (size_t i = 2; i < words_.size(); i += 2) {
      if (i + 1 == words_.size()) return Error("interface: '" + words_[i] + "' needs a value");
      const std::string &key = words_[i], &value = words_[i + 1];
      if (key == "kind") {
        if (value.size() > 15) return Error("kind '" + value + "': at most 15 bytes are expected");
        std::copy(value.begin(), value.end(), wanted.kind.begin());
        continue;
      }
      if (key == "type" && (value == "ether" || value == "loopback" || value == "none")) {
        wanted.type = value == "ether" ? 1 : value == "loopback" ? 772 : 0xfffe;
        continue;
      }
      const absl::StatusOr<uint32_t> number = Number(value);
      if (!number.ok()) return number.status();
      if (key == "index") {
        index = *number;
      } else if (key == "type") {
        if (*number > UINT16_MAX) return Error("type " + value + ": a device type of 16 bits is expected");
        wanted.type = static_cast<uint16_t>(*number);
      } else if (key == "group") {
        wanted.group = *number;
      } else {
        return Error("interface: '" + key + "': index, type, kind or group is expected");
      }
    }
    const absl::StatusOr<const Interface*> added = host_.AddInterface(words_[1], index);
    if (!added.ok()) return Error(std::string(added.status().message()));
    wanted.index = (*added)->index;
    wanted.name = (*added)->name;
    host_.interfaces_.back() = wanted;
    return absl::OkStatus();
  }

  absl::StatusOr<Prefix> ParsePrefix(const std::string& word, bool zero_rest) const {
    Prefix prefix;
    const size_t slash = word.find('/');
    const std::string address = word.substr(0, slash);
    if (inet_pton(AF_INET, address.c_str(), prefix.bytes.data()) == 1) {
      prefix.size = 4;
    } else if (inet_pton(AF_INET6, address.c_str(), prefix.bytes.data()) == 1) {
      prefix.size = 16;
    } else {
      return Error("'" + word + "': an IPv4 or IPv6 address, with or without /bits, is expected");
    }
    prefix.bits = static_cast<uint8_t>(prefix.size * 8);
    if (slash != std::string::npos) {
      const absl::StatusOr<uint32_t> bits = Number(word.substr(slash + 1));
      if (!bits.ok()) return bits.status();
      if (*bits > prefix.bits) return Error("'" + word + "': at most /" + std::to_string(prefix.bits) + " is expected");
      prefix.bits = static_cast<uint8_t>(*bits);
    }
    for (unsigned bit = prefix.bits; zero_rest && bit < prefix.size * 8U; ++bit) {
      prefix.bytes[bit / 8] &= static_cast<uint8_t>(~(0x80U >> bit % 8));
    }
    return prefix;
  }

  absl::StatusOr<const Interface*> Device(const std::string& name) const {
    const Interface* device = host_.FindInterface(name);
    if (device == nullptr) return Error("device '" + name + "': a line 'interface " + name + "' is expected before it");
    return device;
  }

  // address PREFIX dev NAME
  absl::Status ParseAddress() {
    if (words_.size() != 4 || words_[2] != "dev") return Error("'address ADDRESS/BITS dev NAME' is expected");
    const absl::StatusOr<Prefix> prefix = ParsePrefix(words_[1], false);
    if (!prefix.ok()) return prefix.status();
    const absl::StatusOr<const Interface*> device = Device(words_[3]);
    if (!device.ok()) return device.status();
    host_.addresses_.push_back({*prefix, *device});
    return absl::OkStatus();
  }

  // route PREFIX|default|default6 [via ADDRESS] dev NAME. The gateway is checked and of no further consequence.
  absl::Status ParseRoute() {
    const bool via = words_.size() == 6 && words_[2] == "via";
    const size_t dev = via ? 4 : 2;
    if (words_.size() != dev + 2 || words_[dev] != "dev") {
      return Error("'route PREFIX [via ADDRESS] dev NAME' is expected");
    }
    if (via) {
      if (const absl::StatusOr<Prefix> gateway = ParsePrefix(words_[3], false); !gateway.ok()) return gateway.status();
    }
    const std::string word = words_[1] == "default" ? "0.0.0.0/0" : words_[1] == "default6" ? "::/0" : words_[1];
    const absl::StatusOr<Prefix> prefix = ParsePrefix(word, true);
    if (!prefix.ok()) return prefix.status();
    const absl::StatusOr<const Interface*> device = Device(words_[dev + 1]);
    if (!device.ok()) return device.status();
    host_.routes_.push_back({*prefix, *device});
    return absl::OkStatus();
  }

  // user NAME UID, group NAME GID
  absl::Status ParseId(std::map<std::string, uint32_t>& ids) {
    if (words_.size() != 3) return Error("'" + words_[0] + " NAME NUMBER' is expected");
    const absl::StatusOr<uint32_t> id = Number(words_[2]);
    if (!id.ok()) return id.status();
    if (!ids.emplace(words_[1], *id).second) return Error(words_[0] + " '" + words_[1] + "' is given twice");
    return absl::OkStatus();
  }

  std::string_view text_;
  SourcePos where_;
  std::vector<std::string> words_;
  Host host_;
};

absl::StatusOr<Host> Host::FromText(std::string_view text, const std::string& file_name) {
  return HostParser(text, file_name).Parse();
}

absl::StatusOr<Host> Host::FromFile(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? FromText(*text, path) : text.status();
}

}  // namespace nftjit
