package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.page.DataPageV2
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.Record
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{DataInput, TemporaryDirectory}

/**
 * Tests the table properties for Bloom filters, statistics, dictionaries and pages of Parquet files, and checks their
 * effect on written files with Parquet's own reader.
 */
class ParquetDetailsSuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles {
  private val schema = schemaOf(
    required(1, "id", LongType),
    optional(2, "odd name", StringType),
    optional(3, "s", StructType(Vector(optional(4, "x", DoubleType)))),
    optional(5, "l", ListType(6, StringType, elementRequired = false))
  )
  private val rows = (0 until 3000).map { i =>
    Record.of(i * 3L, if (i % 7 == 0) null else s"name $i", Record.of(i % 10 * 0.5), Vector(s"e${i % 20}", null))
  }

  private def withReader[A](properties: (String, String)*)(body: ParquetFileReader => A): A = {
    val file = write(schema, rows, Map("write.parquet.row-group-size-bytes" -> "40000") ++ properties)
    assert(read(file.path, schema) == rows)
    val reader = ParquetFileReader.open(DataInput.of(io, file.path))
    try body(reader)
    finally reader.close()
  }

  private def blocks(reader: ParquetFileReader): Seq[BlockMetaData] = reader.getFooter.getBlocks.asScala

  private def chunk(block: BlockMetaData, path: String): ColumnChunkMetaData =
    block.getColumns.asScala.find(_.getPath.toDotString == path).get

  test("a Bloom filter of a top-level or nested column matches its values and few other values") {
    withReader(
      "write.parquet.bloom-filter-enabled.column.id" -> "true",
      "write.parquet.bloom-filter-ndv.column.id" -> "3000",
      "write.parquet.bloom-filter-fpp.column.id" -> "0.001",
      "write.parquet.bloom-filter-enabled.column.odd name" -> "true",
      "write.parquet.bloom-filter-enabled.column.l.element" -> "true",
      // Parquet writes no Bloom filter for a column that is fully dictionary-encoded.
      "write.parquet.dict-encoding-enabled.column.l.element" -> "false",
      "write.parquet.bloom-filter-enabled.column.s.x" -> "false",
      "write.parquet.bloom-filter-enabled.column.nobody" -> "true",
      "write.parquet.bloom-filter-max-bytes" -> "8192"
    ) { reader =>
      assert(blocks(reader).size > 1)
      var first = 0L
      blocks(reader).foreach { block =>
        val ids = reader.readBloomFilter(chunk(block, "id"))
        val (inside, outside) = (0 until 3000).map(_.toLong).partition(i => i >= first && i < first + block.getRowCount)
        assert(inside.forall(i => ids.findHash(ids.hash(i * 3))))
        assert(outside.count(i => ids.findHash(ids.hash(i * 3 + 1))) < 60)
        first += block.getRowCount
        val sizes = block.getColumns.asScala.map(c => Option(reader.readBloomFilter(c)).map(_.getBitsetSize))
        // The maximum size limits all filters.
        assert(sizes == Seq(Some(8192), Some(8192), None, Some(8192)))
      }
    }
    def sizes(properties: (String, String)*): Seq[Int] =
      withReader(("write.parquet.bloom-filter-enabled.column.id" -> "true") +: properties: _*) { reader =>
        blocks(reader).map(b => reader.readBloomFilter(chunk(b, "id")).getBitsetSize).distinct
      }
    val ndv = "write.parquet.bloom-filter-ndv.column.id" -> "50"
    assert(sizes(ndv) == Seq(128) && sizes(ndv, "write.parquet.bloom-filter-fpp.column.id" -> "0.0001") == Seq(256))
    assert(sizes() == Seq(1 << 20))
    withReader() { reader =>
      assert(blocks(reader).forall(_.getColumns.asScala.forall(reader.readBloomFilter(_) == null)))
    }
  }

  test("a column with disabled statistics has no counts, bounds or column index in the file") {
    val some = Seq("odd name", "s.x").map(c => s"write.parquet.stats-enabled.column.$c" -> "false")
    withReader(some: _*) { reader =>
      blocks(reader).foreach { block =>
        val (bounded, unbounded) =
          block.getColumns.asScala.partition(c => Set("id", "l.list.element")(c.getPath.toDotString))
        assert(bounded.size == 2 && bounded.forall(c => !c.getStatistics.isEmpty && reader.readColumnIndex(c) != null))
        assert(unbounded.size == 2)
        unbounded.foreach { c =>
          assert(!c.getStatistics.isNumNullsSet && !c.getStatistics.hasNonNullValue, c)
          assert(reader.readColumnIndex(c) == null && reader.readOffsetIndex(c) != null)
        }
      }
    }
    val all = Seq("id", "odd name", "s.x", "l.element").map(c => s"write.parquet.stats-enabled.column.$c" -> "false")
    val metrics = write(schema, rows, all.toMap).metrics
    assert(metrics.columnSizes.map(_.keySet).contains(Set(1, 2, 4, 6)))
    assert(metrics.valueCounts.exists(_.isEmpty) && metrics.nullValueCounts.exists(_.isEmpty))
    // The bounds and NaN counts of floating-point columns do not come from Parquet's statistics.
    assert(metrics.lowerBounds.map(_.keySet).contains(Set(4)) && metrics.nanValueCounts.map(_.keySet).contains(Set(4)))
  }

  test("a column with disabled dictionary encoding has no dictionary") {
    def encodings(properties: (String, String)*): Seq[Boolean] = withReader(properties: _*) { reader =>
      Seq("s.x", "l.list.element").map(path =>
        blocks(reader).exists(chunk(_, path).getEncodings.asScala.exists(_.usesDictionary))
      )
    }
    assert(encodings() == Seq(true, true))
    assert(encodings("write.parquet.dict-encoding-enabled.column.s.x" -> "false") == Seq(false, true))
  }

  test("pages of version 2 are read, and more frequent size checks create smaller pages") {
    withReader("write.parquet.page-version" -> "v2") { reader =>
      val page = reader.readNextRowGroup().getPageReader(reader.getFileMetaData.getSchema.getColumns.get(0)).readPage()
      assert(page.isInstanceOf[DataPageV2])
    }
    def pages(properties: (String, String)*): Int =
      withReader(properties :+ ("write.parquet.page-size-bytes" -> "100"): _*) { reader =>
        blocks(reader).map(b => reader.readOffsetIndex(chunk(b, "id")).getPageCount).sum
      }
    val often = Seq("min", "max").map(b => s"write.parquet.row-group-check-$b-record-count" -> "10")
    assert(pages(often: _*) > 2 * pages())
  }

  test("the error for an invalid value of a Parquet property contains the property and the value") {
    Seq(
      "write.parquet.page-version" -> "v3",
      "write.parquet.bloom-filter-max-bytes" -> "0",
      "write.parquet.bloom-filter-enabled.column.id" -> "yes",
      "write.parquet.bloom-filter-fpp.column.id" -> "1",
      "write.parquet.bloom-filter-ndv.column.id" -> "0",
      "write.parquet.stats-enabled.column.id" -> "1",
      "write.parquet.dict-encoding-enabled.column.id" -> "",
      "write.parquet.row-group-check-min-record-count" -> "20000"
    ).foreach { case (key, value) =>
      val error = intercept[InvalidArgument](ParquetSettings.of(Map(key -> value)))
      assert(error.name == s"table property $key" && error.value == value)
    }
  }
}
