package iceberglite.encryption

import java.nio.file.Files

import org.apache.iceberg.DataFiles
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.MetadataRules
import iceberglite.maintenance.{ComputeTableStatistics, PartitionStatisticsFiles}
import iceberglite.maintenance.health.{SketchHealth, StatisticsHealth}
import iceberglite.puffin.{NewBlob, PuffinWriter, ThetaSketch}
import iceberglite.scan.BloomIndex
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.{BlobMetadata, BlobType, Encryption, PartitionStatisticsFile, StatisticsFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.{Table, TableVersion, TestTables}
import iceberglite.table.action.{ExpireOptions, ExpireSnapshots, RemoveStatistics}

/** Tests statistics files of encrypted tables. Other engines and servers do not preserve the keys of these files. */
class EncryptedStatisticsSuite extends AnyFunSuite with EncryptedTables {
  private val sketch = ThetaSketch.newBuilder.result()

  /** Returns a table with an index of the column 1, and with its statistics file. */
  private def indexed(): (Table, StatisticsFile) = {
    val table = append(create(open(), "iceberg-lite.bloom-index.columns" -> "id"), "1")
    val blob = NewBlob(BlobMetadata(BlobType.BloomIndex, 1L, 1L, Vector(1), Map.empty), Array(7.toByte))
    ComputeTableStatistics.register(table, table.currentSnapshot.get, Vector(1 -> sketch), others = Vector(blob))
  }

  private def at(table: Table, metadata: TableMetadata): Table =
    table.at(TableVersion(metadata, table.metadataLocation))

  private def withoutKeyMetadata(table: Table): Table =
    at(table, table.metadata.edited(statistics = table.metadata.statistics.map(_.copy(keyMetadata = None))))

  private def health(table: Table): StatisticsHealth = StatisticsHealth.of(table.metadata)

  test("statistics are read if a server or an engine drops their key metadata", MetadataRules.encryptionKeys, Slow) {
    val (table, file) = indexed()
    val dropped = withoutKeyMetadata(table)
    assert(BloomIndex.fileOf(dropped.metadata, None, 1).map(_.statisticsPath).contains(file.statisticsPath))
    val opened = dropped.tree().openStatistics(file.copy(keyMetadata = None))
    assert(opened.read(opened.blobs.head).sameElements(sketch.toBytes))
    assert(!health(dropped).isBloomIndexOld && !health(dropped).sketches.get.isStale)
    // An attacker who can write to the storage may replace the statistics file.
    val forged = NewBlob(BlobMetadata(BlobType.BloomIndex, 1L, 1L, Vector(1), Map.empty), Array.emptyByteArray)
    Files.delete(local(file.statisticsPath))
    PuffinWriter.write(table.io.unguarded, file.statisticsPath, Iterator(forged))
    Seq(table, dropped).foreach(t => intercept[UnreadableFile](t.tree().openStatistics(t.metadata.statistics.head)))
  }

  test("Apache Iceberg preserves the keys of statistics files", MetadataRules.encryptionKeys) {
    val (table, file) = indexed()
    val peer = new PeerEncryptedTable(local(table.metadataLocation).toString, new PeerKeys(masterKeys))
    val added = DataFiles.builder(peer.table.spec).withPath(s"$secretPath-2.parquet").withRecordCount(3)
      .withFileSizeInBytes(300).withEncryptionKeyMetadata(FileKey.random(16).encode).build()
    peer.table.newAppend().appendFile(added).commit()
    val next = table.refresh()
    assert(names(next) == Set("1", "2"))
    assert(BloomIndex.fileOf(next.metadata, None, 1).map(_.statisticsPath).contains(file.statisticsPath))
    assert(next.tree().openStatistics(next.metadata.statistics.head).blobs.size == 2)
  }

  test("a statistics file without a key is not used, and is replaced", MetadataRules.encryptionKeys) {
    val (table, file) = indexed()
    val isKey = kekIds(table).toSet ++ table.currentSnapshot.get.keyId
    val lost = at(
      table,
      withoutKeyMetadata(table).metadata.edited(
        encryptionKeys = table.metadata.encryptionKeys.filter(key => isKey(key.keyId))
      )
    )
    assert(BloomIndex.fileOf(lost.metadata, None, 1).isEmpty)
    intercept[UnreadableFile](lost.tree().openStatistics(lost.metadata.statistics.head))
    assert(health(lost).isBloomIndexOld && health(lost).sketches.exists(_.isStale))
    assert(health(lost).tableStatistics.isEmpty)
    assert(SketchHealth.fileOf(lost.metadata).map(_.statisticsPath).contains(file.statisticsPath))
    assert(ComputeTableStatistics.existingBlobs(lost, lost.currentSnapshot.get).isEmpty)
    assert(ComputeTableStatistics.existingBlobs(table, table.currentSnapshot.get).size == 1)
  }

  test("partition statistics files are not used, because they are not encrypted") {
    val table = append(create(open()), "1")
    val file = PartitionStatisticsFile(table.currentSnapshot.get.snapshotId, s"$directory/partition-stats.parquet", 1L)
    val encrypted = table.metadata.edited(partitionStatistics = Vector(file))
    val plain = encrypted.edited(properties = encrypted.properties - "encryption.key-id")
    assert(StatisticsHealth.of(plain).partitionStatistics.exists(_.isCurrent))
    assert(StatisticsHealth.of(encrypted).partitionStatistics.isEmpty)
    assert(Encryption.readablePartitionStatistics(plain) == Vector(file))
    val read = intercept[UnreadableFile](PartitionStatisticsFiles.read(table.io, byCategory(encrypted), file))
    assert(read.file == file.statisticsPath)
  }

  private def byCategory(metadata: TableMetadata): TableMetadata = {
    val creation = TestTables.byCategory(properties: _*)
    val other = open().create(id.copy(name = "partitioned"), creation).metadata
    metadata.edited(specs = other.specs, defaultSpecId = other.defaultSpecId)
  }

  test("the key of a statistics file is removed with the file") {
    val (table, _) = indexed()
    assert(table.metadata.encryptionKeys.size == 3)
    for (version <- Seq(table, withoutKeyMetadata(table))) {
      val change = version.changeBy(new RemoveStatistics(version.currentSnapshot.get.snapshotId))
      assert(change.change.updates.size == 2)
    }
    // Apache Iceberg removes the statistics file, but not its key.
    val next = append(table, "2")
    val forgotten = at(next, next.metadata.edited(statistics = Vector.empty))
    val expired = forgotten.changeBy(new ExpireSnapshots(ExpireOptions(Some(Long.MaxValue), Some(1))))
    assert(expired.change.updates.count(_.isInstanceOf[MetadataUpdate.RemoveEncryptionKey]) == 2)
    val removed = next.transaction().add(new RemoveStatistics(table.currentSnapshot.get.snapshotId)).commit()
    assert(removed.metadata.statistics.isEmpty && removed.metadata.encryptionKeys.size == 3)
    assert(names(removed) == Set("1", "2"))
  }

  test("a key that encrypts other keys is kept, even if an expired snapshot refers to it") {
    val table = append(append(create(open()), "1"), "2")
    val kek = kekIds(table).head
    val first = table.metadata.snapshots.head
    val damaged = table.metadata.edited(snapshots = first.copy(keyId = Some(kek)) +: table.metadata.snapshots.tail)
    val expired = at(table, damaged).changeBy(new ExpireSnapshots(ExpireOptions(Some(Long.MaxValue), Some(1))))
    assert(expired.change.updates.collect { case MetadataUpdate.RemoveSnapshots(ids) => ids }.size == 1)
    assert(!expired.change.updates.contains(MetadataUpdate.RemoveEncryptionKey(kek)))
  }
}
