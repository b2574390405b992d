// A program written as IR text, compiled by an engine and running: what the tests of this folder share.
#ifndef NFTJIT_TESTS_ENGINE_RUNNING_PROGRAM_H_
#define NFTJIT_TESTS_ENGINE_RUNNING_PROGRAM_H_

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/engine/compile.h"
#include "lib/engine/instance_state.h"
#include "lib/ir/text.h"
#include "nftjit/instance.h"
#include "tests/support/packets.h"

namespace nftjit::testing {

inline const EngineInterface* const kEngines[] = {&ReferenceEngine(), &InterpreterEngine()};
// Each of them in turn.
inline const EngineInterface& AnyEngine() { return *GENERATE(from_range(std::begin(kEngines), std::end(kEngines))); }

inline std::shared_ptr<const Program> CompileText(std::string_view text, const EngineInterface& engine,
                                                  bool optimise = false) {
  absl::StatusOr<ir::Program> program = ir::Parse(text, "test.ir");
  INFO(program.status());
  REQUIRE(program.ok());
  CompileIrOptions options;
  options.engine = &engine;
  options.optimise = optimise;
  options.keep_code_map = true;
  auto compiled = CompileIr(*std::move(program), options);
  INFO(compiled.status());
  REQUIRE(compiled.ok());
  return *compiled;
}

// One instance with one worker.
class Running {
 public:
  Running(std::string_view text, const EngineInterface& engine, const InstanceOptions& options = {})
      : instance_(CompileText(text, engine), options), worker_(instance_.NewWorker()) {}

  Result Run(HookSite site, Packet& packet) { return worker_.Run(site, packet); }
  // An L3 packet at an IP hook.
  Result Run(Hook hook, Bytes bytes) {
    Packet packet = L3Packet(bytes);
    return worker_.Run({Family::kInet, hook}, packet);
  }
  [[nodiscard]] uint64_t packets(uint32_t counter) const { return instance_.state().CounterSums()[counter].packets; }
  // Name of the base chain that was run last; empty if none was.
  [[nodiscard]] std::string chain(const Result& result) const {
    return result.base_chain == Result::kNone ? std::string()
                                              : std::string(instance_.program().chains()[result.base_chain].name);
  }
  // Handle of the rule that decided; 0 if none did.
  [[nodiscard]] uint64_t rule(const Result& result) const {
    return result.rule == Result::kNone ? 0 : instance_.program().rules()[result.rule].handle;
  }

  Instance& instance() { return instance_; }
  Worker& worker() { return worker_; }

 private:
  Instance instance_;
  Worker worker_;
};

inline Bytes UdpPacket(uint16_t dport = 53) { return Ipv4() / Udp().Dport(dport) / Raw("hello"); }

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_ENGINE_RUNNING_PROGRAM_H_
