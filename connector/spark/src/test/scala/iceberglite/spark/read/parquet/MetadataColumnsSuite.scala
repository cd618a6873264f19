package iceberglite.spark.read.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.schema.MessageTypeParser.parseMessageType
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.read.files.FileTask
import iceberglite.spark.read.parquet.ParquetFile.{Scan, write}
import iceberglite.spec.expr.Term
import iceberglite.spec.expr.Expression.GreaterThanOrEqual
import iceberglite.spec.partition.{Bucket, Day, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.{DateLiteral, IntLiteral}
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._

/** Checks the values of metadata columns such as `_file` and `_pos` in scans of Parquet files. */
class MetadataColumnsSuite extends AnyFunSuite {
  private val a = optional(1, "a", IntType)

  private def file(rows: Int, rowGroupRows: Int = 1000000, pageRows: Int = 1000000) =
    write(parseMessageType("message m { optional int32 a = 1; optional binary pad = 2; }"), rowGroupRows, pageRows)(
      (0 until rows).map(i => (g: Group) => g.append("a", i).append("pad", f"$i%08d")): _*
    )

  private def scan(columns: NestedField*): Scan = {
    val fields = a +: columns.toVector
    Scan(fields, metadataIds = columns.map(_.id).toSet)
  }

  test("the column _pos is the position of a row in the file, even if pages are skipped") {
    val rows = file(100, pageRows = 10).read(
      scan(MetadataColumns.Position).withFilter(GreaterThanOrEqual(Term.Bound(a, "a"), IntLiteral(75)))
    )
    assert(rows == (70 until 100).map(i => Row(i, i.toLong)))
  }

  test("splits of a file return each row once, with its position in the whole file") {
    val largeFile = file(20000, rowGroupRows = 1000)
    val input = HadoopInputFile.fromPath(new Path(largeFile.path), new Configuration())
    val reader = ParquetFileReader.open(input)
    val groups =
      try reader.getRowGroups.size
      finally reader.close()
    assert(groups > 3)
    val length = new java.io.File(largeFile.path).length
    val splitBounds = (0L to length by length / 7) :+ length
    val rows = splitBounds.zip(splitBounds.tail).flatMap { case (start, end) =>
      largeFile.read(scan(MetadataColumns.Position).copy(task = _.copy(start = start, length = end - start)))
    }
    assert(rows.map(_.getLong(1)) == (0L until 20000L))
    assert(rows.forall(r => r.getInt(0) == r.getLong(1)))
  }

  test("the file, spec and partition columns of a row come from its file") {
    val fields = Vector(optional(1000, "b", IntType), optional(1001, "d", DateType), optional(1002, "gone", StringType))
    val partition = optional(MetadataColumns.PartitionId, "_partition", StructType(fields))
    val spec = PartitionSpec(3, Vector(PartitionField(7, 1001, "d", Day), PartitionField(1, 1000, "b", Bucket(4))))
    val oneRowFile = file(1)
    val rows = oneRowFile.read(
      scan(MetadataColumns.FilePath, MetadataColumns.SpecId, partition, MetadataColumns.Deleted).copy(
        specs = Map(3 -> spec),
        task = _.copy(specId = 3, partition = PartitionTuple(Vector(Some(DateLiteral(1)), None)))
      )
    )
    val day = java.sql.Date.valueOf("1970-01-02")
    assert(rows == Seq(Row(0, oneRowFile.path, 3, Row(null, day, null), false)))
  }

  private val lineageColumns = Seq(MetadataColumns.RowId, MetadataColumns.LastUpdatedSequenceNumber)
  private val withLineage: FileTask => FileTask = _.copy(firstRowId = Some(100L), dataSequenceNumber = 8L)

  test("without stored lineage, a row id is derived from the position, and the sequence number is that of the file") {
    val rows = file(2).read(scan(lineageColumns: _*).copy(task = withLineage))
    assert(rows == Seq(Row(0, 100L, 8L), Row(1, 101L, 8L)))
    assert(file(1).read(scan(lineageColumns: _*)) == Seq(Row(0, null, null)))
  }

  test("stored row ids and sequence numbers are returned, and nulls are replaced by inherited values") {
    val copied = write(
      """message m { optional int32 a = 1; optional int64 _row_id = 2147483540;
        |  optional int64 _last_updated_sequence_number = 2147483539; }""".stripMargin
    )(
      _.append("a", 0).append("_row_id", 5L).append("_last_updated_sequence_number", 2L),
      _.append("a", 1).append("_row_id", 6L),
      _.append("a", 2)
    )
    val rows = copied.read(scan(lineageColumns: _*).copy(task = withLineage))
    assert(rows == Seq(Row(0, 5L, 2L), Row(1, 6L, 8L), Row(2, 102L, 8L)))
    assert(copied.read(scan(lineageColumns: _*)).map(_.getAs[Any](1)) == Seq(null, null, null))
  }

  test("a table column with the name of a metadata column is read from the table") {
    val columnNamedPos = optional(2, "_pos", StringType)
    assert(file(1).read(Scan(Vector(columnNamedPos), metadataIds = Set.empty)) == Seq(Row("00000000")))
  }
}
