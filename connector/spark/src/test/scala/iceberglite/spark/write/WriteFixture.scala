package iceberglite.spark.write

import java.nio.file.Path

import scala.concurrent.duration._

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Suite
import org.scalatest.concurrent.Eventually

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession

/** What the suites of writes look at besides rows. */
trait WriteFixture extends SharedSession with Eventually { self: Suite =>

  /** Every file below a table's directory, with metadata but for the version's hint. */
  protected def filesOf(table: String): Set[Path] = {
    val parts = table.split('.')
    FilesBelow.withoutHints(SharedSession.warehouse.resolve(parts(1)).resolve(parts(2)))
  }

  protected def dataFilesOf(table: String): Set[Path] = filesOf(table).filter(_.toString.endsWith(".parquet"))

  /** The table's live files, as Apache Iceberg lists them. */
  protected def listed(table: String, columns: String = "*"): Seq[Row] =
    rows(s"SELECT $columns FROM ${peer(table)}.files ORDER BY file_path")

  /** The summary of the table's newest snapshot, as Apache Iceberg reads it. */
  protected def summaryOf(table: String): Map[String, String] = {
    val newest =
      rows(s"SELECT summary, operation FROM ${peer(table)}.snapshots ORDER BY committed_at DESC LIMIT 1").head
    newest.getMap[String, String](0).toMap + ("operation" -> newest.getString(1))
  }

  /** That a table, its history and its directory are the same after something as before. */
  protected def changesNothing(table: String, columns: String = "*")(body: => Unit): Unit = {
    def state = (
      sorted(s"SELECT $columns FROM $table"),
      rows(s"SELECT * FROM ${peer(table)}.snapshots"),
      filesOf(table)
    )
    val before = state
    body
    // A task that Spark killed may still be about to remove its files.
    eventually(timeout(10.seconds))(assert(state == before))
    ()
  }

  protected def texts(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).sorted.toSeq

  /** The messages of an error and of what caused it. */
  protected def messages(error: Throwable): String =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
}
