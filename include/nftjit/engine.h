// The engines that run a Program. Each is a stateless object with static storage, handed to Compile() by address.
//
// There is no registry: a program links the engines that it names. All of them give the same results on everything
// observable (verdicts, deciding rules, counters, log records, changed metadata); they differ in speed and in what they
// need of the machine. The exception is Packet::missing, which the reference engine alone follows.
#ifndef NFTJIT_ENGINE_H_
#define NFTJIT_ENGINE_H_

#include <string_view>

namespace nftjit {

class EngineInterface;

// A plain walk over the rule IR: the meaning of every operation, written to be read. The judge of the others.
const EngineInterface& ReferenceEngine();
// The fast portable interpreter.
const EngineInterface& InterpreterEngine();
// Machine code for x86-64, with AVX2 and BMI1 where the processor has both; needs no more than x86-64 has from the
// first. Defined in the library nftjit::jit, which is built for x86-64 alone (NFTJIT_JIT).
const EngineInterface& X86Engine();

// "reference", "interp", "x86".
std::string_view EngineName(const EngineInterface& engine);

}  // namespace nftjit

#endif  // NFTJIT_ENGINE_H_
