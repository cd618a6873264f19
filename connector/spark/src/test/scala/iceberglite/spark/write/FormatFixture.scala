package iceberglite.spark.write

import java.net.URI
import java.nio.file.Paths

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileReader
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.orc.OrcFile
import org.apache.spark.sql.Row
import org.scalatest.Suite

/** Creates tables with ORC and Avro files, and reads the files with the libraries of the formats. */
trait FormatFixture extends WriteFixture { self: Suite =>

  /** Creates a table. @param format format of new data files @param more table properties */
  protected def create(
      columns: String,
      format: String,
      clause: String = "",
      more: Map[String, String] = Map.empty
  ): String = {
    val t = newTable()
    val properties = (more + ("write.format.default" -> format)).map { case (k, v) => s"'$k' = '$v'" }
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clause TBLPROPERTIES (${properties.mkString(", ")})")
    t
  }

  /** Returns the split offsets in the given column of the row, or none if the column is null. */
  protected def offsets(row: Row, column: Int): Seq[Long] =
    if (row.isNullAt(column)) Seq.empty else row.getSeq[Long](column)

  private def orc[A](path: String)(body: org.apache.orc.Reader => A): A = {
    val reader = OrcFile.createReader(new HadoopPath(path), OrcFile.readerOptions(new Configuration()))
    try body(reader)
    finally reader.close()
  }

  private def avro[A](path: String)(body: DataFileReader[GenericRecord] => A): A = {
    val reader = new DataFileReader[GenericRecord](Paths.get(path).toFile, new GenericDatumReader[GenericRecord])
    try body(reader)
    finally reader.close()
  }

  /** Returns the number of rows in the file. */
  protected def rowsIn(path: String, format: String): Long =
    if (format == "orc") orc(path)(_.getNumberOfRows) else avro(path)(_.iterator.asScala.size.toLong)

  /** Returns the start offsets of the stripes of an ORC file, in bytes. */
  protected def stripes(path: String): Seq[Long] = orc(path)(_.getStripes.asScala.map(_.getOffset))

  /** Returns the compression codecs of the table's ORC or Avro files, with the names that the file format uses. */
  protected def codecs(table: String): Set[String] = listed(table, "file_path").map { row =>
    val path = URI.create(row.getString(0)).getPath
    if (path.endsWith(".orc")) orc(path)(_.getCompressionKind.name) else avro(path)(_.getMetaString("avro.codec"))
  }.toSet
}
