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

/** A table of ours and one of Apache Iceberg's, to which the same operations are applied. */
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

  /** Id of the n-th snapshot of our table, and of the peer's. */
  def ourId(n: Int): Long = ours.table.metadata.snapshots(n).snapshotId
  def peerSnapshotId(n: Int): Long = peerMetadata.snapshots(n).snapshotId

  /** Runs an operation on both tables; both succeed or both fail, and the tables are equal afterwards. */
  def onBoth(what: String)(ourAction: => Action)(peerAction: PeerTableApi => Unit): Boolean = {
    val results = Seq(Try(ours.commit(ourAction)), Try(peerAction(theirs)))
    results.filter(_.isFailure).foreach(_.failed.get match {
      case _: IcebergError | _: RuntimeException => ()
      case other => throw other
    })
    assert(
      results.map(_.isSuccess).distinct.size == 1,
      s"$what: ${results.map(_.map(_ => "done").fold(_.toString, identity))}"
    )
    assertSameTables(what)
    results.head.isSuccess
  }

  def assertSameTables(what: String): Unit = {
    theirs.refresh()
    val (a, b) = (asText(ours.store, ours.table.metadata), asText(peerFiles, peerMetadata))
    a.zip(b).foreach { case (our, peer) => assert(our == peer, what) }
  }

  def peerMetadata: TableMetadata = theirs match {
    case t: BaseTable => TableMetadataJson.parse("peer", TableMetadataParser.toJson(t.operations.current()))
    case other => fail(s"No table of a catalog: $other")
  }

  /** The peer's files, readable by us. */
  private val peerFiles: FileIO = new FileIOWrapper(new MemoryFileIO) {
    override def mayCache: Boolean = false
    override def read(path: String): Array[Byte] = {
      val in = theirs.io.newInputFile(path).newStream()
      try in.readAllBytes()
      finally in.close()
    }
    override def open(path: String): InputStream = new ByteArrayInputStream(read(path))
  }

  /** Returns the parts that must be equal, with snapshots by position, without implementation-specific values. */
  private def asText(io: FileIO, m: TableMetadata): Seq[Any] = {
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
    summary.filterKeys(k => !PeerActions.OwnKeys(k)).map {
      case (key @ "source-snapshot-id", id) => key -> positions(id.toLong).toString
      case other => other
    }
}

object PeerActions {

  /** Returns the entry of a deletion vector. */
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

  /** Summary keys of only one implementation; the peer's fast append also keeps manifests without live files. */
  private val OwnKeys = Set("iceberg-version", "iceberg-lite.commit-id", "manifests-kept")
}
