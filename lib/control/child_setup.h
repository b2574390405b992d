// What a child does between fork and exec: only async-signal-safe calls, since the caller may have threads.
#ifndef NFTJIT_LIB_CONTROL_CHILD_SETUP_H_
#define NFTJIT_LIB_CONTROL_CHILD_SETUP_H_

#include <sys/types.h>

namespace nftjit::control {

struct ChildSetup {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int input, output, errors;  // Become the standard descriptors.
  int door;                   // Stays open under its number.
  int shim;                   // Likewise; -1: none.
  int exec_error;             // An int errno is written here if exec fails; closed by exec.
  pid_t parent;               // The child ends when it does.
};

// Never returns. All descriptors are above 2, but for standard ones that stay what they are.
[[noreturn]] void BecomeChild(const ChildSetup& setup);

// Makes the kernel refuse to this thread and all it starts the sockets by which packet filters are changed, netlink and
// (for legacy iptables and ipset) raw IP, with EPERM. Ends programs of another architecture, which the shim could not
// reach. False where the kernel has no seccomp.
bool RefuseKernelSockets();

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_CHILD_SETUP_H_
