// BERT-base, uncased, with its pooler. Internal to its room.
#pragma once

#include "core/workload/draft.h"

namespace sdip::workload {

/// input_ids, attention_mask, token_type_ids int64 [B,N] -> last_hidden_state [B,N,768], pooler_output [B,768].
void write_bert_base(Draft& draft, const Sizes& sizes);

}  // namespace sdip::workload
