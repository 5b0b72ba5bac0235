// The JSON schemas of published chips: what is predicted of each, beside what was published.
#include "server/api/schema_parts.h"

namespace sdip {

void add_chips(OrderedJson& schemas) {
  using namespace schema;
  const Schema parts = {{"type", "object"}, {"additionalProperties", number()}};
  schemas["ChipFigure"] = object({{"name", text()}, {"value", number()}, {"tag", text()}, {"source", text()}});
  schemas["ChipValue"] = object({{"value", number()},
                                 {"least", number()},
                                 {"most", number()},
                                 {"published?", number()},
                                 {"published_as?", text()},
                                 {"bound?", flag()},
                                 {"predicted_over_published?", number()}});
  schemas["Chip"] = object({{"id", text()},
                            {"name", text()},
                            {"use", one_of({"fit", "predict", "check"})},
                            {"node_nm", number()},
                            {"area_mm2", reference("ChipValue")},
                            {"power_w", reference("ChipValue")},
                            {"clock_mhz", object({{"limit", number()}, {"published?", number()}})},
                            {"area_parts_mm2", parts},
                            {"power_parts_w", parts},
                            {"figures", array(reference("ChipFigure"))}});
  schemas["Chips"] = object({{"chips", array(reference("Chip"))}});
}

}  // namespace sdip
