package iceberglite.peer

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.{BaseTable, StaticTableOperations}
import org.apache.iceberg.data.IcebergGenerics
import org.apache.iceberg.hadoop.{HadoopFileIO => PeerHadoopFileIO}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.catalog.Catalogs
import iceberglite.conformance.CommitRules
import iceberglite.data.{DataFormats, DataTarget, Record}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.{TableRows, TableScan}
import iceberglite.spec._
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.types.Type.IntType
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}
import iceberglite.table.{Action, _}
import iceberglite.table.Actions.{category, serializable, snapshot}
import iceberglite.table.SnapshotTarget.{Branch, Staged}
import iceberglite.table.action.{
  DeleteFiles,
  FastAppend,
  FastForward,
  MergeAppend,
  OverwriteFiles,
  PublishChanges,
  RemoveFiles,
  ReplacePartitions,
  RewriteFiles,
  RewriteManifests,
  RollbackToSnapshot,
  RowDelta,
  UpdateSchema
}
import iceberglite.tree.ManifestCache

/**
 * Tests that iceberg-lite, Apache Iceberg and PyIceberg read the same rows from a table with real files, after commits
 * with actions of many kinds.
 */
class ReadBackSuite extends AnyFunSuite with TemporaryDirectory {
  import TestTables.{environment, schema}

  final private class Files(version: FormatVersion) {
    private val io = new HadoopFileIO(new Configuration)
    private val properties = Map("type" -> "hadoop", "warehouse" -> directory.toString)
    private val id = TableIdentifier(Vector("db"), s"t$version")
    val catalog = Catalogs.open("lite", properties, io, environment)
    catalog.create(id, TestTables.byCategory("format-version" -> version.toString))

    def table: Table = catalog.table(id)
    private def dataPath(name: String): String = s"${table.location}/data/$name"

    def commit(actions: Action*): Table = commitOn(table, actions: _*)
    def commitOn(read: Table, actions: Action*): Table =
      actions.foldLeft(read.transaction(Map.empty, environment))(_ add _).commit()

    private def write(name: String, columns: Vector[NestedField], rows: Seq[Record], like: ContentFile): ContentFile = {
      val target = DataTarget(io, dataPath(name), Schema(0, columns), Map.empty, MetricsModes(Map.empty))
      val writer = DataFormats.of(FileFormat.Parquet).write(target)
      rows.foreach(writer.write)
      val file = writer.close()
      like.copy(
        path = file.path,
        recordCount = file.recordCount,
        fileSizeInBytes = file.fileSizeInBytes,
        metrics = file.metrics
      )
    }

    /** Writes a data file with rows that have the category `c` and the given ids. */
    def data(c: String, name: String, ids: Long*): ContentFile =
      write(s"$name.parquet", schema.fields, ids.map(Record.of(_, c)), TestTables.fileOf(c, name))

    /** Writes position deletes: a delete file in version 2, and a deletion vector in version 3. */
    def deleteRows(name: String, of: ContentFile, positions: Long*): Vector[ContentFile] =
      if (version == V2) {
        val columns = Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition)
        val rows = positions.map(p => Record.of(of.path, p))
        Vector(write(s"$name.parquet", columns, rows, of).copy(content = Content.PositionDeletes))
      } else {
        val deleted = DeletedRows(of.path, of.specId, of.partition, DeletionVector.of(positions: _*))
        DeletionVectorFiles.write(io, dataPath(s"$name.puffin"), Seq(deleted))
      }

    /** Writes an equality delete file for the rows that have the category `c` and the given ids. */
    def deleteIds(name: String, c: String, ids: Long*): ContentFile =
      write(s"$name.parquet", schema.fields.take(1), ids.map(Record.of(_)), TestTables.fileOf(c, name))
        .copy(content = Content.EqualityDeletes, equalityIds = Vector(1))

    /** Returns the rows as this library reads them. */
    def liteRows: Set[(Long, String)] = {
      val current = table
      val scan = TableScan(
        current.tree(),
        current.currentSnapshot,
        expr.Expression.AlwaysTrue,
        caseSensitive = true,
        ManifestCache.Disabled
      )
      val columns = current.schema.fields.take(2)
      val rows = new TableRows(io, current.metadata.specsById, None, current.schema, columns, filtered = true)
      scan.plan().tasks.flatMap(task => rows.of(task).toVector)
        .map(r => (r(0).asInstanceOf[java.lang.Long].longValue, r(1).toString)).toSet
    }

    /** Returns the rows as Apache Iceberg reads them. */
    def peerRows: Set[(Long, String)] = {
      val operations = new StaticTableOperations(table.metadataLocation, new PeerHadoopFileIO(new Configuration))
      val read = IcebergGenerics.read(new BaseTable(operations, "t")).build()
      try read.asScala.map(r => (r.getField("id").asInstanceOf[Long], r.getField("category").toString)).toSet
      finally read.close()
    }

