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
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation

/** An in-memory table on which tests commit actions, with methods that return the table's files and deleted rows. */
final class Actions(creation: TableCreation) {
  val store = new MemoryFileIO
  val committer = new ScriptedCommitter(store)

  val empty: Table = {
    val target = CommitTarget(TableIdentifier(Vector("db"), "t"), "db.t", store, committer)
    val start = new TableStart.Creation(creation, StageMode.Create, "mem://t", new UUID(7, 7))
    StagedTable.begin(target, start, None, environment).commit()
  }

  /** Loads the newest version of the table. */
  def table: Table = empty.refresh()

  /** Commits actions that are based on the newest version of the table, so that no commit is concurrent. */
  def commit(actions: Action*): Table = commitOn(table, actions: _*)

  /** Commits actions that are based on the version `read`. Commits made after `read` are concurrent with them. */
  def commitOn(read: Table, actions: Action*): Table = {
    val transaction = read.transaction(Map.empty, environment)
    actions.foreach(transaction.add)
    transaction.commit()
  }

  def append(files: ContentFile*): Table = commit(new FastAppend(files.toVector))

  /** Writes a Puffin file with a deletion vector for each data file, and returns the `ContentFile`s of the vectors. */
  def vectors(path: String, rows: (ContentFile, Seq[Long])*): Vector[ContentFile] = DeletionVectorFiles.write(
    store,
    path,
    rows.map { case (file, positions) =>
      DeletedRows(file.path, file.specId, file.partition, DeletionVector.of(positions: _*))
    }
  )

  /** Returns the positions of the deleted rows of a data file, and checks that it has at most one deletion vector. */
  def deleted(table: Table, file: ContentFile): Vector[Long] = {
    val vectors = Actions.live(store, table).filter(_.file.isDeletionVector)
      .filter(_.file.referencedDataFile.contains(file.path))
    assert(vectors.size <= 1, s"${file.path} has ${vectors.size} deletion vectors")
    vectors.flatMap { e =>
      val positions = Vector.newBuilder[Long]
      DeletionVectorFiles.read(store, e.file).foreach(positions += _)
      positions.result()
    }
  }

  /** Returns the paths of Puffin files that no live entry of the newest version references. */
  def unreferencedPuffins: Set[String] =
    store.paths.filter(_.endsWith(".puffin")) -- Actions.live(store, table).map(_.file.path)

  /** Returns the paths of metadata files that the newest version does not reference. */
  def orphanFiles: Set[String] =
    store.paths.filter(_.startsWith("mem://t/metadata/")) -- reachable(store, committer.current)
}

object Actions {
  def unpartitionedTable(version: FormatVersion, properties: (String, String)*): Actions =
    new Actions(unpartitioned(properties :+ ("format-version" -> version.toString): _*))

  def tableByCategory(version: FormatVersion, properties: (String, String)*): Actions =
    new Actions(byCategory(properties :+ ("format-version" -> version.toString): _*))

  /** Returns the live entries of the current snapshot, for both data files and delete files. */
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

  /**
   * Creates the `ContentFile` of a position delete file. The bounds of the column `file_path` are the smallest and the
   * largest path of the given data files.
   */
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

  /**
   * Creates the `ContentFile` of an equality delete file on the column `id`, in the partition of the file `beside`.
   *
   * @param ids lower and upper bound of the ids
   */
  def equalityDeletes(path: String, beside: ContentFile, ids: (Long, Long)): ContentFile = {
    val dataFile = TestTables.file(path, records = 1, ids = ids)
    dataFile.copy(
      content = Content.EqualityDeletes,
      partition = beside.partition,
      specId = beside.specId,
      equalityIds = Vector(1)
    )
  }
}
