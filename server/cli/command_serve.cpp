// sdip serve: the API and the dashboard, until a signal says stop.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "server/api/site.h"
#include "server/cli/commands.h"

namespace sdip {
namespace {

struct ServeArguments {
  int port = 8080;
  std::int64_t validate_seconds = 60;
  std::string data, host = "127.0.0.1";
};

constexpr std::chrono::seconds drain_time(5);

/// Waits for a signal, ends the server, and should it not be gone in time, the process: what is stored is whole at
/// any moment.
class Ending {
 public:
  Ending(HttpServer& server, const sigset_t& signals)
      : thread_([this, &server, signals] { wait(server, signals); }) {}
  ~Ending() {
    ended_ = true;
    ::pthread_kill(thread_.native_handle(), SIGINT);  // in case there was none
    thread_.join();
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  void wait(HttpServer& server, const sigset_t& signals) {
    int signal = 0;
    ::sigwait(&signals, &signal);
    if (!ended_) std::cerr << "sdip: stopping" << std::endl;
    const auto end = std::chrono::steady_clock::now() + drain_time;
    for (; !ended_; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      server.stop();
      if (std::chrono::steady_clock::now() < end) continue;
      std::cerr << "sdip: what is under way does not end; left as it is" << std::endl;
      ::_exit(exit_ok);
    }
  }

  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

int serve(const ServeArguments& arguments) {
  if (arguments.host != "127.0.0.1" && arguments.host != "localhost")
    throw Error("value_invalid", "--host", "this service has no accounts and answers on 127.0.0.1 only");
  // Every thread started from here on leaves these signals to the one that waits for them.
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  // The port first: one that is taken leaves no data folder behind. Nothing is asked before run().
  Answerer answerer;
  HttpServer server(
      arguments.port,
      {[&](const Call& call, const std::string& type) { return answerer.admit(call, type); },
       [&](const Call& call) { return answerer.answer(call); }, [&] { return answerer.upload_file(); }});
  const Ending ending(server, ends);
  Service service(arguments.data, this_program, arguments.validate_seconds);
  answerer = answerer_of(service);
  std::cout << "SDIP Explorer: http://127.0.0.1:" << server.port() << "/" << std::endl;
  server.run();
  return exit_ok;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
  const auto [command, a] =
      add_command<ServeArguments>(app, action, "serve", "The dashboard and the API on 127.0.0.1", serve);
  command.add_option("--port", a.port, "Port; 0: any free one")->capture_default_str();
  command.add_option("--data", a.data, "Folder for models and sweeps")->required();
  command.add_option("--host", a.host, "Loopback only")->capture_default_str();
  command
      .add_option("--validate-seconds", a.validate_seconds,
                  "Time in which the front of a finished sweep is validated; 0: not at all")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{3600}))
      ->capture_default_str();
}

}  // namespace sdip
