// Points that are kept, as JSON and as schemas.
#include "server/api/schema_parts.h"

namespace sdip {

template <>
Record<KeptPoint> make_record() {
  return Record<KeptPoint>("KeptPoint")
      .field("index", &KeptPoint::index)
      .field("created", &KeptPoint::created)
      .field("signature", &KeptPoint::signature)
      .field("text_bytes", &KeptPoint::text_bytes);
}

void add_kept_points(OrderedJson& schemas) {
  using namespace schema;
  schemas["KeptPoint"] = record<KeptPoint>().schema();
  schemas["KeptPoints"] = object({{"points", array(reference("KeptPoint"))}});
  schemas["KeptAnalyses"] = object({{"index", integer()},
                                    {"created", text()},
                                    {"signature", text()},
                                    {"text_bytes", integer()},
                                    {"analyses", array(reference("Analysis"))}});
}

}  // namespace sdip
