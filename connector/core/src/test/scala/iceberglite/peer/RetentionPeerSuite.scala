package iceberglite.peer

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import org.apache.iceberg.{BaseTable, TableMetadata => PeerMetadata, TableMetadataParser, TableOperations}
import org.apache.iceberg.encryption.{EncryptionManager, PlaintextEncryptionManager}
import org.apache.iceberg.io.{FileIO, LocationProvider}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.MetadataRules
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{SnapshotLogEntry, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Tag}
import iceberglite.spec.table.RetentionSuite

/** Tests that iceberg-lite and Apache Iceberg expire the same snapshots. */
class RetentionPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A read-only table of Apache Iceberg that consists of metadata only and has no files. */
  private class MetadataOnly(metadata: PeerMetadata) extends TableOperations {
    override def current(): PeerMetadata = metadata
    override def refresh(): PeerMetadata = metadata
    override def commit(base: PeerMetadata, next: PeerMetadata): Unit = throw new UnsupportedOperationException
    override def io(): FileIO = throw new UnsupportedOperationException
    override def encryption(): EncryptionManager = PlaintextEncryptionManager.instance
    override def metadataFileLocation(name: String): String = name
    override def locationProvider(): LocationProvider = throw new UnsupportedOperationException
  }

  /**
   * Adds `sinceMs` to the maximum ages in all references. Apache Iceberg computes ages by the system clock, which is
   * `sinceMs` ahead of the time that the test gives to iceberg-lite.
   */
  private def aged(m: TableMetadata, sinceMs: Long): TableMetadata = m.edited(refs = m.refs.map {
    case (name, b: Branch) =>
      name -> b.copy(
        maxSnapshotAgeMs = b.maxSnapshotAgeMs.map(_ + sinceMs),
        maxRefAgeMs = b.maxRefAgeMs.map(_ + sinceMs)
      )
    case (name, t: Tag) => name -> t.copy(maxRefAgeMs = t.maxRefAgeMs.map(_ + sinceMs))
  })

  test(
    "the same snapshots of random histories expire as in Apache Iceberg",
    MetadataRules.retention,
    MetadataRules.stagedRetention
  ) {
    // A unit of time in the random histories is scaled to 10000 s. Therefore the time that the test takes, by which the
    // system clock advances, does not change which snapshots expire.
    val scale = 10000000L
    forAll(RetentionSuite.history, RetentionSuite.retention) { (history, retention) =>
      val scaled = history.edited(
        lastUpdatedMs = 2000 * scale,
        snapshotLog = history.currentSnapshotId.map(SnapshotLogEntry(0, _)).toVector,
        snapshots = history.snapshots.map(s => s.copy(timestampMs = s.timestampMs * scale)),
        refs = history.refs.map {
          case (name, b: Branch) =>
            name -> b.copy(
              maxSnapshotAgeMs = b.maxSnapshotAgeMs.map(_ * scale + scale / 2),
              maxRefAgeMs = b.maxRefAgeMs.map(_ * scale + scale / 2)
            )
          case (name, t: Tag) => name -> t.copy(maxRefAgeMs = t.maxRefAgeMs.map(_ * scale + scale / 2))
        }
      )
      val nowMs = 1000 * scale
      val m = aged(scaled, System.currentTimeMillis - nowMs)
      val properties = Map("history.expire.max-ref-age-ms" -> Long.MaxValue.toString)
      val json = new String(TableMetadataJson.write(m.edited(properties = properties)), UTF_8)
      val peer = new BaseTable(new MetadataOnly(TableMetadataParser.fromJson(json)), "t").expireSnapshots
        .expireOlderThan(retention.olderThanMs * scale).retainLast(retention.minSnapshotsToKeep)
        .apply().asScala.map(_.snapshotId).toSet
      val ours = retention.copy(olderThanMs = retention.olderThanMs * scale, maxRefAgeMs = Long.MaxValue)
      assert(ours.expired(scaled, nowMs).snapshotIds == peer)
    }
  }
}
