#include "src/cli/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "modes/injection.hpp"
#include "modes/trial.hpp"
#include "src/cli/console.hpp"
#include "src/cli/output_file.hpp"
#include "src/cli/rating.hpp"
#include "src/cli/staleness_report.hpp"
#include "src/model/model.hpp"

namespace steelyard::cli {
namespace {

using nlohmann::json;
using trace::view;

bool is_replay(const trace::RunTables& tables) { return tables.model.starts_with("replay:"); }

std::string interval(const trace::Estimate& e) {
  if (!std::isfinite(e.low) || !std::isfinite(e.high))
    return number_text(e.median) + " [too few for an interval]";
  return fmt::format("{} [{}, {}]", number_text(e.median), number_text(e.low), number_text(e.high));
}

std::string plural(std::int64_t count, const std::string& word) {
  return fmt::format("{} {}{}", with_commas(count), word, count == 1 ? "" : "s");
}

std::size_t parameters_of(const trace::RunTables& tables) {
  std::size_t elements = 0;
  for (const trace::TensorRow& row : tables.inventory) elements += row.elements;
  return elements;
}

std::string server_table(const trace::TrialSummary& s) {
  double total = 0.0;
  for (const trace::ServerLoad& load : s.server_load)
    total += static_cast<double>(load.bytes_in + load.bytes_out);
  Table table({"server", "rank", "bytes in", "bytes out", "share %", "messages", "busy s", "apply s"});
  for (const trace::ServerLoad& load : s.server_load)
    table.add(
        {std::to_string(load.server), std::to_string(load.rank),
         bytes_text(static_cast<double>(load.bytes_in)), bytes_text(static_cast<double>(load.bytes_out)),
         fmt::format("{:.2f}",
                     total > 0 ? 100.0 * static_cast<double>(load.bytes_in + load.bytes_out) / total : 0.0),
         with_commas(static_cast<std::int64_t>(load.messages)), fmt::format("{:.3f}", load.busy_s),
         fmt::format("{:.3f}", load.apply_s)});
  const auto line = [](const char* what, const trace::Imbalance& i) {
    return fmt::format("{:<8} max/mean {:.2f}   CoV {:.2f}   Gini {:.2f}   percent imbalance {:.1f} %\n",
                       what, i.max_over_mean, i.cov, i.gini, i.percent_imbalance);
  };
  return table.text() + line("bytes", s.server_bytes) + line("messages", s.server_messages) +
         line("busy", s.server_busy);
}

std::string result_text(const trace::RunTables& tables, const trace::TrialData& trial,
                        const trace::TrialSummary& s) {
  const std::string what = !is_replay(tables) ? fmt::format("loss {}, test {} {}", number_text(s.loss),
                                                            accuracy_name(tables), number_text(s.accuracy))
                           : view(trial.row.consistency) == "asp"
                               ? "every piece received was checked to be whole"
                               : "every value received was checked bit for bit";
  return fmt::format("{}, {}, parameter hash {:016x}", plural(s.steps, "step"), what,
                     trial.final.parameter_hash);
}

json configuration_json(const std::string& run, const trace::RunTables& tables, const trace::TrialRow& row) {
  return {{"run", run},
          {"label", std::string(view(row.label))},
          {"mode", std::string(view(row.mode))},
          {"collective", std::string(view(row.collective))},
          {"wire", std::string(view(row.wire))},
          {"sharded_optimizer", row.sharded_optimizer != 0},
          {"placement", std::string(view(row.placement))},
          {"consistency", std::string(view(row.consistency))},
          {"transport", std::string(view(row.transport))},
          {"aggregate", std::string(view(row.aggregate))},
          {"ranks", tables.ranks},
          {"servers", row.servers},
          {"workers", row.workers},
          {"model", tables.model},
          {"data", tables.data},
          {"batch", row.batch},
          {"slow", std::string(view(row.slow))},
          {"validity", tables.validity}};
}

json pop_json(const trace::Pop& pop) {
  return {{"load_balance", pop.load_balance},
          {"communication_efficiency", pop.communication_efficiency},
          {"parallel_efficiency", pop.parallel_efficiency}};
}

json pops_json(const trace::TrialSummary& s) {
  json out = pop_json(s.pop);
  out["worker"] = pop_json(s.worker_pop);
  out["server"] = s.server_pop ? pop_json(*s.server_pop) : json(nullptr);
  return out;
}

std::string pop_text(const trace::TrialSummary& s) {
  const auto factors = [](const trace::Pop& pop) {
    return fmt::format("parallel {:.2f} = load balance {:.2f} x communication {:.2f}",
                       pop.parallel_efficiency, pop.load_balance, pop.communication_efficiency);
  };
  std::string text = line_text("efficiency", factors(s.pop));
  if (s.server_pop)
    text += line_text("", "workers " + factors(s.worker_pop)) +
            line_text("", "servers " + factors(*s.server_pop));
  return text;
}

json timing_json(const trace::TrialSummary& s) {
  const trace::PhaseTimes& p = s.phases_ms;
  return {{"measured_steps", s.measured_steps},
          {"images_per_s", finite_json(s.images_per_s)},
          {"step_ms", estimate_json(s.step_ms)},
          {"phases_ms",
           {{"data", p.data},
            {"forward", p.forward},
            {"backward", p.backward},
            {"push", p.push},
            {"wait", p.wait},
            {"update", p.update}}},
          {"goodput_gb_per_s", finite_json(s.goodput_gb_per_s)},
          {"worker_max_over_mean", {{"compute", s.worker_busy.max_over_mean}}},
          {"pop", pops_json(s)}};
}

json server_json(const trace::TrialSummary& s) {
  json out = {{"pushes", s.pushes},
              {"applied", s.applied},
              {"dropped", s.dropped},
              {"server_max_over_mean",
               {{"bytes", s.server_bytes.max_over_mean},
                {"messages", s.server_messages.max_over_mean},
                {"busy", s.server_busy.max_over_mean}}},
              {"server_load", json::array()}};
  for (const trace::ServerLoad& load : s.server_load)
    out["server_load"].push_back({{"server", load.server},
                                  {"rank", load.rank},
                                  {"bytes_in", load.bytes_in},
                                  {"bytes_out", load.bytes_out},
                                  {"messages", load.messages},
                                  {"busy_s", load.busy_s}});
  return out;
}

}  // namespace

std::string target_text(const trace::TrialData& trial, const trace::TrialSummary& s) {
  if (s.target.accuracy <= 0.0) return "";
  const std::string found = s.target.reached() ? fmt::format("reached after {} s, step {}",
                                                             number_text(s.target.time_s), s.target.step)
                                               : std::string("not reached");
  return fmt::format("{} {} (evaluated every {})", number_text(s.target.accuracy), found,
                     trial.final.evaluate_every);
}

std::string divergence_text(const trace::TrialSummary& s) {
  const std::string quote = s.diverged_tensor == kTheLoss ? "" : "'";
  return fmt::format("step {}: {}{}{} is not finite", s.diverged_step, quote, s.diverged_tensor, quote);
}

std::string stop_text(const trace::TrialRow& row, const trace::TrialSummary& s) {
  if (s.steps >= row.steps)
    return fmt::format("by a signal in the last of {} or after it", plural(row.steps, "step"));
  return fmt::format("by a signal after {} of {}", with_commas(s.steps), plural(row.steps, "step"));
}

std::string accuracy_name(const trace::RunTables& tables) {
  if (is_replay(tables)) return "accuracy";
  const auto model = describe_model(tables.model);
  return model && model.value().tagged ? "mean average precision" : "accuracy";
}

std::string trial_title(const trace::TrialRow& row) {
  if (view(row.mode) == "ps")
    return fmt::format("ps {}, {} + {}, placement {}, transport {}{}", consistency_text(row),
                       plural(row.servers, "server"), plural(row.workers, "worker"), view(row.placement),
                       view(row.transport), view(row.aggregate) == "node" ? " summed by node" : "");
  const std::string wire = view(row.wire) == "fp32" ? "" : fmt::format(" in {}", view(row.wire));
  const std::string_view sharded = row.sharded_optimizer == 0 ? "" : ", sharded optimizer";
  return fmt::format("allreduce by {}{}{}, {}", view(row.collective), wire, sharded,
                     plural(row.workers, "worker"));
}

json trial_json(const std::string& run, const trace::RunTables& tables, const trace::TrialData& trial,
                const trace::TrialSummary& s) {
  json out = configuration_json(run, tables, trial.row);
  out.update(timing_json(s));
  out.update(server_json(s));
  out.update(policy_json(trial.row));
  out.update(staleness_json(s));
  out["steps"] = s.steps;
  out["loss"] = is_replay(tables) ? json(nullptr) : finite_json(s.loss);
  out["accuracy"] = finite_json(s.accuracy);
  out["accuracy_measure"] = accuracy_name(tables);
  out["core_busy"] = finite_json(trial.final.core_busy);
  out["parameter_hash"] = fmt::format("{:016x}", trial.final.parameter_hash);
  out["messages"] = s.messages;
  out["trace_overhead"] = finite_json(s.trace_overhead);
  out["target_accuracy"] = s.target.accuracy > 0.0 ? json(s.target.accuracy) : json(nullptr);
  out["time_to_target_s"] = finite_json(s.target.time_s);
  out["target_step"] = s.target.reached() ? json(s.target.step) : json(nullptr);
  out["status"] = s.diverged ? "diverged" : std::string(view(trial.row.status));
  out["diverged"] =
      s.diverged ? json{{"step", s.diverged_step}, {"tensor", s.diverged_tensor}} : json(nullptr);
  out["evaluations"] = json::array();
  for (const trace::EvaluationRow& one : trial.evaluations)
    out["evaluations"].push_back({{"step", one.step},
                                  {"time_s", finite_json(trace::seconds_after_begin(trial, one.time_ns))},
                                  {"loss", finite_json(one.loss)},
                                  {"accuracy", finite_json(one.accuracy)}});
  return out;
}

std::string trial_text(const trace::RunTables& tables, const trace::TrialData& trial,
                       const trace::TrialSummary& s) {
  const trace::PhaseTimes& p = s.phases_ms;
  std::string text;
  text += line_text("mode", trial_title(trial.row)) + injected_text(view(trial.row.slow));
  text +=
      line_text("model", fmt::format("{}, {} in {}, global batch {}", tables.model,
                                     plural(static_cast<std::int64_t>(parameters_of(tables)), "parameter"),
                                     plural(static_cast<std::int64_t>(tables.inventory.size()), "tensor"),
                                     with_commas(trial.row.batch)));
  text += line_text("data", tables.data);
  text += line_text("result", result_text(tables, trial, s));
  if (s.diverged) text += line_text("DIVERGED", divergence_text(s));
  if (view(trial.row.status) == "stopped") text += line_text("STOPPED", stop_text(trial.row, s));
  if (const std::string target = target_text(trial, s); !target.empty()) text += line_text("target", target);
  text += line_text(
      "speed", fmt::format("{} images/s, step {} ms over {} after the warm-up", number_text(s.images_per_s),
                           interval(s.step_ms), plural(s.measured_steps, "step")));
  text += line_text(
      "step (ms)",
      fmt::format("data {:.3f}  forward {:.3f}  backward {:.3f}  push {:.3f}  wait {:.3f}  update {:.3f}",
                  p.data, p.forward, p.backward, p.push, p.wait, p.update));
  text += line_text("moved", fmt::format("{:.3f} GB/s payload at the workers, {}", s.goodput_gb_per_s,
                                         plural(static_cast<std::int64_t>(s.messages), "message")));
  text += pop_text(s);
  if (s.pushes > 0)
    text +=
        line_text("pushes", fmt::format("{} applied of {}", with_commas(static_cast<std::int64_t>(s.applied)),
                                        with_commas(static_cast<std::int64_t>(s.pushes))));
  text += staleness_text(trial.row, s);
  if (trial.final.core_busy > 0.0)
    text += line_text("cores",
                      fmt::format("{:.0f} % busy on the busiest machine", 100.0 * trial.final.core_busy));
  text += line_text("recording", fmt::format("{:.2f} % of the time", 100.0 * s.trace_overhead));
  if (!s.server_load.empty()) text += "\n" + server_table(s);
  return text;
}

std::string injected_text(std::string_view slow, const std::string& who) {
  if (slow.empty()) return "";
  const auto injection = parse_injection(slow);
  // A file may hold anything.
  const std::string words = injection ? injection.value().words() : std::string(slow);
  return wrapped(line_text("injected", who + words), 98, std::string(line_text("", "").size() - 1, ' '));
}

json choices_json(const std::vector<CollectiveChoice>& choices) {
  json out = json::array();
  for (const CollectiveChoice& choice : choices) {
    json timings = json::object();
    for (const CollectiveTiming& one : choice.timings)
      timings[one.backend] = static_cast<double>(one.ns) / 1e3;
    out.push_back({{"bytes", choice.bytes}, {"chosen", choice.chosen}, {"timings_us", std::move(timings)}});
  }
  return out;
}

std::string choices_text(const json& choices) {
  std::string text;
  for (const json& one : choices) {
    std::string line =
        fmt::format("{} by {}", bytes_text(one["bytes"].get<double>()), one["chosen"].get<std::string>());
    for (const auto& [backend, us] : one["timings_us"].items())
      line += fmt::format(", {} {} us", backend, number_text(us.get<double>()));
    text += line_text("bucket", line);
  }
  return text;
}

std::string json_text(const json& value) {
  // Texts of a file that is not trusted may be no UTF-8.
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Status write_json(const std::string& path, const json& value) {
  return write_text("json", path, json_text(value));
}

}  // namespace steelyard::cli
