// A compiled ruleset: immutable, shared by any number of Instances and threads.
#ifndef NFTJIT_PROGRAM_H_
#define NFTJIT_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nftjit/packet.h"

namespace nftjit {

struct ProgramData;  // lib/engine/program_data.h, for tools of this project.

// The texts below live as long as the Program.
struct ChainDescription {
  Family family = Family::kInet;
  std::string_view table, name;
  bool is_base = false;
};

struct RuleDescription {
  uint32_t chain = 0;  // Index into Program::chains().
  uint64_t handle = 0;
  std::string_view comment;  // Empty: none.
  std::string where;         // "fw.nft:31:3"; empty: not known.
};

// One evaluated `log` statement of the ruleset.
struct LogDescription {
  uint32_t rule = 0;        // Index into Program::rules().
  std::string_view prefix;  // Empty: none.
  int level = 4;            // Of syslog, 8 audit; -1 if a group is given.
  int group = -1;           // nfnetlink_log group, or -1.
};

// A rule that the Program leaves out (CompileOptions::partial).
struct UnsupportedDescription {
  uint32_t rule = 0;
  uint32_t expression = 0;  // Its number in the rule, from 0.
  std::string_view what;    // "nat", "dynset" …
};

class Program {
 public:
  explicit Program(std::unique_ptr<const ProgramData> data);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] std::string_view engine_name() const;
  // Bytes of machine code or of an interpreter's encoding; 0 for an engine that walks the IR itself.
  [[nodiscard]] size_t code_bytes() const;
  // From the call of Compile() to its return.
  [[nodiscard]] double compile_seconds() const;

  // Results name chains and rules by their index here. All tables together, in order of creation.
  [[nodiscard]] std::span<const ChainDescription> chains() const;
  [[nodiscard]] std::span<const RuleDescription> rules() const;
  [[nodiscard]] std::span<const LogDescription> logs() const;
  [[nodiscard]] std::span<const UnsupportedDescription> unsupported() const;

  // The engine's code with rule and IR row beside it. Empty if the engine has none or keep_code_map was false.
  [[nodiscard]] std::string Disassemble() const;

  [[nodiscard]] const ProgramData& data() const { return *data_; }

 private:
  std::unique_ptr<const ProgramData> data_;
};

}  // namespace nftjit

#endif  // NFTJIT_PROGRAM_H_
