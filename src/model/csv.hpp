#pragma once

/// @file
/// The CSV parser, as this program uses it: comments begin with '#', blanks around fields are dropped.

// A rank has one thread.
#define CSV_IO_NO_THREAD
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // It cuts long file names in its messages on purpose.
#endif
#include <libfccp/csv.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace steelyard {

template <unsigned kColumns>
using CsvReader = io::CSVReader<kColumns, io::trim_chars<' ', '\t'>, io::no_quote_escape<','>,
                                io::throw_on_overflow, io::single_line_comment<'#'>>;

}  // namespace steelyard
