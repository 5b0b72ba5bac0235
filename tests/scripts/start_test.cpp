// Whether ./start refuses what it cannot do before it installs or builds anything, and reads the list of packages
// right.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>

#include "tests/scripts/shell.h"

namespace sdip::scripts {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A loopback port that is listened on while this lives.
struct TakenPort {
  TakenPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = std::bit_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    if (bind(socket_fd, generic, size) == 0 && listen(socket_fd, 1) == 0 &&
        getsockname(socket_fd, generic, &size) == 0) {
      number = ntohs(address.sin_port);
    }
  }
  ~TakenPort() { close(socket_fd); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;

  int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  int number = 0;
};

TEST(start, refuses_a_port_in_use_before_it_does_anything) {
  const TakenPort taken;
  ASSERT_NE(taken.number, 0);
  for (const std::string& command :
       {"./start --port " + std::to_string(taken.number), "PORT=" + std::to_string(taken.number) + " ./start"}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.output, HasSubstr("port " + std::to_string(taken.number) + " is in use"));
    EXPECT_THAT(ran.output, Not(HasSubstr("installing")));
  }
}

TEST(start, refuses_what_is_no_port) {
  for (const char* port : {"0", "65536", "080", "x", "\"\""}) {
    const Ran ran = run(std::string("./start --port ") + port);
    EXPECT_EQ(ran.status, 2) << port;
    EXPECT_THAT(ran.output, HasSubstr("1 to 65535")) << port;
  }
}

TEST(start, refuses_an_unknown_option_and_shows_the_known_ones) {
  const Ran ran = run("./start --prot 8080");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("unknown option --prot"));
  EXPECT_THAT(ran.output, HasSubstr("--build-only"));
}

TEST(start, refuses_an_option_without_its_value) { EXPECT_EQ(run("./start --port").status, 2); }

TEST(packages, of_a_section_are_its_names_without_comments) {
  const Ran ran = run(". scripts/packages.sh; packages_of node");
  EXPECT_EQ(ran.output, "nodejs\nnpm\n");
}

TEST(packages, of_several_sections_are_those_of_each) {
  const Ran ran = run(". scripts/packages.sh; packages_of start test");
  EXPECT_THAT(ran.output, HasSubstr("cmake\n"));
  EXPECT_THAT(ran.output, HasSubstr("libgtest-dev\n"));
  EXPECT_THAT(ran.output, Not(HasSubstr("nodejs")));
  EXPECT_THAT(ran.output, Not(HasSubstr("clang-tidy-14")));
}

TEST(packages, that_are_installed_are_not_missing) {
  const Ran ran = run(". scripts/packages.sh; printf \"bash\\nno-such-package\\ndpkg\\nnor-this\\n\" | missing_of");
  EXPECT_EQ(ran.output, "no-such-package nor-this");
}

}  // namespace
}  // namespace sdip::scripts
