// Does a full disk give one clear error, and leave nothing half written?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

/// No file may grow beyond `bytes` while this lives: a write beyond it fails as on a full disk.
struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) {
    before = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    rlimit limit = old;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  rlimit old{};
  sighandler_t before{};
};

std::string refusal_of_sample(Store& store, std::int64_t id, const Space& space) {
  return refusal([&] { run_sample(store, id, space, {.threads = 2, .batch_points = 64}); });
}

/// The store kept whole batches up to the failure, can be read, and takes the rest once there is room.
void expect_whole_and_resumable(Store& store, std::int64_t id, const Space& space, const TemporaryFolder& other) {
  EXPECT_GT(store.sweep(id).done, 0);
  EXPECT_LT(store.sweep(id).done, store.sweep(id).total);
  EXPECT_EQ(store.sweep(id).done % 64, 0);
  run_sample(store, id, space, {.batch_points = 64});
  Store whole(other.store());
  const std::int64_t same = add_sample_sweep(whole, space);
  run_sample(whole, same, space, {});
  EXPECT_TRUE(exported(store, id, space, ExportFormat::csv) == exported(whole, same, space, ExportFormat::csv));
}

TEST(disk_full, at_a_file_size_limit_is_an_error_and_the_sweep_resumes) {
  const TemporaryFolder folder, other;
  const Space space = sample_space(10'000);
  Store store(folder.store());
  const std::int64_t id = add_sample_sweep(store, space);
  {
    const FileSizeLimit limit(2 << 20);
    EXPECT_EQ(refusal_of_sample(store, id, space), "disk_full at " + folder.store());
    EXPECT_EQ(store.sweep(id).total, 20'000) << "reading goes on";
  }
  expect_whole_and_resumable(store, id, space, other);
}

TEST(disk_full, while_a_store_is_made_is_an_error_and_the_next_try_works) {
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(20'000);
    EXPECT_EQ(refusal([&] { const Store store(folder.store()); }), "disk_full at " + folder.store());
  }
  EXPECT_EQ(refusal([&] { const Store store(folder.store()); }), "accepted");
}

TEST(disk_full, on_a_small_disk_is_an_error_and_the_sweep_resumes) {
  const TemporaryFolder folder, other;
  if (mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "mounting a small disk needs root";
  {
    const Space space = sample_space(10'000);
    Store store(folder.store());
    const std::int64_t id = add_sample_sweep(store, space);
    const auto ballast = folder.path / "ballast";
    std::ofstream(ballast) << std::string(1 << 20, 'x');
    EXPECT_EQ(refusal_of_sample(store, id, space), "disk_full at " + folder.store());
    // More than the pages that the failed batch had claimed.
    SweepRow large = store.sweep(id);
    large.name = std::string(2 << 20, 'x');
    EXPECT_EQ(refusal([&] { store.add_sweep(large); }), "disk_full at " + folder.store());
    EXPECT_EQ(store.sweeps().size(), 1u);
    EXPECT_EQ(mount("tmpfs", folder.path.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
    expect_whole_and_resumable(store, id, space, other);
  }
  EXPECT_EQ(umount(folder.path.c_str()), 0);
}

}  // namespace
}  // namespace sdip
