package iceberglite.bench.version4

import iceberglite.bench.Timing
import iceberglite.bench.MemoryIO
import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.spec.FormatVersion
import iceberglite.table.action.{ExpireOptions, MergeAppend}

/**
 * The sizes of the metadata after many commits that append one file each.
 *
 * @param ms the wall time of all commits in milliseconds, without latency of the storage
 * @param files the number of files of the metadata trees after the commits
 * @param bytes the length of these files in bytes
 * @param tableMetadataBytes the length of the newest table metadata file in bytes
 * @param largestFile the length of the largest file of the metadata trees in bytes
 * @param expiryMs the wall time of the expiration of all snapshots but the newest
 * @param filesAfterExpiry the number of files of the metadata trees after this expiration
 * @param bytesAfterExpiry the length of these files in bytes
 */
final case class HistorySizes(
    commits: Int,
    ms: Double,
    files: Long,
    bytes: Long,
    tableMetadataBytes: Long,
    largestFile: Long,
    expiryMs: Double,
    filesAfterExpiry: Long,
    bytesAfterExpiry: Long
)

object HistorySizes {

  /** Only the newest table metadata files are kept, so that their total size does not grow with the commits. */
  private val properties =
    Map("write.metadata.delete-after-commit.enabled" -> "true", "write.metadata.previous-versions-max" -> "1")

  /** @param limits further properties of the table, such as limits of the root */
  def of(version: FormatVersion, columns: Int, commits: Int, limits: Map[String, String] = Map.empty): HistorySizes = {
    val data = new SyntheticFiles(columns, commits)
    val io = new MeasuredIO(new MemoryIO, 0)
    val empty = BenchTable.create(io, version, data, properties ++ limits)
    val (ms, table) = Timing.of((0 until commits).foldLeft(empty) { (current, i) =>
      BenchTable.commit(current, new MergeAppend(Vector(data.file(i))))
    })
    val before = io.requests
    val tableMetadata = io.stored(table.metadataLocation)
    val expire = ExpireOptions(olderThanMs = Some(Long.MaxValue), retainLast = Some(1))
    val (expiryMs, _) = Timing.of(new SnapshotExpiry(table, expire, new LocalUnreachableFiles).run())
    val after = io.requests
    HistorySizes(
      commits,
      ms,
      before.writtenFiles,
      before.writtenBytes,
      tableMetadata,
      before.largestFile,
      expiryMs,
      after.writtenFiles,
      after.writtenBytes
    )
  }
}
