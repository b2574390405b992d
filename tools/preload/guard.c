/* The client must not reach the kernel's packet filters by any other way than libmnl. */
#include <dlfcn.h>
#include <sys/socket.h>

#include "tools/preload/connection.h"

/* Of socket()'s type; the rest are flags. */
enum { kTypeMask = 0xf };

NFTJIT_EXPORT int socket(int domain, int type, int protocol) {
  if (domain == AF_NETLINK) Refuse("the client opens a netlink socket without libmnl", NULL);
  if ((domain == AF_INET || domain == AF_INET6) && (type & kTypeMask) == SOCK_RAW) {
    Refuse("the client opens a raw IP socket, as legacy iptables and ipset do: only nf_tables is served", NULL);
  }
  static int (*real)(int, int, int);
  if (real == NULL) real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return real(domain, type, protocol);
}
