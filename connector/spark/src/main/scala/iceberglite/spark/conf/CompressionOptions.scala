package iceberglite.spark.conf

import scala.util.Try

import iceberglite.spec.property.{Declarations, OrcStrategy, TableProperty}

/**
 * The options for the compression of new files. [[Codec]] applies to all file formats, and its valid values depend on
 * the format. [[Level]] applies to Parquet and Avro, and [[Strategy]] to ORC.
 */
object CompressionOptions {
  private val declared = new Declarations[SparkOption[_]]

  val Codec: SparkOption[String] = declared(SparkOption
    .derived[String](
      "compression-codec",
      "It must be a codec of the file format",
      "Compression codec of new files",
      "the table property of the file format, such as write.parquet.compression-codec"
    )(Some(_))
    .inSession("spark.sql.iceberg.compression-codec"))

  val Level: SparkOption[Int] = declared(SparkOption
    .derived[Int](
      "compression-level",
      TableProperty.ParquetCompressionLevel.expected,
      "Compression level of new Parquet or Avro files",
      "the table property of the file format, such as write.parquet.compression-level"
    )(text => Try(text.toInt).toOption)
    .inSession("spark.sql.iceberg.compression-level"))

  val Strategy: SparkOption[OrcStrategy] = declared(SparkOption[OrcStrategy](
    "compression-strategy",
    TableProperty.OrcCompressionStrategy.expected,
    TableProperty.OrcCompressionStrategy.doc,
    TableProperty.OrcCompressionStrategy.default
  )(text => Try(TableProperty.OrcCompressionStrategy.read(text)).toOption)
    .inSession("spark.sql.iceberg.compression-strategy")
    .inTable(TableProperty.OrcCompressionStrategy.key))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /**
   * Returns the option [[Codec]] for the files of one format, with the table property as fallback.
   *
   * @param property the table property of the format
   */
  def codec[A](property: TableProperty[A]): SparkOption[A] =
    SparkOption[A](Codec.key, property.expected, property.doc, property.default)(text =>
      Try(property.read(text)).toOption
    ).inSession("spark.sql.iceberg.compression-codec").inTable(property.key)

  /**
   * Returns the option [[Level]] for the files of one format, with the table property as fallback.
   *
   * @param property the table property of the format
   */
  def level(property: TableProperty[Option[Int]]): SparkOption[Int] = Level.inTable(property.key)
}
