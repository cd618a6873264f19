package iceberglite.spec.property

import scala.util.Try

import iceberglite.spec.property.TableProperty.{flag, memberOf, positiveInt, property}

/** Additional table properties of Parquet files. Some of these properties can be set for each column. */
object ParquetProperty {
  private val declared = new Declarations[TableProperty[_]]

  val PageVersion: TableProperty[ParquetPageVersion] = declared(memberOf(
    "write.parquet.page-version",
    ParquetPageVersion.V1,
    "Version of Parquet data pages; v2 also uses other encodings",
    ParquetPageVersion.all
  ))
  val CheckMinRows: TableProperty[Int] = declared(positiveInt(
    "write.parquet.row-group-check-min-record-count",
    100,
    "Minimum number of values of a column between two checks of its Parquet page size"
  ))
  val CheckMaxRows: TableProperty[Int] = declared(positiveInt(
    "write.parquet.row-group-check-max-record-count",
    10000,
    "Maximum number of values of a column between two checks of its Parquet page size, and of rows between two " +
      "checks of the row group size"
  ))
  val BloomFilterMaxSize: TableProperty[Int] = declared(positiveInt(
    "write.parquet.bloom-filter-max-bytes",
    1 << 20,
    "Maximum size of a Bloom filter in a Parquet file"
  ))

  val ShredVariants: TableProperty[Boolean] = declared(flag(
    "write.parquet.shred-variants",
    default = false,
    "Whether frequent fields of variants are stored in typed columns of Parquet files (shredding)"
  ))
  val VariantSampleSize: TableProperty[Int] = declared(positiveInt(
    "write.parquet.variant-inference-buffer-size",
    100,
    "Maximum number of rows of a file that are buffered to determine how its variants are shredded"
  ))

  /** A property of one column. The full name of the column follows the prefix of the property's key. */
  final class PerColumn[A] private[ParquetProperty] (val prefix: String, propertyOf: String => TableProperty[A]) {

    /**
     * Returns the configured values by the full names of the columns.
     *
     * @throws IcebergError.InvalidArgument if a value is invalid
     */
    def of(properties: Map[String, String]): Map[String, A] = properties.collect {
      case (key, text) if key.startsWith(prefix) => key.stripPrefix(prefix) -> propertyOf(key).read(text)
    }
  }

  val BloomFilter: PerColumn[Boolean] = new PerColumn(
    "write.parquet.bloom-filter-enabled.column.",
    flag(_, default = false, "Whether row groups contain a Bloom filter of the column's values")
  )
  val BloomFilterFpp: PerColumn[Double] = new PerColumn(
    "write.parquet.bloom-filter-fpp.column.",
    property(
      _,
      "0.01",
      "It must be between 0 and 1",
      "False positive probability of the column's Bloom filter",
      text => Try(text.toDouble).toOption.filter(p => p > 0 && p < 1)
    )
  )

  /**
   * The expected number of distinct values of a column with a Bloom filter. If the property is absent, the Bloom filter
   * has the maximum size.
   */
  val BloomFilterNdv: PerColumn[Option[Long]] = new PerColumn(
    "write.parquet.bloom-filter-ndv.column.",
    TableProperty.optional(
      _,
      "It must be a positive number",
      "Expected number of distinct values of the column in a row group, which sizes its Bloom filter",
      text => Try(text.toLong).toOption.filter(_ > 0)
    )
  )
  val Statistics: PerColumn[Boolean] = new PerColumn(
    "write.parquet.stats-enabled.column.",
    flag(_, default = true, "Whether the file contains counts and bounds of the column")
  )
  val Dictionary: PerColumn[Boolean] = new PerColumn(
    "write.parquet.dict-encoding-enabled.column.",
    flag(_, default = true, "Whether the column's values may be dictionary-encoded")
  )

  /** The properties that are not set for a single column, in the order of the documentation. */
  private[iceberglite] def all: Seq[TableProperty[_]] = declared.all

  /** The properties that do not apply to delete files, which contain neither Bloom filters nor variants. */
  private[iceberglite] val ofDataFiles: Set[String] =
    Set(BloomFilterMaxSize.key, ShredVariants.key, VariantSampleSize.key)

  val perColumn: Seq[PerColumn[_]] = Seq(BloomFilter, BloomFilterFpp, BloomFilterNdv, Statistics, Dictionary)
}
