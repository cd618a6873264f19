package iceberglite.peer

import java.io.{ByteArrayInputStream, InputStream}

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.iceberg.{BaseTable, DataFile, TableMetadataParser}
import org.apache.iceberg.{DeleteFile => PeerDelete, PartitionSpec => PeerSpec, Table => PeerTableApi}
import org.apache.iceberg.catalog.{Namespace, TableIdentifier => PeerIdentifier}
import org.apache.iceberg.inmemory.InMemoryCatalog
import org.scalatest.Assertions._

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.storage.FileIO
import iceberglite.table.{Action, Actions, MemoryFileIO}
import iceberglite.tree.{ManifestCache, TreeReader}

/** A table of iceberg-lite (`ours`) and a table of Apache Iceberg (`theirs`). Tests apply equal operations to both. */
final class PeerActions(val ours: Actions) {
  private val catalog = {
    val newCatalog = new InMemoryCatalog
    newCatalog.initialize("peer", new java.util.HashMap)
    newCatalog.createNamespace(Namespace.of("db"))
    newCatalog
  }

  val theirs: PeerTableApi = {
    val start = ours.empty.metadata
    val spec = PeerFiles.spec(start.spec, start.schema)
    val properties = start.properties + ("format-version" -> start.formatVersion.toString)
    catalog.buildTable(PeerIdentifier.of("db", "t"), PeerFiles.schema(start.schema)).withPartitionSpec(spec)
      .withProperties(properties.asJava).create()
  }

  def spec: PeerSpec = theirs.spec
  def data(file: ContentFile): DataFile = PeerFiles.dataFile(file, theirs.specs.get(file.specId))
  def deletes(file: ContentFile): PeerDelete = PeerFiles.deleteFile(file, theirs.specs.get(file.specId))

  /** Returns the id of the n-th snapshot in the table of iceberg-lite, counted from 0. */
  def ourId(n: Int): Long = ours.table.metadata.snapshots(n).snapshotId

  /** Returns the id of the n-th snapshot in the table of Apache Iceberg, counted from 0. */
  def peerSnapshotId(n: Int): Long = peerMetadata.snapshots(n).snapshotId

  /**
   * Runs an operation on both tables, and checks that both succeed or both fail, and that the tables are equal
   * afterwards.
   *
   * @return whether the operation succeeded
   */
  def onBoth(operation: String)(ourAction: => Action)(peerAction: PeerTableApi => Unit): Boolean = {
    val results = Seq(Try(ours.commit(ourAction)), Try(peerAction(theirs)))
    results.filter(_.isFailure).foreach(_.failed.get match {
      case _: IcebergError | _: RuntimeException => ()
      case other => throw other
    })
    assert(
      results.map(_.isSuccess).distinct.size == 1,
      s"$operation: ${results.map(_.map(_ => "done").fold(_.toString, identity))}"
    )
    assertSameTables(operation)
    results.head.isSuccess
  }

  def assertSameTables(operation: String): Unit = {
    theirs.refresh()
    val (a, b) = (comparable(ours.store, ours.table.metadata), comparable(peerFiles, peerMetadata))
    a.zip(b).foreach { case (our, peer) => assert(our == peer, operation) }
  }

  def peerMetadata: TableMetadata = theirs match {
    case t: BaseTable => TableMetadataJson.parse("peer", TableMetadataParser.toJson(t.operations.current()))
    case other => fail(s"The table $other has no metadata")
  }

  /** Reads the files of the table of Apache Iceberg through its own `FileIO`. */
  private val peerFiles: FileIO = new FileIOWrapper(new MemoryFileIO) {
    override def mayCache: Boolean = false
    override def read(path: String): Array[Byte] = {
      val in = theirs.io.newInputFile(path).newStream()
      try in.readAllBytes()
      finally in.close()
    }
    override def open(path: String): InputStream = new ByteArrayInputStream(read(path))
  }

  /**
   * Returns the parts of a table that must be equal in both libraries. Each snapshot id is replaced by its index in the
   * list of snapshots.
   */
  private def comparable(io: FileIO, m: TableMetadata): Seq[Any] = {
    val positions = m.snapshots.map(_.snapshotId).zipWithIndex.toMap
    val snapshots = m.snapshots.map { s =>
      val parent = s.parentSnapshotId.map(positions)
      (parent, s.sequenceNumber, s.firstRowId, s.addedRows, counts(s.summary, positions))
    }
    val refs = m.refs.map { case (name, ref) => name -> ((positions(ref.snapshotId), ref.kind)) }
    Seq(m.currentSnapshot.map(files(io, m, _, positions)).getOrElse(Set.empty), snapshots, refs, m.nextRowId)
  }

  private def files(io: FileIO, m: TableMetadata, s: Snapshot, positions: Map[Long, Int]): Set[Any] = {
    val tree = new TreeReader(io, m, ManifestCache.Disabled)
    tree.live(s).map { e =>
      val f = e.file
      (
        f.content,
        f.path,
        f.contentOffset,
        e.sequenceNumber,
        e.fileSequenceNumber,
        e.snapshotId.map(positions),
        f.recordCount
      )
    }.toSet
  }

  private def counts(summary: Map[String, String], positions: Map[Long, Int]): Map[String, String] =
    summary.filterKeys(k => !PeerActions.IgnoredKeys(k)).map {
      case (key @ "source-snapshot-id", id) => key -> positions(id.toLong).toString
      case other => other
    }
}

object PeerActions {

  /** Creates the `ContentFile` of a deletion vector. */
  def vector(path: String, dataFile: ContentFile, records: Long = 1, offset: Long = 4): ContentFile = ContentFile(
    Content.PositionDeletes,
    path,
    FileFormat.Puffin,
    dataFile.specId,
    dataFile.partition,
    records,
    100,
    Metrics.Empty,
    referencedDataFile = Some(dataFile.path),
    contentOffset = Some(offset),
    contentSizeInBytes = Some(40)
  )

  /**
   * Keys of snapshot summaries that are not compared. Only Apache Iceberg writes `iceberg-version`, and only
   * iceberg-lite writes `iceberg-lite.commit-id`. The values of `manifests-kept` differ, because only a fast append of
   * Apache Iceberg keeps manifests without live files.
   */
  private val IgnoredKeys = Set("iceberg-version", "iceberg-lite.commit-id", "manifests-kept")
}
