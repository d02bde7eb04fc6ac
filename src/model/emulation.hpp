#pragma once

/// @file
/// Compute that is emulated: how long each tensor's layer takes, and how that time is spent.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/inventory.hpp"

namespace steelyard {

/// As asked for.
struct Emulation {
  double compute_ms = 0.0;  ///< Forward and backward of one worker in a step.
  std::size_t samples = 0;  ///< That the time is for; 0: a worker's own share, however many that are.
  std::string profile{};    ///< File of times by tensor instead; empty: none.
  std::string compute = "sleep";
  double grain_ms = 1.0;  ///< A layer lets messages move this often; 0: between layers alone.

  /// What times of a plan are multiplied with for so many samples.
  double share_of_time(std::size_t of_samples) const {
    return samples == 0 ? 1.0 : static_cast<double>(of_samples) / static_cast<double>(samples);
  }
};

/// [tensors] nanoseconds for the reference number of samples.
struct ComputePlan {
  std::vector<double> forward_ns;
  std::vector<double> backward_ns;
};

/// Splits --compute-ms over the tensors by their operations, one third forward and two thirds backward (two
/// products of the forward's size each: of the weights' gradient and of the input's); or reads the profile,
/// columns name,forward_ms,backward_ms, one row for every tensor of the inventory.
Expected<ComputePlan> plan_compute(const Emulation& emulation, const Inventory& inventory,
                                   const std::vector<double>& operations);

enum class Compute : std::uint8_t {
  sleep,  ///< Timed sleep: leaves the core to others, as a GPU does.
  quota,  ///< Real work for that long in CPU time; under a CPU quota it takes as much longer.
};
Expected<Compute> choose_compute(std::string_view name);

/// Makes a stretch of the rank's time as long as a layer's compute. What the rank really does in between
/// counts; what one stretch is too long or too short, within bounds, the next makes good.
class ComputeClock {
 public:
  explicit ComputeClock(Compute compute) : compute_(compute) {}
  void begin();
  void end(double duration_ns);
  /// As end, but calls `progress` every `grain_ns` on the way (0: never). Beside a sleep, as beside a GPU, it
  /// takes no time of its own; work waits for it.
  template <typename Progress>
  void end(double duration_ns, double grain_ns, Progress&& progress) {
    double spent_ns = 0.0;
    for (; grain_ns > 0.0 && duration_ns - spent_ns > grain_ns; spent_ns += grain_ns) {
      if (compute_ == Compute::quota)
        end(grain_ns);
      else
        sleep_for(spent_ns + grain_ns);
      progress();
      if (compute_ == Compute::quota) begin();
    }
    end(compute_ == Compute::quota ? duration_ns - spent_ns : duration_ns);
  }

 private:
  std::int64_t now_ns() const;
  /// Until `after_ns` of the present stretch are over.
  void sleep_for(double after_ns) const;

  Compute compute_;
  std::int64_t begin_ns_ = 0;
  double owed_ns_ = 0.0;  ///< Still to be spent; negative: spent too much.
};

}  // namespace steelyard
