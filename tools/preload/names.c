/* Names that clients read from the machine: hosts, services, protocols, users, groups.
 *
 * What a ruleset means must not depend on the machine's files or on the network: the server answers, and host names
 * are refused unless it allows them. Results live in static storage, as libc's own do. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/preload/connection.h"

/* Not one of libc's EAI codes. */
enum { kHostNamesRefused = -9000 };

static char* no_aliases[] = {NULL};

static uint16_t ProtocolNumber(const char* name) {
  if (name == NULL) return 0;
  if (strcmp(name, "tcp") == 0) return IPPROTO_TCP;
  if (strcmp(name, "udp") == 0) return IPPROTO_UDP;
  if (strcmp(name, "sctp") == 0) return IPPROTO_SCTP;
  if (strcmp(name, "dccp") == 0) return IPPROTO_DCCP;
  return UINT16_MAX;
}

static const char* ProtocolName(uint32_t number) {
  switch (number) {
    case IPPROTO_UDP:
      return "udp";
    case IPPROTO_SCTP:
      return "sctp";
    case IPPROTO_DCCP:
      return "dccp";
    default:
      return "tcp";
  }
}

static struct servent* FillService(const struct nftjit_answer* answer, const char* name) {
  static struct servent entry;
  static char stored[256];
  if (answer->result != NFTJIT_FOUND) return NULL;
  snprintf(stored, sizeof stored, "%s", name);
  entry.s_name = stored;
  entry.s_aliases = no_aliases;
  entry.s_port = htons((uint16_t)answer->number);
  entry.s_proto = (char*)ProtocolName(answer->protocol);
  return &entry;
}

NFTJIT_EXPORT struct servent* getservbyname(const char* name, const char* proto) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_SERVICE_BY_NAME, ProtocolNumber(proto), name, found, sizeof found);
  return FillService(&answer, found);
}

NFTJIT_EXPORT struct servent* getservbyport(int port, const char* proto) {
  char found[256];
  const uint32_t number = ntohs((uint16_t)port) | (uint32_t)ProtocolNumber(proto) << 16;
  const struct nftjit_answer answer = Lookup(NFTJIT_SERVICE_BY_PORT, number, "", found, sizeof found);
  return FillService(&answer, found);
}

static struct protoent* FillProtocol(const struct nftjit_answer* answer, const char* name) {
  static struct protoent entry;
  static char stored[256];
  if (answer->result != NFTJIT_FOUND) return NULL;
  snprintf(stored, sizeof stored, "%s", name);
  entry.p_name = stored;
  entry.p_aliases = no_aliases;
  entry.p_proto = (int)answer->number;
  return &entry;
}

NFTJIT_EXPORT struct protoent* getprotobyname(const char* name) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_PROTOCOL_BY_NAME, 0, name, found, sizeof found);
  return FillProtocol(&answer, found);
}

NFTJIT_EXPORT struct protoent* getprotobynumber(int number) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_PROTOCOL_BY_NUMBER, (uint32_t)number, "", found, sizeof found);
  return FillProtocol(&answer, found);
}

static struct passwd* FillUser(const struct nftjit_answer* answer, const char* name) {
  static struct passwd entry;
  static char stored[256];
  if (answer->result != NFTJIT_FOUND) return NULL;
  snprintf(stored, sizeof stored, "%s", name);
  entry = (struct passwd){.pw_name = stored,
                          .pw_passwd = "",
                          .pw_uid = answer->number,
                          .pw_gecos = "",
                          .pw_dir = "/",
                          .pw_shell = "/bin/false"};
  return &entry;
}

NFTJIT_EXPORT struct passwd* getpwnam(const char* name) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_USER_BY_NAME, 0, name, found, sizeof found);
  if (answer.result != NFTJIT_ASK_MACHINE) return FillUser(&answer, found);
  struct passwd* (*real)(const char*) = (struct passwd * (*)(const char*)) dlsym(RTLD_NEXT, "getpwnam");
  return real(name);
}

NFTJIT_EXPORT struct passwd* getpwuid(uid_t uid) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_USER_BY_ID, uid, "", found, sizeof found);
  if (answer.result != NFTJIT_ASK_MACHINE) return FillUser(&answer, found);
  struct passwd* (*real)(uid_t) = (struct passwd * (*)(uid_t)) dlsym(RTLD_NEXT, "getpwuid");
  return real(uid);
}

static struct group* FillGroup(const struct nftjit_answer* answer, const char* name) {
  static struct group entry;
  static char stored[256];
  if (answer->result != NFTJIT_FOUND) return NULL;
  snprintf(stored, sizeof stored, "%s", name);
  entry = (struct group){.gr_name = stored, .gr_passwd = "", .gr_gid = answer->number, .gr_mem = no_aliases};
  return &entry;
}

