// sdip serve: the API and the dashboard, until a signal says stop.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "server/commands.h"
#include "server/site.h"

namespace sdip {
namespace {

struct ServeArguments {
  int port = 8080;
  std::int64_t validate_seconds = 60;
  std::string data, host = "127.0.0.1";
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
  HttpServer server(arguments.port,
                    {[&](const Call& call, const std::string& type) { return answerer.refuse(call, type); },
                     [&](const Call& call) { return answerer.answer(call); }});
  Service service(arguments.data, this_program, arguments.validate_seconds);
  answerer = answerer_of(service);
  std::atomic<bool> ended = false;
  std::thread waiter([&] {
    int signal = 0;
    ::sigwait(&ends, &signal);
    std::cerr << "sdip: stopping" << std::endl;
    // Again, should the signal have come before the server ran.
    for (; !ended; std::this_thread::sleep_for(std::chrono::milliseconds(20))) server.stop();
  });
  std::cout << "SDIP Explorer: http://127.0.0.1:" << server.port() << "/" << std::endl;
  server.run();
  ended = true;
  ::pthread_kill(waiter.native_handle(), SIGTERM);  // in case run() ended by itself
  waiter.join();
  return exit_ok;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ServeArguments>();
  auto* command = app.add_subcommand("serve", "The dashboard and the API on 127.0.0.1");
  command->add_option("--port", arguments->port, "Port; 0: any free one")->capture_default_str();
  command->add_option("--data", arguments->data, "Folder for models and sweeps")->required();
  command->add_option("--host", arguments->host, "Loopback only")->capture_default_str();
  command
      ->add_option("--validate-seconds", arguments->validate_seconds,
                   "Time in which the front of a finished sweep is validated; 0: not at all")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{3600}))
      ->capture_default_str();
  command->callback([&action, arguments] { action = [=] { return serve(*arguments); }; });
}

}  // namespace sdip
