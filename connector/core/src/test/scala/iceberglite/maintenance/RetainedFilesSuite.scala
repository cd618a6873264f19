package iceberglite.maintenance

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.maintenance.orphan.{LocalOrphanSearch, OrphanOptions, OrphanRemoval}
import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.{PartitionStatisticsFile, StatisticsFile}
import iceberglite.table._
import iceberglite.table.TestTables.environment
import iceberglite.table.action.{SetPartitionStatistics, SetStatistics}
import iceberglite.{Fuzz, MoreRoundsInSlowTier}

/** Tests which files exist after snapshots have expired and orphan files of all ages were removed. */
@MoreRoundsInSlowTier
class RetainedFilesSuite extends AnyFunSuite with ExpiryFixture {

  /** Patterns of the paths of orphan files, which look like the paths of files that a table uses. */
  private val orphanNames = Vector(
    "data/%d.parquet",
    "data/category=a/%d.avro",
    "data/%d.puffin",
    "metadata/snap-%d.avro",
    "metadata/%d-m0.avro",
    "metadata/%d.stats",
    "data/other/deep/%d"
  )

  /** Files that are kept although no metadata refers to them: hidden files, and the hint of the current version. */
  private val documented = Set("mem://t/data/_hidden", "mem://t/data/.part.crc", "mem://t/metadata/version-hint.text")

  private def add(actions: Actions, path: String): String = {
    actions.store.replace(path, Array[Byte](1))
    path
  }

  /** Registers statistics files for some snapshots. */
  private def addStatistics(actions: Actions, random: Random): Unit =
    actions.table.metadata.snapshots.filter(_ => random.nextInt(3) == 0).foreach { snapshot =>
      val id = snapshot.snapshotId
      val sketches = add(actions, s"mem://t/metadata/sketches-$id.stats")
      val partitions = add(actions, s"mem://t/metadata/partitions-$id.parquet")
      actions.commit(
        new SetStatistics(StatisticsFile(id, sketches, 1, 1, None, Vector.empty)),
        new SetPartitionStatistics(PartitionStatisticsFile(id, partitions, 1))
      )
    }

  private def addOrphans(actions: Actions, random: Random): Unit =
    for (name <- orphanNames; i <- 0 until random.nextInt(3)) add(actions, s"mem://t/${name.format(i)}")

  for (version <- FormatVersion.all)
    test(s"after expiration and orphan removal, exactly the needed files exist, version ${version.number}") {
      for (round <- 0 until Fuzz.slowRounds(4, 1)) {
        val seed = Fuzz.seed + 1000L * version.number + round
        val random = new Random(seed)
        val actions = randomHistory(version, seed)
        addStatistics(actions, random)
        addOrphans(actions, random)
        documented.foreach(add(actions, _))
        val options = randomOptions(actions.table, random).copy(cleanMetadata = random.nextBoolean())
        val (expired, _) =
          new SnapshotExpiry(actions.table, options, new LocalUnreachableFiles, Map.empty, environment).run()
        addOrphans(actions, random)
        val listing = OrphanRemoval.directory(None, byPrefix = random.nextBoolean()) _
        new OrphanRemoval(expired, listing, new LocalOrphanSearch, OrphanOptions(Long.MaxValue)).run(_ => ())
        assert(actions.store.paths == needed(actions.table) ++ documented, s"seed $seed")
      }
    }
}
