#include "src/cli/row_values.hpp"

#include <fmt/format.h>

#include <cstring>

#include "src/base/check.hpp"
#include "src/cli/rating.hpp"

namespace steelyard::cli {
namespace {

template <typename Number>
Number number_at(const void* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

}  // namespace

nlohmann::json field_json(const trace::Field& field, const void* row) {
  const char* const from = static_cast<const char*>(row) + field.offset;
  switch (field.kind) {
    case trace::Kind::u8:
    case trace::Kind::phase:
    case trace::Kind::drop_reason:
      return number_at<std::uint8_t>(from);
    case trace::Kind::u16:
      return number_at<std::uint16_t>(from);
    case trace::Kind::u32:
      return number_at<std::uint32_t>(from);
    case trace::Kind::u64:
      return number_at<std::uint64_t>(from);
    case trace::Kind::i32:
      return number_at<std::int32_t>(from);
    case trace::Kind::i64:
      return number_at<std::int64_t>(from);
    case trace::Kind::f32:
      return finite_json(number_at<float>(from));
    case trace::Kind::f64:
      return finite_json(number_at<double>(from));
    case trace::Kind::text: {
      const std::string_view whole(from, field.size);
      return std::string(whole.substr(0, whole.find('\0')));
    }
  }
  die("unknown kind of field");
}

std::string cell_text(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_string()) return value.dump();
  const std::string& text = value.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace steelyard::cli
