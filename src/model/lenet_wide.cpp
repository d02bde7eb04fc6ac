#include <charconv>

#include "src/model/lenet.hpp"

namespace steelyard {

Expected<ModelSpec> describe_lenet_wide(std::string_view arguments) {
  constexpr std::size_t kWidest = 1000;
  std::size_t wider = 0;
  const char* const end = arguments.data() + arguments.size();
  const auto [rest, code] = std::from_chars(arguments.data(), end, wider);
  if (code != std::errc() || rest != end || wider < 1 || wider > kWidest)
    return Error{"model 'lenet-wide:" + std::string(arguments) + "' needs a whole number from 1 to " +
                 std::to_string(kWidest) +
                 ", how many times wider its fully connected layers are, such as "
                 "lenet-wide:8"};
  return lenet_spec({.wider = wider});
}

}  // namespace steelyard
