#pragma once

/// @file
/// A value or the reason why there is none. Same member names as std::expected (C++23).

#include <string>
#include <utility>
#include <variant>

namespace steelyard {

/// What the user did wrong and how to mend it, in one sentence: the value, why, what is allowed.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T result) : state_(std::move(result)) {}
  Expected(Error reason) : state_(std::move(reason)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// The outcome of something that has no value to give.
using Status = Expected<std::monostate>;
inline Status success() { return std::monostate{}; }

}  // namespace steelyard
