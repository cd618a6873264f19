package iceberglite.inspect

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.{DataFormats, DataTarget, PositionDeleteFiles, Record}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.expr.Term
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.tree.TestTable

class PositionDeletesTableSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      NestedField.required(1, "id", IntType),
      NestedField.optional(2, "tags", ListType(3, StringType, elementRequired = false)),
      NestedField.optional(4, "counts", MapType(5, StringType, 6, LongType, valueRequired = false))
    )
  )

  test("the delete files of a manifest are divided into ranges, which tasks find in the manifest again") {
    val t = new TestTable(schema)
    val writer = DataFormats.of(FileFormat.Parquet)
    val deletes = (1 to 7).map { i =>
      val fileSchema = Schema(0, PositionDeleteFiles.Struct.fields)
      val path = s"mem:/t/data/d$i.parquet"
      val open = writer.write(DataTarget(t.table.io, path, fileSchema, Map.empty, MetricsModes(Map.empty)))
      open.write(Record.of(s"mem:/f$i", i.toLong))
      open.close().positionDeletes(0, PartitionTuple.Empty, None)
    }
    t.append(deletes: _*)
    val request = RowRequest.all(PositionDeletesTable.schema(t.table)).copy(columns = Vector("pos"))
    val (part, columns) = (t.files.get.parts.head, PositionDeletesTable.layout(t.table))
    val source = PositionDeletePart(part, t.table.io, columns, request, None)
    def read(groups: Vector[MetadataRows]): (Vector[Vector[MetadataRow]], Int) = {
      val before = t.io.reads.get
      (groups.map(_.forReading.rows().toVector), t.io.reads.get - before)
    }
    val all = (1L to 7L).map(MetadataRow.of(_))
    val readsAtOnce = read(Vector(new PositionDeleteRows(source, DeleteFileRange(0, 7, 0, 7))))._2
    val size = deletes.head.fileSizeInBytes
    for ((maxBytes, expected) <- Seq(1L -> 7, size * 3 / 2 -> 4, Long.MaxValue -> 1)) {
      val ranges = DeleteFileRange.divide(source.files, maxBytes)
      assert(ranges.size == expected && ranges.map(_.files).sum == 7 && ranges.map(_.rows).sum == 7)
      val groups = ranges.map(new PositionDeleteRows(source, _))
      val (rows, reads) = read(groups)
      assert(rows.flatten == all && rows.map(_.size) == ranges.map(_.files))
      assert(reads == readsAtOnce + expected - 1, "each task reads the manifest")
      assert(read(MetadataRows.combined(groups)) == ((Vector(all), readsAtOnce)), "a task reads the manifest once")
      val separate = groups.indices.filter(_ % 2 == 0).map(groups).toVector
      assert(MetadataRows.combined(separate).size == separate.size)
    }
    assert(DeleteFileRange.divide(Iterator.empty).isEmpty)
  }

  for (format <- Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    test(s"deleted rows that a delete file contains are shown with all their values, ${format.name}") {
      val t = new TestTable(schema)
      val columns = PositionDeletesTable.schema(t.table)
      val path = s"mem:/t/data/deletes-with-rows${format.extension}"
      val fileSchema = Schema(0, PositionDeleteFiles.Struct.fields :+ columns.fields(2))
      val writer = DataFormats.of(format)
        .write(DataTarget(t.table.io, path, fileSchema, Map.empty, MetricsModes(Map.empty)))
      writer.write(Record.of("mem:/a", 3L, Record.of(7, Vector("x", null), Vector("k" -> 1L, "l" -> null))))
      writer.write(Record.of("mem:/b", 5L, Record.of(8, null, null)))
      t.append(writer.close().positionDeletes(0, PartitionTuple.Empty, None))

      val byPath = Equal(Term.Bound(MetadataColumns.DeleteFilePath, "file_path"), StringLiteral("mem:/b"))
      def select(request: RowRequest) =
        PositionDeletesTable.select(t.table, t.metadata.currentSnapshot, request).toVector
      assert(select(RowRequest.all(columns)) == Vector(
        MetadataRow.of(
          "mem:/a",
          3L,
          Some(MetadataRow.of(7, Some(Vector(Some("x"), None)), Some(Map("k" -> Some(1L), "l" -> None)))),
          0,
          path
        ),
        MetadataRow.of("mem:/b", 5L, Some(MetadataRow.of(8, None, None)), 0, path)
      ))
      assert(select(RowRequest(Vector("pos"), byPath)) == Vector(MetadataRow.of(5L)))
    }
}
