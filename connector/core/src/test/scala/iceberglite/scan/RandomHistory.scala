package iceberglite.scan

import java.util.UUID

import scala.util.Random

import iceberglite.data.{DataFileOf, DataTarget, Record}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{Content, ContentFile, FileFormat}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{Identity, PartitionTuple, UnboundPartitionField}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.table.{Action, _}
import iceberglite.table.action.{
  MergeAppend,
  OverwriteFiles,
  RewriteFiles,
  RewriteManifests,
  RowDelta,
  UpdatePartitionSpec
}
import iceberglite.tree.ManifestCache
import iceberglite.scan.deletes.DeleteReader

/**
 * Makes random commits of every kind, one after the other, to a table with the columns of [[RandomHistory.schema]].
 *
 * @param start the empty table
 * @param formats formats of the data files and of the delete files
 */
final class RandomHistory(start: Table, random: Random, formats: IndexedSeq[FileFormat]) {
  private val environment = TestTables.environment

  /** Returns the newest version of the table. */
  def table: Table = start.refresh()

  /** Makes a random commit to the branch, or to main for `None`. The commit may have no effect. */
  def step(branch: Option[String]): Unit = {
    val to = branch.fold[SnapshotTarget](SnapshotTarget.Main)(SnapshotTarget.Branch(_, create = true))
    val current = table
    val live = tasks(current, to.head(current.metadata)).map(_.file)
    val v1 = current.metadata.formatVersion == FormatVersion.V1
    random.nextInt(11) match {
      case 0 | 1 | 2 => commit(new MergeAppend(newFiles(), to))
      case 3 if live.nonEmpty => overwrite(someOf(live), to)
      case 4 if live.nonEmpty => commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = someOf(live), to = to))
      case 5 if live.nonEmpty => compact(someOf(live), to)
      case 6 if !v1 => deleteKeys(to)
      case 7 | 8 if !v1 && live.nonEmpty => deletePositions(someOf(live), to)
      case 9 if !v1 && random.nextInt(3) == 0 => restore(to)
      case 10 if !v1 => evolve()
      case _ => commit(new RewriteManifests(to = to))
    }
  }

  /**
   * Commits every kind of change, independent of the seed: adds files, removes files without and with deletes, deletes
   * rows of a file without and with earlier deletes, and restores rows of a file with and without other deletes. In
   * version 1, it only adds and removes files.
   */
  def everyChange(): Unit = {
    val files = Vector.fill(2)(threeRows())
    commit(new MergeAppend(files))
    def remove(file: ContentFile): Unit =
      commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(file)))
    // This file must be removed before position deletes exist, because they apply to all files of the partition.
    remove(files.last)
    if (table.metadata.formatVersion > FormatVersion.V1) {
      def delete(position: Long): Unit = deleteRows(Vector(files.head -> Vector(position)), SnapshotTarget.Main)
      delete(0)
      delete(1)
      deletesOf(files.head).indices.foreach(_ => commit(new RowDelta(Vector.empty, deletesOf(files.head).take(1))))
      delete(2)
    }
    remove(files.head)
  }

  private def threeRows(): ContentFile = {
    val spec = table.metadata.spec
    val partition = if (spec.isPartitioned) RandomHistory.tuple("a") else PartitionTuple.Empty
    writeFiles(Vector.tabulate(3)(i => (partition, spec.specId, Record.of(i.toLong, "a", note(), null, null)))).head
  }

  private def deletesOf(file: ContentFile): Vector[ContentFile] =
    tasks(table, table.currentSnapshot).filter(_.file.path == file.path).flatMap(_.deletes.map(_.file))

  private def commit(action: Action): Unit = {
    val transaction = table.transaction(Map.empty, environment)
    transaction.add(action)
    transaction.commit()
    ()
  }

  /** Removes the partition field, or adds it again if it was removed. */
  private def evolve(): Unit = {
    val isPartitioned = table.metadata.spec.isPartitioned
    commit(new UpdatePartitionSpec(spec =>
      if (isPartitioned) spec.removeField("category") else spec.addField(Vector("category"), Identity)
    ))
  }

  private def someOf[A](all: Vector[A]): Vector[A] = random.shuffle(all).take(1 + random.nextInt(2))

  private def scan(table: Table, at: Option[Snapshot]): TableScan =
    TableScan(table.tree(), at, AlwaysTrue, caseSensitive = true, ManifestCache.Disabled)

  private def tasks(table: Table, at: Option[Snapshot]): Vector[FileScanTask] = scan(table, at).plan().tasks

  /** Rewrites files with some of their live rows changed or removed, as a copy-on-write statement does. */
  private def overwrite(files: Vector[ContentFile], to: SnapshotTarget): Unit = {
    val kept = rowsOf(files, to).filter(_ => random.nextInt(4) > 0)
    val added = writeFiles(kept.map { case (file, row) =>
      val changed = if (random.nextBoolean()) row else Record.of(row(0), row(1), note(), row(3), row(4))
      (file.partition, file.specId, changed)
    })
    commit(new OverwriteFiles(AlwaysFalse, added ++ newFiles().take(1), removed = files, to = to))
  }

  private def compact(files: Vector[ContentFile], to: SnapshotTarget): Unit = {
    val added = writeFiles(rowsOf(files, to).map { case (file, row) => (file.partition, file.specId, row) })
    commit(new RewriteFiles(files, added, to.head(table.metadata).get.snapshotId, to))
  }

  private def rowsOf(files: Vector[ContentFile], to: SnapshotTarget): Vector[(ContentFile, Record)] = {
    val paths = files.map(_.path).toSet
    val current = table
    val projection = current.schema.fields ++ RandomHistory.lineage
    val rows = new TableRows(current.io, current.metadata.specsById, None, current.schema, projection, filtered = false)
    tasks(current, to.head(current.metadata)).filter(t => paths(t.file.path))
      .flatMap(t => rows.of(t).toVector.map(t.file -> _))
  }

  /** Deletes rows by random ids, or by random ids and categories, and may add new rows, as an upsert does. */
  private def deleteKeys(to: SnapshotTarget): Unit = {
    val current = table
    val columns = if (random.nextBoolean()) current.schema.fields.take(1) else current.schema.fields.take(2)
    val rows = Vector.fill(1 + random.nextInt(3))(Record.of(someId(), someCategory()))
    val partitions = if (!current.metadata.spec.isPartitioned) Vector(PartitionTuple.Empty)
    else rows.map(r => RandomHistory.tuple(r(1))).distinct
    val deletes = partitions.map { partition =>
      val inside = rows.filter(r => partition == PartitionTuple.Empty || RandomHistory.tuple(r(1)) == partition)
      val records = inside.map(r => Record.of(r.values.take(columns.size): _*))
      write(columns, records, partition, current.metadata.defaultSpecId)
        .copy(content = Content.EqualityDeletes, equalityIds = columns.map(_.id))
    }
    commit(new RowDelta(deletes ++ (if (random.nextBoolean()) newFiles() else Vector.empty), to = to))
  }

  private def deletePositions(files: Vector[ContentFile], to: SnapshotTarget): Unit = {
    val first = if (table.metadata.formatVersion >= FormatVersion.V3) Vector.empty else Vector(0L)
    def randomPositions(file: ContentFile): Vector[Long] =
      (0L until file.recordCount).toVector.filter(_ => random.nextInt(3) == 0)
    deleteRows(files.map(f => f -> (randomPositions(f) ++ first).distinct.sorted), to)
  }

  private def deleteRows(of: Vector[(ContentFile, Vector[Long])], to: SnapshotTarget): Unit = {
    val deletes =
      if (table.metadata.formatVersion >= FormatVersion.V3) vectors(of, to)
      else of.groupBy { case (file, _) => (file.specId, file.partition) }.values.toVector.map(positionDeletes)
    if (deletes.nonEmpty) commit(new RowDelta(deletes, replaced(deletes, to), to = to))
  }

  private def positionDeletes(deleted: Vector[(ContentFile, Vector[Long])]): ContentFile = {
    val columns = Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition)
    val rows = deleted.sortBy(_._1.path).flatMap { case (file, ps) => ps.map(p => Record.of(file.path, p)) }
    write(columns, rows, deleted.head._1.partition, deleted.head._1.specId).copy(content = Content.PositionDeletes)
  }

  /** Writes deletion vectors of the given positions and of all positions that earlier deletes contain. */
  private def vectors(deleted: Vector[(ContentFile, Vector[Long])], to: SnapshotTarget): Vector[ContentFile] = {
    val current = table
    val deletesByPath =
      tasks(current, to.head(current.metadata)).map(t => t.file.path -> t.deletes.filterNot(_.isEquality)).toMap
    val reader = new DeleteReader(current.io, current.metadata.specsById, None)
    val all = deleted.map { case (file, positions) =>
      val before = reader.of(file.path, deletesByPath.getOrElse(file.path, Vector.empty)).positions
      DeletedRows(file.path, file.specId, file.partition, before.union(DeletionVector.of(positions: _*)))
    }
    DeletionVectorFiles.write(current.io, path("puffin"), all)
  }

  private def replaced(vectors: Vector[ContentFile], to: SnapshotTarget): Vector[ContentFile] = {
    val files = vectors.flatMap(_.referencedDataFile).toSet
    val current = table
    tasks(current, to.head(current.metadata)).filter(t => files(t.file.path)).flatMap(_.deletes.map(_.file))
      .filter(f => f.isDeletionVector)
  }

  /** Removes a random delete file. Rows that no other delete file deletes are then live again. */
  private def restore(to: SnapshotTarget): Unit = {
    val current = table
    val deletes = tasks(current, to.head(current.metadata)).flatMap(_.deletes.map(_.file)).distinct
    if (deletes.nonEmpty) commit(new RowDelta(Vector.empty, someOf(deletes).take(1), to = to))
  }

  private def newFiles(): Vector[ContentFile] = Vector.fill(1 + random.nextInt(2)) {
    val current = table
    val category = someCategory()
    val partitioned = current.metadata.spec.isPartitioned
    val rows = Vector.fill(1 + random.nextInt(6))(
      Record.of(someId(), if (partitioned) category else someCategory(), note(), null, null)
    )
    val partition = if (partitioned) RandomHistory.tuple(category) else PartitionTuple.Empty
    writeFiles(rows.map((partition, current.metadata.defaultSpecId, _))).head
  }

  /** Writes rows to one file per partition. Rows with a row id keep it. */
  private def writeFiles(rows: Vector[(PartitionTuple, Int, Record)]): Vector[ContentFile] = {
    val columns = table.schema.fields ++
      (if (table.metadata.formatVersion >= FormatVersion.V3) RandomHistory.lineage else Vector.empty)
    rows.groupBy(r => (r._1, r._2)).toVector.map { case ((partition, specId), group) =>
      write(columns, group.map(r => Record.of(r._3.values.take(columns.size): _*)), partition, specId)
    }
  }

  private def write(
      columns: Vector[NestedField],
      rows: Vector[Record],
      partition: PartitionTuple,
      specId: Int
  ): ContentFile = {
    val format = formats(random.nextInt(formats.size))
    val target = DataTarget(
      start.io,
      path(format.name),
      Schema(0, columns.map(_.copy(required = false))),
      Map.empty,
      MetricsModes(Map.empty)
    )
    DataFileOf(target, format, specId, partition, rows)
  }

  private def path(suffix: String): String = {
    val name = new UUID(random.nextLong(), random.nextLong())
    s"${start.metadata.location}/data/$name.${suffix.toLowerCase}"
  }

  private def someId(): AnyRef = if (random.nextInt(10) == 0) null else Long.box(random.nextInt(12).toLong)

  private def someCategory(): AnyRef = Vector[AnyRef]("a", "b", null)(random.nextInt(3))

  private def note(): AnyRef = s"note ${random.nextInt(5)}"
}

