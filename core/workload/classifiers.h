// Image classifiers: ResNet-50 and MobileNetV2 as torchvision builds them, 1000 classes. Internal to its room.
#pragma once

#include "core/workload/draft.h"

namespace sdip::workload {

/// input [B,3,H,W] -> output [B,1000]. BatchNormalization stays a node of its own, so that its parameters are seen.
void write_resnet50(Draft& draft, const Sizes& sizes);
void write_mobilenetv2(Draft& draft, const Sizes& sizes);

}  // namespace sdip::workload
