// Has any number of the engine changed?
#include "core/study/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sdip {
namespace {

std::string recorded(const char* name) {
  std::ifstream file(std::string(SDIP_SOURCE_DIR) + "/tests/golden/" + name);
  std::string text;
  file >> text;
  return text;
}

TEST(signature, is_the_recorded_one) {
  EXPECT_EQ(signature(), recorded("signature.txt"))
      << "a number moved: say why in the commit, and record `sdip signature`";
  EXPECT_EQ(devices_signature(), recorded("devices_signature.txt"))
      << "a number moved: say why in the commit, and record `sdip signature --devices`";
}

TEST(signature, covers_every_stage_and_is_the_same_twice) {
  const std::string text = signature_text();
  EXPECT_EQ(text, signature_text());
  for (const char* part : {"tiny-sd-vae-encoder", "sd15-unet", "resnet50", "bert-base"})
    EXPECT_THAT(text, testing::HasSubstr(part));
  const std::string of_devices = devices_signature_text();
  EXPECT_EQ(of_devices, devices_signature_text());
  EXPECT_THAT(of_devices, testing::HasSubstr("a100"));
}

}  // namespace
}  // namespace sdip
