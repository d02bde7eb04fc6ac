// Compiled once per instruction set, with the name of the table as STEELYARD_TABLE.
#include "kernels/dispatch/table.hpp"

namespace steelyard::kernels {

const KernelTable STEELYARD_TABLE = {
#define KERNEL(result, name, parameters, arguments) &name,
#include "kernels/dispatch/kernels.def"
#undef KERNEL
};

}  // namespace steelyard::kernels
