package iceberglite.spark.write

import java.nio.file.Path

import scala.concurrent.duration._

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Suite
import org.scalatest.concurrent.Eventually

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession

/** Helpers for tests of writes: the files of a table, snapshot summaries and error messages. */
trait WriteFixture extends SharedSession with Eventually { self: Suite =>

  /** Returns every file below the table's directory, including metadata files, except version hints. */
  protected def filesOf(table: String): Set[Path] = {
    val parts = table.split('.')
    FilesBelow.withoutHints(SharedSession.warehouse.resolve(parts(1)).resolve(parts(2)))
  }

  protected def dataFilesOf(table: String): Set[Path] = filesOf(table).filter(_.toString.endsWith(".parquet"))

  /** Returns the files in the table's current snapshot, as Apache Iceberg lists them. */
  protected def listed(table: String, columns: String = "*"): Seq[Row] =
    rows(s"SELECT $columns FROM ${inApacheIceberg(table)}.files ORDER BY file_path")

  /** Returns the summary of the table's newest snapshot, as Apache Iceberg reads it. */
  protected def summaryOf(table: String): Map[String, String] = {
    val newest =
      rows(s"SELECT summary, operation FROM ${inApacheIceberg(table)}.snapshots ORDER BY committed_at DESC").head
    newest.getMap[String, String](0).toMap + ("operation" -> newest.getString(1))
  }

  /** Checks that the body changes neither the table nor its history nor its directory. */
  protected def assertUnchanged(table: String, columns: String = "*")(body: => Unit): Unit = {
    def state = (
      sorted(s"SELECT $columns FROM $table"),
      rows(s"SELECT * FROM ${inApacheIceberg(table)}.snapshots"),
      filesOf(table)
    )
    val stateBefore = state
    body
    // The state is checked repeatedly, because a task that Spark killed may still be removing its files.
    eventually(timeout(10.seconds))(assert(state == stateBefore))
    ()
  }

  protected def texts(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).sorted.toSeq

  /** Returns the messages of the error and of its causes. */
  protected def messages(error: Throwable): String =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
}
