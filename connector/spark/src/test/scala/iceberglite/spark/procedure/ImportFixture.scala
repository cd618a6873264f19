package iceberglite.spark.procedure

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.avro.SchemaBuilder
import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericDatumWriter, GenericRecord, GenericRecordBuilder}
import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** Creates sources for imports, calls the import procedures, and returns the entries of the imported files. */
trait ImportFixture extends StatementFixture { self: AnyFunSuite =>
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Writes the rows to files with Spark. @return the directory of the files */
  protected def written(format: String, partitions: String*)(rows: DataFrame): Path = {
    val directory = newDirectory("source").resolve("files")
    rows.write.format(format).partitionBy(partitions: _*).save(directory.toUri.toString)
    directory
  }

  /** Writes an Avro file without field ids, with the columns `id` and `s`. @return the directory of the file */
  protected def writtenAvro(rows: Int): Path = {
    val directory = newDirectory("avro")
    val schema = SchemaBuilder.record("row").fields().requiredLong("id").optionalString("s").endRecord()
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema))
    writer.create(schema, directory.resolve("file.avro").toFile)
    (0 until rows).foreach { id =>
      writer.append(new GenericRecordBuilder(schema).set("id", id.toLong).set("s", "x").build())
    }
    writer.close()
    directory
  }

  /** Returns the value of the argument `source_table` for a directory of files. */
  protected def source(format: String, directory: Path): String = s"$format.`$directory`"

  /** Calls the procedure of the table's catalog. @param arguments arguments in SQL, without the table */
  protected def call(procedure: String, table: String, arguments: String*): Seq[Row] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.$procedure(${(s"table => '$rest'" +: arguments).mkString(", ")})")
  }

  protected def addFiles(table: String, source: String, arguments: String*): Seq[Row] =
    call("add_files", table, s"source_table => '$source'" +: arguments: _*)

  /** Calls `add_files`, which must fail and not change the table. @return the messages of the error and its causes */
  protected def failed(table: String, source: String, arguments: String*): String = {
    val before = live(table).metadataLocation
    val message = messages(intercept[AnalysisException](addFiles(table, source, arguments: _*)))
    assert(live(table).metadataLocation == before)
    message
  }

  /** Returns the metadata of each file, as Apache Iceberg's metadata table `files` shows it. */
  protected def fileEntries(table: String, columns: String*): Seq[String] = {
    sql(s"REFRESH TABLE ${inApacheIceberg(table)}")
    sorted(
      s"SELECT ${(Seq("file_path", "file_format", "record_count", "file_size_in_bytes") ++ columns).mkString(", ")} " +
        s"FROM ${inApacheIceberg(table)}.files"
    )
  }

  protected def filesIn(directory: Path, suffix: String): Seq[Path] = {
    val files = Files.walk(directory)
    try files.iterator.asScala.filter(_.toString.endsWith(suffix)).toVector.sorted
    finally files.close()
  }
}
