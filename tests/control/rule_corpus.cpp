#include "tests/control/rule_corpus.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace nftjit::control {
namespace {

using Kind = CorpusCommand::Kind;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
    parts.push_back(text.substr(start, end - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

// "name rest" at its first space.
std::pair<std::string, std::string> SplitName(const std::string& text) {
  const size_t space = text.find(' ');
  return space == std::string::npos ? std::pair(text, std::string())
                                    : std::pair(text.substr(0, space), text.substr(space + 1));
}

struct CorpusTable {
  std::string family, name;
  std::vector<std::string> chains;
  [[nodiscard]] std::string where() const { return family + " " + name + " "; }
};

// A file's lines, sorted out.
struct Lines {
  std::vector<CorpusTable> tables;
  std::map<std::string, std::string> chains;
  std::vector<std::pair<char, std::string>> things;  // Sets '!', elements '?', objects '%', with their expectation.
  std::vector<std::string> rules;
};

Lines ReadLines(const std::string& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
    if (line.empty() || line[0] == '#' || line[0] == '-') continue;
    const std::vector<std::string> parts = Split(line, ';');
    switch (line[0]) {
      case '*':
        lines.tables.push_back({parts[0].substr(1), parts[1], Split(parts[2], ',')});
        break;
      case ':':
        lines.chains[parts[0].substr(1)] = parts[1];
        break;
      case '!':
      case '?':
      case '%':
        lines.things.emplace_back(line[0], line.substr(1));
        break;
      default:
        if (parts.size() >= 2 && parts.size() <= 3 && parts[1] == "ok") lines.rules.push_back(parts[0]);
    }
  }
  return lines;
}

// "set1 type ipv4_addr flags interval" and the like.
std::string DeclareSet(const CorpusTable& table, const std::string& definition) {
  const auto [name, body] = SplitName(definition);
  const bool map = body.find(" : ") != std::string::npos;
  return std::string("add ") + (map ? "map " : "set ") + table.where() + name + " { " +
         absl::StrReplaceAll(body, {{" flags ", "; flags "}, {" timeout ", "; timeout "}}) + "; }";
}

// "qt1 type quota 25 mbytes", "cthelp1 type ct helper { … }".
std::string DeclareObject(const CorpusTable& table, const std::string& definition) {
  const auto [name, body] = SplitName(definition);
  auto [kind, rest] = SplitName(SplitName(body).second);
  if (kind == "ct") {
    const auto [what, more] = SplitName(rest);
    kind += " " + what;
    rest = more;
  }
  if (!rest.empty() && rest[0] != '{') rest = "{ " + rest + " ; }";
  return "add " + kind + " " + table.where() + name + " " + rest;
}

CorpusCommand DeclareThing(const CorpusTable& table, char what, const std::string& line) {
  // An object's definition may hold semicolons, within braces.
  const size_t brace = what == '%' ? line.rfind('}') : std::string::npos;
  const size_t end = line.find(';', brace == std::string::npos ? 0 : brace);
  const std::string definition = line.substr(0, end);
  const Kind kind = line.substr(end + 1, 2) == "ok" ? Kind::kSetup : Kind::kRefusedSetup;
  if (what == '!') return {kind, DeclareSet(table, definition)};
  if (what == '%') return {kind, DeclareObject(table, definition)};
  const auto [name, elements] = SplitName(definition);
  return {kind, "add element " + table.where() + name + " { " + elements + " }"};
}

std::vector<CorpusCommand> MakeCommands(const Lines& lines) {
  std::vector<CorpusCommand> commands;
  for (const CorpusTable& table : lines.tables) {
    commands.push_back({Kind::kSetup, "add table " + table.where()});
    for (const std::string& chain : table.chains) {
      commands.push_back({Kind::kSetup, "add chain " + table.where() + chain + " { " + lines.chains.at(chain) + "; }"});
    }
    for (const auto& [what, line] : lines.things) commands.push_back(DeclareThing(table, what, line));
    for (const std::string& rule : lines.rules) {
      for (const std::string& chain : table.chains) {
        commands.push_back({Kind::kRule, absl::StrCat("add rule ", table.where(), chain, " ", rule)});
      }
    }
  }
  return commands;
}

}  // namespace

std::vector<RuleFile> ReadRuleCorpus(const std::string& folder) {
  std::vector<RuleFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".t") continue;
    const std::string name = std::filesystem::relative(entry.path(), folder);
    files.push_back({name, MakeCommands(ReadLines(entry.path()))});
  }
  std::sort(files.begin(), files.end(), [](const RuleFile& a, const RuleFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace nftjit::control