NFTJIT_EXPORT struct group* getgrnam(const char* name) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_GROUP_BY_NAME, 0, name, found, sizeof found);
  if (answer.result != NFTJIT_ASK_MACHINE) return FillGroup(&answer, found);
  struct group* (*real)(const char*) = (struct group * (*)(const char*)) dlsym(RTLD_NEXT, "getgrnam");
  return real(name);
}

NFTJIT_EXPORT struct group* getgrgid(gid_t gid) {
  char found[256];
  const struct nftjit_answer answer = Lookup(NFTJIT_GROUP_BY_ID, gid, "", found, sizeof found);
  if (answer.result != NFTJIT_ASK_MACHINE) return FillGroup(&answer, found);
  struct group* (*real)(gid_t) = (struct group * (*)(gid_t)) dlsym(RTLD_NEXT, "getgrgid");
  return real(gid);
}

typedef int (*GetAddrInfo)(const char*, const char*, const struct addrinfo*, struct addrinfo**);

/* Numeric addresses as libc reads them (inet_aton's short forms, IPv6 scopes). */
static bool IsNumericHost(const char* node) {
  struct in_addr v4;
  struct in6_addr v6;
  char address[INET6_ADDRSTRLEN];
  if (inet_aton(node, &v4)) return true;
  snprintf(address, sizeof address, "%.*s", (int)strcspn(node, "%"), node);
  return inet_pton(AF_INET6, address, &v6) == 1;
}

/* libc turns numbers into addresses for us, and is given nothing but numbers. The socket type is always narrowed to
 * one: two results are sorted, for which libc asks the kernel for its addresses over netlink. */
NFTJIT_EXPORT int getaddrinfo(const char* node, const char* service, const struct addrinfo* hints,
                              struct addrinfo** result) {
  GetAddrInfo real = (GetAddrInfo)dlsym(RTLD_NEXT, "getaddrinfo");
  struct addrinfo numeric = {0};
  if (hints != NULL) numeric = *hints;
  numeric.ai_flags &= ~AI_ADDRCONFIG;
  numeric.ai_flags |= AI_NUMERICSERV;

  char port[16];
  if (service != NULL && service[strspn(service, "0123456789")] != '\0') {
    char found[256];
    const struct nftjit_answer answer =
        Lookup(NFTJIT_SERVICE_BY_NAME, (uint32_t)numeric.ai_protocol, service, found, sizeof found);
    if (answer.result != NFTJIT_FOUND) return EAI_SERVICE;
    snprintf(port, sizeof port, "%u", answer.number);
    service = port;
    if (numeric.ai_protocol == 0) numeric.ai_protocol = (int)answer.protocol;
  }
  if (node == NULL) {
    node = numeric.ai_family == AF_INET6 ? "::1" : "127.0.0.1";
  } else if (!IsNumericHost(node)) {
    if (!HostNamesAllowed()) return kHostNamesRefused;
    return real(node, service, &numeric, result);
  }
  numeric.ai_flags |= AI_NUMERICHOST;
  if (numeric.ai_socktype == 0) numeric.ai_socktype = numeric.ai_protocol == IPPROTO_UDP ? SOCK_DGRAM : SOCK_STREAM;
  if (numeric.ai_protocol == IPPROTO_SCTP || numeric.ai_protocol == IPPROTO_DCCP) numeric.ai_protocol = 0;
  return real(node, service, &numeric, result);
}

NFTJIT_EXPORT const char* gai_strerror(int code) {
  if (code == kHostNamesRefused) return "host names are not looked up unless that is allowed (--dns)";
  const char* (*real)(int) = (const char* (*)(int))dlsym(RTLD_NEXT, "gai_strerror");
  return real(code);
}

NFTJIT_EXPORT int getnameinfo(const struct sockaddr* address, socklen_t length, char* host, socklen_t host_size,
                              char* service, socklen_t service_size, int flags) {
  int (*real)(const struct sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int) = (int (*)(
      const struct sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int))dlsym(RTLD_NEXT, "getnameinfo");
  const int numeric_host = HostNamesAllowed() ? flags & NI_NUMERICHOST : NI_NUMERICHOST;
  const int status = real(address, length, host, host_size, service, service_size,
                          (flags & ~NI_NUMERICHOST) | numeric_host | NI_NUMERICSERV);
  if (status != 0 || service == NULL || service_size == 0 || (flags & NI_NUMERICSERV) != 0) return status;
  const struct servent* entry = getservbyport(htons((uint16_t)atoi(service)), (flags & NI_DGRAM) != 0 ? "udp" : "tcp");
  if (entry != NULL) snprintf(service, service_size, "%s", entry->s_name);
  return 0;
}
