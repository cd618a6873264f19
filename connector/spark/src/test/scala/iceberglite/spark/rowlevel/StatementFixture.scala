package iceberglite.spark.rowlevel

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.write.WriteFixture
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.{MergeAppend, RewriteFiles}
import iceberglite.tree.TreeReader

/** Creates tables for tests of row-level statements, and commits to the tables while a statement runs. */
trait StatementFixture extends WriteFixture { self: Suite =>
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  /** Creates a table. @param mode the mode of DELETE, UPDATE and MERGE, as in `write.delete.mode` */
  protected def create(columns: String, version: Int, mode: String, properties: (String, String)*): String = {
    val t = newTable()
    val allProperties = Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode) ++ properties :+
      ("format-version" -> version.toString)
    sql(s"CREATE TABLE $t ($columns) USING iceberg TBLPROPERTIES " +
      allProperties.map { case (k, v) => s"'$k' = '$v'" }.mkString("(", ", ", ")"))
    t
  }

  /** Creates a table with 1000 rows in two files. */
  protected def filled(version: Int, mode: String, properties: (String, String)*): String = {
    val t = create("id BIGINT, n BIGINT", version, mode, properties: _*)
    sql(s"INSERT INTO $t SELECT id, id % 10 FROM range(0, 1000, 1, 2)")
    t
  }

  /** Returns the table object that the catalog shares with statements, with its current metadata. */
  protected def live(name: String): Table = {
    val Array(catalog, namespace, last) = name.split('.')
    spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(namespace), last)).current
  }

  protected def count(t: String, where: String = "true"): Long =
    rows(s"SELECT count(*) FROM $t WHERE $where").head.getLong(0)

  /**
   * Registers the SQL function `commit_and_return`, which returns its argument. Each of the first `times` calls of the
   * function commits to a table, as a concurrent program would.
   *
   * @param name the table name with catalog and namespace
   * @return a function that returns the number of commits so far
   */
  protected def commitWhenCalled(name: String, times: Int = 1)(commit: Table => Unit): () => Int = {
    val remaining = new AtomicReference[Int](times)
    StatementFixture.commitAction.set { () =>
      if (remaining.getAndUpdate(n => math.max(0, n - 1)) > 0) commit(live(name))
    }
    spark.udf.register(
      "commit_and_return",
      (value: Long) => {
        StatementFixture.callSerialized()
        value
      }
    )
    () => times - remaining.get
  }

  /** Adds a copy of a data file to the table. */
  protected def addCopy(table: Table): Unit = {
    val file = dataFilesAt(table, table.currentSnapshot).filter(_.recordCount == 500).minBy(_.path)
    table.transaction().add(new MergeAppend(Vector(copyOf(table, file)))).commit()
    ()
  }

  /** Replaces the data files by copies, as a compaction does. The files must not have deletes. */
  protected def compact(table: Table, target: SnapshotTarget = SnapshotTarget.Main): Unit =
    target.head(table.metadata).foreach { head =>
      val files = dataFilesAt(table, Some(head))
      table.transaction().add(
        new RewriteFiles(files, files.map(copyOf(table, _)), head.snapshotId, target)
      ).commit()
    }

  /** Returns the live data files of a snapshot. */
  protected def dataFilesAt(table: Table, snapshot: Option[Snapshot]): Vector[ContentFile] = {
    val tree = new TreeReader(table.io, table.metadata)
    snapshot.toVector.flatMap(tree.manifests).flatMap(tree.entries(_).toVector)
      .filter(_.isLive).map(_.file).filter(_.content == Content.Data)
  }

  private def copyOf(table: Table, file: ContentFile): ContentFile = {
    val path = file.path.replace(".parquet", s"-${StatementFixture.copies.incrementAndGet()}-copy.parquet")
    table.io.createExclusively(path, table.io.readRange(file.path, 0L, file.fileSizeInBytes.toInt))
    file.copy(path = path)
  }
}

object StatementFixture {
  private val commitAction = new AtomicReference[() => Unit](() => ())
  private val copies = new java.util.concurrent.atomic.AtomicInteger

  /**
   * Runs the commit registered for `commit_and_return`. Calls run one at a time, so each sees all earlier commits.
   */
  private def callSerialized(): Unit = synchronized(commitAction.get.apply())
}
