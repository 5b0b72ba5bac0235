// The dashboard's files as a browser gets them.
#include "server/api/assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::StartsWith;

TEST(assets, a_coding_is_taken_where_it_is_named_and_not_refused) {
  EXPECT_TRUE(takes_coding("gzip, deflate, br, zstd", "br"));
  EXPECT_TRUE(takes_coding("gzip;q=0.5, BR ; q=1.0", "br"));
  EXPECT_TRUE(takes_coding("*", "gzip"));
  EXPECT_FALSE(takes_coding("", "gzip"));
  EXPECT_FALSE(takes_coding("identity, brotli", "br"));
  EXPECT_FALSE(takes_coding("br;q=0, *", "br"));
  EXPECT_FALSE(takes_coding("br; q=0.000", "br"));
  EXPECT_TRUE(takes_coding("br;q=0.001", "br"));
  EXPECT_FALSE(takes_coding("*;q=0", "br"));
}

std::string head_of(const Site& site, const std::string& path, const std::string& more) {
  return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(site.port) + "\r\n" + more +
         "Connection: close\r\n\r\n";
}

/// The largest file of the dashboard, its path.
std::string largest_script() {
  std::string_view path;
  std::size_t bytes = 0;
  for (const Asset& asset : web_assets()) {
    if (!asset.path.ends_with(".js") || asset.bytes.size() <= bytes) continue;
    path = asset.path;
    bytes = asset.bytes.size();
  }
  return std::string(path);
}

TEST(assets, are_sent_as_small_as_the_browser_takes_them_and_not_again) {
  const std::string path = largest_script();
  if (path.empty()) GTEST_SKIP() << "built without web/dist";
  const Site site;
  const Answer plain = send_bytes(site.port, head_of(site, path, ""));
  const Answer zipped = send_bytes(site.port, head_of(site, path, "Accept-Encoding: gzip\r\n"));
  const Answer brotli = send_bytes(site.port, head_of(site, path, "Accept-Encoding: gzip, deflate, br\r\n"));
  ASSERT_EQ(plain.status, 200);
  EXPECT_FALSE(plain.headers.contains("content-encoding"));
  EXPECT_EQ(zipped.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(brotli.headers.at("content-encoding"), "br");
  EXPECT_THAT(zipped.body, StartsWith("\x1f\x8b"));
  EXPECT_LT(zipped.body.size() * 2, plain.body.size());
  EXPECT_LT(brotli.body.size(), zipped.body.size());
  for (const Answer* answer : {&plain, &zipped, &brotli}) {
    EXPECT_EQ(answer->headers.at("vary"), "Accept-Encoding");
    EXPECT_THAT(answer->headers.at("content-type"), StartsWith("text/javascript"));
  }
  EXPECT_NE(plain.headers.at("etag"), brotli.headers.at("etag"));
  const std::string known = "If-None-Match: \"other\", W/" + brotli.headers.at("etag") + "\r\n";
  const Answer again = send_bytes(site.port, head_of(site, path, "Accept-Encoding: br\r\n" + known));
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(again.headers.at("etag"), brotli.headers.at("etag"));
  EXPECT_EQ(send_bytes(site.port, head_of(site, path, known)).status, 200) << "the plain file is another thing";
}

TEST(assets, compressed_forms_have_no_address_of_their_own) {
  const std::string path = largest_script();
  if (path.empty()) GTEST_SKIP() << "built without web/dist";
  const Site site;
  EXPECT_EQ(site.get(path + ".br").status, 404);
  EXPECT_EQ(site.get(path + ".gz").status, 404);
}

}  // namespace
}  // namespace sdip::test
