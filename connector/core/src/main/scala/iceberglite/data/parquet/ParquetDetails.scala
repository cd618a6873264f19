package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.schema.{
  ColumnOrder,
  GroupType,
  MessageType,
  PrimitiveType => Leaf,
  Type => ParquetType,
  Types
}

import iceberglite.parquet.ParquetSchemas
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.{ParquetPageVersion, ParquetProperty, TableProperty}
import iceberglite.spec.schema.Schema

/**
 * The settings of the pages and columns of Parquet files. Settings for columns that a file does not have are ignored,
 * as in Apache Iceberg.
 *
 * @param bloomFilters settings of Bloom filters by full column name
 * @param checkMinRows minimum number of values of a column between two checks of its page size
 * @param checkMaxRows maximum number of values of a column between two checks of its page size, and of rows between two
 *   checks of the row group size
 * @param bloomFilterMaxSize maximum size of a Bloom filter in bytes
 * @param dictionary whether a column may have a dictionary, by full column name
 * @param statistics whether a column has counts and bounds in the file, by full column name
 */
final case class ParquetDetails(
    pageVersion: ParquetPageVersion,
    checkMinRows: Int,
    checkMaxRows: Int,
    bloomFilterMaxSize: Int,
    bloomFilters: Map[String, ParquetDetails.BloomFilter],
    dictionary: Map[String, Boolean],
    statistics: Map[String, Boolean]
) {

  /**
   * Returns the Parquet schema of the files of a table. The columns without statistics get an undefined sort order,
   * because Parquet's library writes neither bounds nor a column index for such columns.
   */
  def messageType(schema: Schema): MessageType = {
    val whole = ParquetSchemas.of(schema)
    val unbounded = statistics.collect { case (name, false) => name }.flatMap(schema.ids.get).toSet
    if (unbounded.isEmpty) whole
    else new MessageType(whole.getName, whole.getFields.asScala.map(ParquetDetails.withoutOrder(_, unbounded)).asJava)
  }

  /** Adds these settings to the properties of the Parquet library, for files with the given schema. */
  def applyTo(builder: ParquetProperties.Builder, schema: Schema, messageType: MessageType): Unit = {
    val version = pageVersion match {
      case ParquetPageVersion.V1 => WriterVersion.PARQUET_1_0
      case ParquetPageVersion.V2 => WriterVersion.PARQUET_2_0
    }
    builder.withWriterVersion(version)
      .withMinRowCountForPageSizeCheck(checkMinRows)
      .withMaxRowCountForPageSizeCheck(checkMaxRows)
      .withMaxBloomFilterBytes(bloomFilterMaxSize)
    messageType.getColumns.asScala.foreach { column =>
      val path = column.getPath.mkString(".")
      val name = Option(column.getPrimitiveType.getId).flatMap(id => schema.names.get(id.intValue))
      name.flatMap(dictionary.get).foreach(builder.withDictionaryEncoding(path, _))
      name.flatMap(bloomFilters.get).foreach { filter =>
        builder.withBloomFilterEnabled(path, true)
        filter.fpp.foreach(builder.withBloomFilterFPP(path, _))
        filter.ndv.foreach(builder.withBloomFilterNDV(path, _))
      }
    }
  }
}

object ParquetDetails {

  /**
   * The settings of the Bloom filter of one column.
   *
   * @param fpp false positive probability of the filter
   * @param ndv number of distinct values in a row group; if absent, the filter has the maximum size
   */
  final case class BloomFilter(fpp: Option[Double], ndv: Option[Long])

  /**
   * Returns the settings from table properties.
   *
   * @throws InvalidArgument if a property is invalid
   */
  def of(properties: Map[String, String]): ParquetDetails = {
    val (min, max) = (
      TableProperty.of(ParquetProperty.CheckMinRows, properties),
      TableProperty.of(ParquetProperty.CheckMaxRows, properties)
    )
    if (min > max) {
      throw InvalidArgument(
        s"table property ${ParquetProperty.CheckMinRows}",
        min.toString,
        s"The value must not be greater than ${ParquetProperty.CheckMaxRows}, which is $max"
      )
    }
    ParquetDetails(
      pageVersion = TableProperty.of(ParquetProperty.PageVersion, properties),
      checkMinRows = min,
      checkMaxRows = max,
      bloomFilterMaxSize = TableProperty.of(ParquetProperty.BloomFilterMaxSize, properties),
      bloomFilters = bloomFilters(properties),
      dictionary = ParquetProperty.Dictionary.of(properties),
      statistics = ParquetProperty.Statistics.of(properties)
    )
  }

  private def bloomFilters(properties: Map[String, String]): Map[String, BloomFilter] = {
    val (fpp, ndv) = (ParquetProperty.BloomFilterFpp.of(properties), ParquetProperty.BloomFilterNdv.of(properties))
    ParquetProperty.BloomFilter.of(properties).collect { case (column, true) =>
      column -> BloomFilter(fpp.get(column), ndv.get(column).flatten)
    }
  }

  private def withoutOrder(field: ParquetType, ids: Set[Int]): ParquetType = field match {
    case group: GroupType => group.withNewFields(group.getFields.asScala.map(withoutOrder(_, ids)).asJava)
    case leaf: Leaf if Option(leaf.getId).exists(id => ids(id.intValue)) =>
      val plain = Types.primitive(leaf.getPrimitiveTypeName, leaf.getRepetition).length(leaf.getTypeLength)
        .columnOrder(ColumnOrder.undefined)
      Option(leaf.getLogicalTypeAnnotation).fold(plain)(plain.as(_)).id(leaf.getId.intValue).named(leaf.getName)
    case other => other
  }
}
