package iceberglite.maintenance

import scala.util.Random

import iceberglite.scan.RandomHistory
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table._
import iceberglite.table.action.{ExpireOptions, SetRef}
import iceberglite.tree.{SeenParts, TreeReader}

/** Creates tables with random histories and options to expire their snapshots, and lists the files they need. */
trait ExpiryFixture {

  /**
   * Returns the paths of all files that a version of the table needs. Files that occur only in manifest entries with
   * the status DELETED are not needed.
   */
  protected def needed(table: Table): Set[String] = {
    val tree = new TreeReader(table.io, table.metadata)
    val trees = table.metadata.snapshots.flatMap(tree.files(_).reachable(new SeenParts).metadata)
    val content = table.metadata.snapshots.flatMap(tree.live(_)).map(_.file.path)
    val named = table.metadata.statistics.map(_.statisticsPath) ++
      table.metadata.partitionStatistics.map(_.statisticsPath) ++ table.metadata.metadataLog.map(_.metadataFile)
    (trees ++ content ++ named :+ table.metadataLocation).toSet
  }

  protected def randomHistory(version: FormatVersion, seed: Long): Actions = {
    val random = new Random(seed)
    val actions = new Actions(RandomHistory.creation(version, partitioned = random.nextBoolean()))
    val history = new RandomHistory(actions.empty, random, Vector(FileFormat.Avro))
    history.everyChange()
    (0 until 15).foreach { i =>
      history.step(if (i % 5 == 4) Some("branch") else None)
      if (i == 6) {
        val tagged = actions.table.metadata.currentSnapshotId.get
        actions.commit(new SetRef("tag", SnapshotRef.Tag(tagged)))
      }
    }
    actions
  }

  protected def randomOptions(table: Table, random: Random): ExpireOptions = {
    val metadata = table.metadata
    val heads = metadata.refs.values.map(_.snapshotId).toSet
    val ids = random.shuffle(metadata.snapshots.map(_.snapshotId).filterNot(heads)).take(random.nextInt(4))
    ExpireOptions(
      Some(metadata.snapshots(random.nextInt(metadata.snapshots.size)).timestampMs),
      Some(1 + random.nextInt(3)),
      ids.toSet
    )
  }
}
