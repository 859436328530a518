// zero_names.h: which tensors may be all zeros without anything being wrong. Internal to core/doctor.
// Layer:  core/doctor (5). Pure functions.
// Rule:   by the words of a name, split at '.', '_', '/' and ':': biases, norms, running statistics, masks, position ids, offsets of quantization, and layers
// that
//         are named after being zero (ControlNet's zero convolutions) start or stay at zero. Tensors of less than one block, and whole numbers, are judged only
//         when they are called weights: a few zeros, or zero counters, say nothing.
#pragma once

#include "formats/tensor.h"

namespace vouchfs::doctor {

bool may_be_zero(const formats::Tensor& tensor);
// Embeddings and output heads: rows of words that do not exist are zero in many good models.
bool may_have_zero_rows(const formats::Tensor& tensor);

}  // namespace vouchfs::doctor
