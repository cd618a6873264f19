package iceberglite.peer

import org.apache.iceberg.{BaseTable, TableMetadata => PeerMetadata, TableMetadataParser, TableOperations}
import org.apache.iceberg.io.{FileIO, LocationProvider}

import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.TableMetadata

/** An in-memory table of Apache Iceberg. iceberg-lite has written its first metadata. */
final class PeerTable(start: TableMetadata) extends TableOperations {
  private var metadata = TableMetadataParser.fromJson("/t/metadata/v1.json", TableMetadataJson.toJson(start))

  val table = new BaseTable(this, "t")

  /** Returns the current metadata of the table, converted to iceberg-lite's class. */
  def committed: TableMetadata = TableMetadataJson.parse("peer", TableMetadataParser.toJson(metadata))

  override def current(): PeerMetadata = metadata
  override def refresh(): PeerMetadata = metadata
  override def commit(base: PeerMetadata, next: PeerMetadata): Unit = metadata = next
  override def io(): FileIO = throw new UnsupportedOperationException("A table in memory has no files")
  override def metadataFileLocation(fileName: String): String = s"/t/metadata/$fileName"
  override def locationProvider(): LocationProvider = throw new UnsupportedOperationException("No files are written")
}
