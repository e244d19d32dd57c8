// SPDX-License-Identifier: MIT
// A contender in a comparison on one trajectory: a load model with a criterion and a partitioner of its own.
#pragma once
#include <string>

#include "balance/criterion/criterion.hpp"
#include "balance/partition/partition.hpp"

namespace balance {

struct Contender {
    std::string name;   ///< unique in a run
    std::string model;  ///< one of model_names()
    CriterionOptions criterion{};
    PartitionOptions partition{};
};

}  // namespace balance
