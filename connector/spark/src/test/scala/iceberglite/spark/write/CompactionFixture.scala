package iceberglite.spark.write

import scala.concurrent.duration._

import org.scalatest.Suite

import iceberglite.spark.LoggedWarnings

/** Helpers for tests of automatic compaction. */
trait CompactionFixture extends WriteFixture { self: Suite =>
  private val logger = "iceberglite.spark.maintenance.AutoCompaction"

  /** Table properties that enable automatic compaction of partitions with at least 4 small files. */
  protected val enabled: Seq[(String, String)] =
    Seq("iceberg-lite.auto-compact" -> "true", "iceberg-lite.auto-compact.min-input-files" -> "4")

  protected def properties(pairs: Seq[(String, String)]): String =
    pairs.map { case (k, v) => s"'$k' = '$v'" }.mkString("TBLPROPERTIES (", ", ", ")")

  /**
   * Waits until the Parquet and Puffin files in the table's directory are exactly the data and delete files of the
   * table's snapshots.
   */
  protected def assertNoOrphans(t: String): Unit = {
    val listed = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0).split('/').last).toSet
    eventually(timeout(10.seconds)) {
      val files = filesOf(t).map(_.getFileName.toString).filterNot(_.startsWith("."))
      assert(files.filter(name => name.endsWith(".parquet") || name.endsWith(".puffin")) == listed)
    }
    ()
  }

  /** Runs the body, and returns the warnings that automatic compaction has logged in the meantime. */
  protected def compactionWarnings(body: => Unit): Seq[String] = LoggedWarnings.of(logger)(body)
}
