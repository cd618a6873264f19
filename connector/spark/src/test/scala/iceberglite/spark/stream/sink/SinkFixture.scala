package iceberglite.spark.stream.sink

import java.nio.file.{Files, Path}

import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.streaming.{DataStreamWriter, OutputMode, StreamingQuery}
import org.apache.spark.sql.{DataFrame, Row, SQLContext, SparkSession}
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Helpers for tests of streaming writes: queries over rows in memory, their checkpoints, and the tables. */
trait SinkFixture extends WriteFixture { self: Suite =>
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  /**
   * A streaming query that can run several times, each time with the same checkpoint. Each call of `add` gives one
   * micro-batch.
   */
  final protected class TestStream(mode: OutputMode = OutputMode.Append(), options: Map[String, String] = Map.empty) {
    import spark.implicits._
    implicit private val context: SQLContext = spark.sqlContext
    private val source = MemoryStream[(Long, String)]
    private var query = Option.empty[StreamingQuery]

    val checkpoint: Path = newDirectory("checkpoint")

    /** The query over the rows, whose columns are `id` and `p`. */
    var select: DataFrame => DataFrame = identity

    private def writer: DataStreamWriter[Row] = select(source.toDF().toDF("id", "p")).writeStream.outputMode(mode)
      .option("checkpointLocation", checkpoint.toString).options(options)

    /** Starts the query, runs the body and stops the query. */
    def run(start: DataStreamWriter[Row] => StreamingQuery)(body: => Unit): StreamingQuery = {
      val running = start(writer)
      query = Some(running)
      try {
        body
        running.processAllAvailable()
        running
      } finally running.stop()
    }

    /** Runs the query into a table, with one micro-batch for each of the given batches of rows. */
    def into(t: String)(batches: Seq[(Long, String)]*): StreamingQuery =
      run(_.toTable(t))(batches.foreach(add(_)))

    /** Adds rows and waits until a micro-batch has processed them. */
    def add(rows: Seq[(Long, String)]): Unit = {
      source.addData(rows)
      query.foreach(_.processAllAvailable())
    }

    /** Removes the commit of the newest micro-batch from the checkpoint, as if the driver had died before it. */
    def forgetCommit(): Unit = {
      val commits = checkpoint.resolve("commits").toFile.listFiles.filter(_.getName.matches("\\d+"))
      val newest = commits.maxBy(_.getName.toLong)
      Files.delete(newest.toPath)
      Files.deleteIfExists(newest.toPath.resolveSibling(s".${newest.getName}.crc"))
      ()
    }
  }

  protected def tableWith(columns: String, clauses: String): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses")
    t
  }

  protected def letters(ids: Long*): Seq[(Long, String)] = ids.map(id => id -> ('a' + id % 3).toChar.toString)

  /** Returns the ids in the table, after checking that Apache Iceberg reads the same ids. */
  protected def ids(t: String): Seq[Long] = {
    val query = "SELECT id FROM %s ORDER BY id"
    val result = rows(query.format(t)).map(_.getLong(0))
    assert(rows(query.format(inApacheIceberg(t))).map(_.getLong(0)) == result)
    result
  }

  /** Returns the rows of the table as text, after checking that Apache Iceberg reads the same rows. */
  protected def read(t: String): Seq[String] = {
    val result = sorted(s"SELECT * FROM $t")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == result)
    result
  }

  protected def snapshotCount(t: String): Int = rows(s"SELECT * FROM $t.snapshots").size

  /** Checks that every data and delete file in the table's directory is in a snapshot. */
  protected def assertNoOrphans(t: String): Unit = {
    val listed = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0).split('/').last).toSet
    val files = filesOf(t).map(_.getFileName.toString).filterNot(_.startsWith("."))
    assert(files.filter(name => Seq(".parquet", ".puffin", ".orc").exists(name.endsWith)) == listed)
    ()
  }
}
