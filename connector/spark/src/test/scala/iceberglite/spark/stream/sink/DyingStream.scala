package iceberglite.spark.stream.sink

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, SparkSession}

import iceberglite.spark.rowlevel.{Death, DriverProcess, DyingDriver, DyingFileSystem}

/**
 * A streaming query to a table. Each file of rows is one micro-batch.
 *
 * @param table the name of the table
 * @param mode the output mode of the query. In append mode, it adds the rows `id, p`. Otherwise, it counts the rows of
 *   each `p`. With `feed`, the query adds rows too, and reads them from another table with the option `consumer-id`,
 *   instead of reading the files themselves
 * @param directory contains the directories `input` and `later`
 * @param checkpoint the location of the checkpoint, a directory named `checkpoint` in the directory of the table
 */
final private[sink] case class FileStream(table: String, mode: String, directory: Path, checkpoint: String) {
  private def input: Path = directory.resolve("input")
  private def later: Path = directory.resolve("later")

  /** The table that the query reads in the mode `feed`. */
  def source: String = s"${table}_source"

  def isFeed: Boolean = mode == FileStream.Feed

  /** Writes the file of a micro-batch, which [[release]] moves to the input. */
  def addFile(number: Int, rows: Seq[(Long, String)]): Unit = {
    val lines = rows.map { case (id, p) => s"""{"id": $id, "p": "$p"}""" }
    Files.createDirectories(input)
    Files.write(Files.createDirectories(later).resolve(s"$number.json"), lines.asJava)
    ()
  }

  /** Moves the later files to the input. In the mode `feed`, also appends the rows of each file to the source. */
  def release(spark: SparkSession): Unit = later.toFile.listFiles.sortBy(_.getName).foreach { file =>
    if (isFeed) spark.read.schema(FileStream.Columns).json(file.toString).coalesce(1).writeTo(source).append()
    Files.move(file.toPath, input.resolve(file.getName))
  }

  /** Starts the query, which stops when it has processed all released files. */
  def start(spark: SparkSession): StreamingQuery = {
    val reader = spark.readStream
    val rows =
      if (isFeed) reader.option("consumer-id", "feed").option("streaming-max-files-per-micro-batch", "1").table(source)
      else reader.schema(FileStream.Columns).option("maxFilesPerTrigger", "1").json(input.toString)
    val addsRows = isFeed || mode == "append"
    val result: DataFrame = if (addsRows) rows else rows.groupBy("p").agg(count(lit(1)).as("n"))
    val options = if (mode == "update") Map("upsert-keys" -> "p") else Map.empty[String, String]
    result.writeStream.outputMode(if (addsRows) "append" else mode).options(options).trigger(Trigger.AvailableNow())
      .option("checkpointLocation", checkpoint).toTable(table)
  }

  override def toString: String = s"$table\t$mode\t$directory\t$checkpoint"
}

private[sink] object FileStream {
  val Columns = "id BIGINT, p STRING"
  val Feed = "feed"

  /** Returns a stream from the text of [[FileStream.toString]]. */
  def parse(text: String): FileStream = {
    val Array(table, mode, directory, checkpoint) = text.split('\t')
    FileStream(table, mode, Paths.get(directory), checkpoint)
  }
}

/**
 * A program that runs streaming queries, each into its own table. All queries first process their input. Then, the
 * queries process later files, and their drivers die as after `kill -9`, each at the point of its [[Death]].
 */
object DyingStream {

  /** @param args the warehouse, a directory for Spark's files, and a file with [[Death]]s */
  def main(args: Array[String]): Unit = {
    val Array(warehouse, scratch, file) = args
    val deaths = Files.readAllLines(Paths.get(file)).asScala.map(Death.parse)
    val streams = deaths.map(death => FileStream.parse(death.work))
    val spark = DriverProcess.session(DyingDriver.Master, warehouse, scratch)
    streams.foreach(_.start(spark).awaitTermination())
    streams.foreach(_.release(spark))
    DyingFileSystem.expect(deaths)
    streams.foreach(_.start(spark))
    Runtime.getRuntime.halt(if (DyingFileSystem.awaitAll()) DyingDriver.KilledExitCode else 1)
  }
}
