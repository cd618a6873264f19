package iceberglite.spark.read.parquet

import java.util.Collections

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.{BlockMetaData, FileMetaData, ParquetMetadata}
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector

/** Checks which row groups are found for given row positions. */
class RowGroupsSuite extends AnyFunSuite {

  /** Returns a footer with row groups of ten rows each. `first` returns the position of a row group's first row. */
  private def footer(groups: Int, first: Int => Long): ParquetMetadata = {
    val blocks = (0 until groups).map { i =>
      val block = new BlockMetaData
      block.setRowIndexOffset(first(i))
      block.setRowCount(10)
      block
    }
    val schema = MessageTypeParser.parseMessageType("message m { optional int64 id; }")
    new ParquetMetadata(new FileMetaData(schema, Collections.emptyMap[String, String], "test"), blocks.asJava)
  }

  private def offsetsOfGroups(footer: ParquetMetadata, rows: Long*): Seq[Long] =
    RowGroups.containing(footer, DeletionVector.of(rows: _*)).getBlocks.asScala.map(_.getRowIndexOffset)

  test("only row groups that contain at least one of the given rows are read") {
    val file = footer(4, _ * 10L)
    assert(offsetsOfGroups(file, 9, 10, 39) == Seq(0, 10, 30) && offsetsOfGroups(file, 20) == Seq(20))
    assert(offsetsOfGroups(file) == Nil && offsetsOfGroups(file, 40, 1L << 33) == Nil)
    assert(offsetsOfGroups(footer(2, i => (1L << 33) + i * 10), (1L << 33) + 10) == Seq((1L << 33) + 10))
  }

  test("a row group without a row index offset is read") {
    assert(offsetsOfGroups(footer(2, _ => -1L), 100).size == 2)
  }
}