    /** Returns the rows as PyIceberg reads them. */
    def pyIcebergRows: Set[(Long, String)] = {
      val code =
        "import sys; from pyiceberg.table import StaticTable; " +
          "t = StaticTable.from_metadata(sys.argv[1]).scan().to_arrow(); " +
          "[print(f\"{r['id']} {r['category']}\") for r in t.to_pylist()]"
      val python = new File(".venv/bin/python").getAbsolutePath
      val process = new ProcessBuilder(python, "-c", code, table.metadataLocation)
        .redirectError(ProcessBuilder.Redirect.INHERIT).start()
      val lines = new String(process.getInputStream.readAllBytes(), UTF_8).linesIterator.toVector
      assert(process.waitFor() == 0, "PyIceberg could not read the table")
      lines.map(_.split(' ')).map(l => (l(0).toLong, l(1))).toSet
    }
  }

  private def id(table: Table): Long = table.currentSnapshot.get.snapshotId

  Seq(V2, V3).foreach { version =>
    test(
      s"all readers return the same rows of a version $version table after actions of many kinds",
      CommitRules.operations +: Sampling.slowUnless(version == V3): _*
    ) {
      val t = new Files(version)
      val a1 = t.data("a", "a1", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
      t.commit(new FastAppend(Vector(a1, t.data("b", "b1", 10, 11, 12))))
      t.commit(new MergeAppend(Vector(t.data("c", "c1", 20, 21, 22), t.data("d", "d1", 30))))
      val read = t.table
      t.commitOn(read, new RowDelta(t.deleteRows("x1", a1, 0, 1), isolation = serializable(read)))
      t.commitOn(read, new RowDelta(t.deleteRows("x2", a1, 1, 2), isolation = serializable(read)))
      t.commit(new RowDelta(t.deleteRows("x3", a1, 9).filter(_ => version == V2) :+ t.data("a", "a2", 90)))
      compact(t)
      t.commit(new OverwriteFiles(category("b"), Vector(t.data("b", "b2", 13))))
      t.commit(new ReplacePartitions(Vector(t.data("d", "d2", 31, 32))))
      t.commit(new RewriteManifests())
      val wap = t.table.transaction(Map("wap.id" -> "w"), environment)
      wap.add(new FastAppend(Vector(t.data("e", "e1", 40)), Staged)).commit()
      t.commit(
        new UpdateSchema(_.addColumn(Vector.empty, "more", IntType, None)),
        new MergeAppend(Vector(t.data("f", "f1", 50)))
      )
      t.commit(new PublishChanges("w"))
      t.commit(new MergeAppend(Vector(t.data("g", "g1", 60)), Branch("audit", create = true)))
      t.commit(new FastForward("main", "audit"))
      val before = id(t.table)
      t.commit(new DeleteFiles(category("f")), new RemoveFiles(Set(t.table.location + "/data/d2.parquet")))
      t.commit(new RollbackToSnapshot(before))
      t.commit(new RemoveFiles(Set(t.table.location + "/data/g1.parquet")))
      val ofA = if (version == V2) Set(3L, 4L, 6L, 7L, 8L, 90L) else Set(3L, 4L, 6L, 7L, 8L, 9L, 90L)
      val expected =
        ofA.map(_ -> "a") ++ Set(13L -> "b", 20L -> "c", 22L -> "c", 31L -> "d", 32L -> "d", 40L -> "e", 50L -> "f")
      assert(t.liteRows == expected)
      assert(t.peerRows == expected)
      assert(t.pyIcebergRows == expected)
    }
  }

  /**
   * Adds equality deletes while a compaction rewrites the data files to which they apply. A second compaction then
   * removes the deleted rows.
   */
  private def compact(t: Files): Unit = {
    def entries: Vector[ContentFile] = Actions.live(t.table.io, t.table).map(_.file)
    def inPartition(c: String): Vector[ContentFile] =
      entries.filter(_.partition == PartitionTuple(Vector(Some(StringLiteral(c)))))
    val read = t.table
    val byKey = t.deleteIds("k1", "c", 21)
    t.commitOn(read, new RowDelta(Vector(byKey, t.deleteIds("k2", "a", 5)), isolation = snapshot(read)))
    val small = t.data("c", "c2", 20, 21, 22)
    t.commitOn(read, new RewriteFiles(inPartition("c").filter(_.content == Content.Data), Vector(small), id(read)))
    assert(t.liteRows.filter(_._2 == "c") == Set(20L -> "c", 22L -> "c"), "the equality delete must apply")
    Seq("c", "a").foreach { c =>
      val ids = t.liteRows.filter(_._2 == c).map(_._1).toVector.sorted
      t.commit(new RewriteFiles(inPartition(c), Vector(t.data(c, s"${c}9", ids: _*)), id(t.table)))
    }
    assert(entries.forall(_.content == Content.Data))
  }
}
