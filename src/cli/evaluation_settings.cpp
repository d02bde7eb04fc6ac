#include "src/cli/evaluation_settings.hpp"

#include <fmt/format.h>

namespace steelyard::cli {

Status check_evaluation(const Options& options) {
  const bool train = options.command == Command::train;
  const std::string& evaluate = options.text("evaluate");
  const std::string& model = options.text("model");
  const Step every = options.integer("evaluate-every");
  for (const char* name : {"evaluate-every", "target-accuracy"})
    if (model.starts_with("replay") && options.real(name) > 0.0)
      return Error{
          fmt::format("--{} {}: '{}' moves gradients without computing them, so it has no accuracy; choose a "
                      "model that is trained",
                      name, options.text(name), model)};
  if (every > 0 && options.given("evaluate") && evaluate != "end")
    return Error{fmt::format(
        "--evaluate {} and --evaluate-every {} say two different things; give one of them", evaluate, every)};
  if (options.real("target-accuracy") > 0.0 && every == 0 && !(train && evaluate == "epoch"))
    return Error{
        fmt::format("--target-accuracy {} needs evaluations on the way; give --evaluate-every STEPS{}",
                    options.text("target-accuracy"), train ? " or --evaluate epoch" : "")};
  return success();
}

void set_evaluation(const Options& options, TrialRequest& request) {
  const std::string& evaluate = options.text("evaluate");
  TrialConfig& config = request.config;
  config.evaluate_every = options.integer("evaluate-every");
  config.evaluate_at_end = evaluate != "never" || config.evaluate_every > 0;
  config.target_accuracy = options.real("target-accuracy");
  request.evaluate_epochs = evaluate == "epoch" && config.evaluate_every == 0;
}

}  // namespace steelyard::cli
