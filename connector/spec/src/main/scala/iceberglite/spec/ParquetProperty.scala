package iceberglite.spec

import scala.util.Try

import iceberglite.spec.TableProperty.{flag, oneOf, positiveInt, property}

/** The finer table properties of Parquet files, some of them of one column each. */
object ParquetProperty {
  val PageVersion: TableProperty[String] =
    oneOf("write.parquet.page-version", "v1", "Layout of Parquet pages; v2 has other encodings too", "v1", "v2")
  val CheckMinRows: TableProperty[Int] = positiveInt(
    "write.parquet.row-group-check-min-record-count",
    100,
    "Fewest values of a column between two looks at how large its Parquet page is"
  )
  val CheckMaxRows: TableProperty[Int] = positiveInt(
    "write.parquet.row-group-check-max-record-count",
    10000,
    "Most values of a column between two looks at how large its Parquet page is, and most rows between two at the row " +
      "group"
  )
  val BloomFilterMaxSize: TableProperty[Int] =
    positiveInt("write.parquet.bloom-filter-max-bytes", 1 << 20, "Most bytes of a Bloom filter in a Parquet file")

  /** A property of one column, whose full name follows the prefix. */
  final class OfColumn[A] private[ParquetProperty] (val prefix: String, make: String => TableProperty[A]) {

    /** The values that are set, by the full names of the columns. @throws IcebergError.InvalidArgument */
    def of(properties: Map[String, String]): Map[String, A] = properties.collect {
      case (key, text) if key.startsWith(prefix) => key.stripPrefix(prefix) -> make(key).read(text)
    }
  }

  val BloomFilter: OfColumn[Boolean] = new OfColumn(
    "write.parquet.bloom-filter-enabled.column.",
    flag(_, default = false, "Whether row groups hold a Bloom filter of the column's values")
  )
  val BloomFilterFpp: OfColumn[Double] = new OfColumn(
    "write.parquet.bloom-filter-fpp.column.",
    property(
      _,
      "0.01",
      "It must be between 0 and 1",
      "How often the column's Bloom filter may be wrong",
      text => Try(text.toDouble).toOption.filter(p => p > 0 && p < 1)
    )
  )

  /** Without it a filter has the largest size. */
  val BloomFilterNdv: OfColumn[Option[Long]] = new OfColumn(
    "write.parquet.bloom-filter-ndv.column.",
    TableProperty.optional(
      _,
      "It must be a number above 0",
      "How many different values a row group has in the column, by which its Bloom filter is sized",
      text => Try(text.toLong).toOption.filter(_ > 0)
    )
  )
  val Statistics: OfColumn[Boolean] = new OfColumn(
    "write.parquet.stats-enabled.column.",
    flag(_, default = true, "Whether the file holds counts and bounds of the column")
  )
  val Dictionary: OfColumn[Boolean] = new OfColumn(
    "write.parquet.dict-encoding-enabled.column.",
    flag(_, default = true, "Whether the column's values may be stored by their numbers in a dictionary")
  )

  /** In the order of the documentation. */
  private[spec] def all: Seq[TableProperty[_]] = Seq(PageVersion, CheckMinRows, CheckMaxRows, BloomFilterMaxSize)

  val ofColumns: Seq[OfColumn[_]] = Seq(BloomFilter, BloomFilterFpp, BloomFilterNdv, Statistics, Dictionary)
}
