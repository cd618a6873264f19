package iceberglite.table

import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{Equal, LessThan}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry, MetricMaps}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.SingleValue
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.storage.FileIO
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend
import iceberglite.tree.TreeReader

/** An in-memory table for tests of actions, with its files and its contents. */
final class Actions(creation: TableCreation) {
  val store = new MemoryFileIO
  val committer = new ScriptedCommitter(store)

  val empty: Table = {
    val target = CommitTarget(TableIdentifier(Vector("db"), "t"), "db.t", store, committer)
    val start = new TableStart.Creation(creation, StageMode.Create, "mem://t", new UUID(7, 7))
    StagedTable.begin(target, start, None, environment).commit()
  }

  /** Returns the newest version. */
  def table: Table = empty.refresh()

  /** Commits on the newest version, so that nothing is concurrent. */
  def commit(actions: Action*): Table = commitOn(table, actions: _*)

  /** Commits on an older version: later commits are concurrent. */
  def commitOn(read: Table, actions: Action*): Table = {
    val transaction = read.transaction(Map.empty, environment)
    actions.foreach(transaction.add)
    transaction.commit()
  }

  def append(files: ContentFile*): Table = commit(new FastAppend(files.toVector))

  /** Writes a Puffin file with the deleted rows of data files, and returns its delete file entries. */
  def vectors(path: String, rows: (ContentFile, Seq[Long])*): Vector[ContentFile] = DeletionVectorFiles.write(
    store,
    path,
    rows.map { case (file, positions) =>
      DeletedRows(file.path, file.specId, file.partition, DeletionVector.of(positions: _*))
    }
  )

  /** Returns the deleted rows of a data file, and checks the number of its vectors. */
  def deleted(table: Table, file: ContentFile): Vector[Long] = {
    val vectors = Actions.live(store, table).filter(_.file.isDeletionVector)
      .filter(_.file.referencedDataFile.contains(file.path))
    assert(vectors.size <= 1, s"${file.path} has ${vectors.size} vectors")
    vectors.flatMap { e =>
      val positions = Vector.newBuilder[Long]
      DeletionVectorFiles.read(store, e.file).foreach(positions += _)
      positions.result()
    }
  }

  /** Returns Puffin files that no live entry of the newest version references. */
  def unreferencedPuffins: Set[String] =
    store.paths.filter(_.endsWith(".puffin")) -- Actions.live(store, table).map(_.file.path)

  /** Returns unreferenced metadata files. */
  def orphanFiles: Set[String] =
    store.paths.filter(_.startsWith("mem://t/metadata/")) -- reachable(store, committer.current)
}

object Actions {
  def unpartitionedTable(version: FormatVersion, properties: (String, String)*): Actions =
    new Actions(unpartitioned(properties :+ ("format-version" -> version.toString): _*))

  def tableByCategory(version: FormatVersion, properties: (String, String)*): Actions =
    new Actions(byCategory(properties :+ ("format-version" -> version.toString): _*))

  /** Returns the live entries of the current snapshot, data and deletes. */
  def live(io: FileIO, table: Table): Vector[ManifestEntry] = {
    new TreeReader(io, table.metadata).live
  }

  def summary(table: Table): Map[String, String] = table.currentSnapshot.get.summary

  def operation(table: Table): String = summary(table)("operation")

  def category(c: String): Expression = Equal(Named("category"), StringLiteral(c))

  def idBelow(n: Long): Expression = LessThan(Named("id"), LongLiteral(n))

  def since(table: Table, level: IsolationLevel): Option[Isolation] =
    Some(Isolation(level, table.metadata.currentSnapshotId))

  def serializable(table: Table): Option[Isolation] = since(table, IsolationLevel.Serializable)

  def snapshot(table: Table): Option[Isolation] = since(table, IsolationLevel.Snapshot)

  /** Creates a position delete file that names its data files directly or in its bounds. */
  def positionDeletes(path: String, of: ContentFile*): ContentFile = {
    def bound(p: String): Map[Int, ByteBuffer] =
      Map(MetadataColumns.DeleteFilePath.id -> SingleValue.encode(StringLiteral(p)))
    of.head.copy(
      content = Content.PositionDeletes,
      path = path,
      recordCount = of.size.toLong,
      metrics = MetricMaps(
        lowerBounds = Some(bound(of.map(_.path).min)),
        upperBounds = Some(bound(of.map(_.path).max))
      )
    )
  }

  /** Creates equality deletes on the column `id`, with ids in a range. */
  def equalityDeletes(path: String, beside: ContentFile, ids: (Long, Long)): ContentFile = {
    val like = TestTables.file(path, records = 1, ids = ids)
    like.copy(
      content = Content.EqualityDeletes,
      partition = beside.partition,
      specId = beside.specId,
      equalityIds = Vector(1)
    )
  }
}