object RandomHistory {
  val schema: Schema = Schema(
    0,
    Vector(
      NestedField.optional(1, "id", LongType),
      NestedField.optional(2, "category", StringType),
      NestedField.optional(3, "note", StringType)
    )
  )

  val lineage: Vector[NestedField] = Vector(MetadataColumns.RowId, MetadataColumns.LastUpdatedSequenceNumber)

  /** Limits with which small commits merge manifests and, in version 4, move files and deletion vectors of the root. */
  private val smallTrees = Map(
    "commit.manifest.min-count-to-merge" -> "3",
    "write.v4.single-commit-max-files" -> "1",
    "write.v4.root.max-data-files" -> "2",
    "write.v4.root.max-delete-entries" -> "1",
    "write.v4.root.max-vector-bytes" -> "1"
  )

  def creation(version: FormatVersion, partitioned: Boolean): TableCreation = TableCreation(
    schema,
    if (partitioned) Vector(UnboundPartitionField(Vector("category"), Identity)) else Vector.empty,
    properties = smallTrees + ("format-version" -> version.toString)
  )

  /** Reads the rows of each task of a scan. */
  def rows(table: Table, tasks: Vector[FileScanTask], projection: Vector[NestedField]): Vector[Vector[Record]] = {
    val reader = new TableRows(table.io, table.metadata.specsById, None, table.schema, projection, filtered = true)
    tasks.map { task =>
      val read = reader.of(task)
      try read.toVector
      finally read.close()
    }
  }

  private def tuple(category: AnyRef): PartitionTuple =
    PartitionTuple(Vector(Option(category).map(c => StringLiteral(c.toString))))
}
