package iceberglite.spark.procedure

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.{Millis, Seconds, Span}

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.maintenance.expire.{LocalUnreachableFiles, UnreachableFile}
import iceberglite.spark.{IcebergTable, SharedSession}
import iceberglite.spark.maintenance.SessionUnreachableFiles
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.table.action.ExpireOptions
import iceberglite.tree.{SeenParts, TreeReader}

/** Tests `CALL expire_snapshots`, and compares the results with Apache Iceberg. */
@MoreRoundsInSlowTier
class ExpireSnapshotsSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds), Span(20, Millis))

  /** Creates a table, and changes it by random statements of both connectors, on `main` and on a branch. */
  private def changed(version: Int, random: Random): String = {
    val mode = if (version == 1 || random.nextBoolean()) "copy-on-write" else "merge-on-read"
    val t = filled(version, mode, "commit.manifest.min-count-to-merge" -> "3")
    val names = Seq(t, inApacheIceberg(t))
    sql(s"ALTER TABLE $t CREATE TAG first")
    (0 until 8).foreach { i =>
      // In a session with the extensions of both connectors, a rule of Apache Iceberg fails for UPDATE on tables of
      // iceberg-lite. Therefore Apache Iceberg runs UPDATE, and also DELETE.
      val Seq(name, peerName) = Seq(names(random.nextInt(2)), inApacheIceberg(t))
      names.foreach(n => sql(s"REFRESH TABLE $n"))
      random.nextInt(5) match {
        case 0 | 1 =>
          sql(s"INSERT INTO $name SELECT id, $i FROM range(${1000 * (i + 1)}, ${1000 * (i + 1) + 50}, 1, 1)")
        case 2 => sql(s"DELETE FROM $peerName WHERE id % 50 = $i")
        case 3 => sql(s"UPDATE $peerName SET n = -$i WHERE id % 100 = ${2 * i}")
        case 4 => sql(s"INSERT OVERWRITE $name SELECT id, $i FROM range(0, 60, 1, 1)")
      }
      if (i == 4) {
        sql(s"REFRESH TABLE $t")
        sql(s"ALTER TABLE $t CREATE BRANCH work")
        sql(s"INSERT INTO $t.branch_work VALUES (-1, -1)")
      }
    }
    sql(s"REFRESH TABLE $t")
    t
  }

  private def call(table: String, arguments: String): Row = {
    val Array(catalog, rest) = table.split("\\.", 2)
    val Seq(row) = rows(s"CALL $catalog.system.expire_snapshots(table => '$rest', $arguments)")
    row
  }

  private def counts(row: Row): Seq[Long] = (0 until 6).map(row.getLong)

  for (version <- Seq(1, 2, 3))
    test(
      s"a dry run returns the counts of Apache Iceberg's expiration, version $version",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
    ) {
      (0 until Fuzz.slowRounds(4)).foreach { round =>
        val seed = Fuzz.seed + 10 * version + round
        val random = new Random(seed)
        val t = changed(version, random)
        val times = rows(s"SELECT committed_at FROM $t.snapshots ORDER BY 1").map(_.getTimestamp(0))
        val time = times(1 + random.nextInt(times.size - 1))
        val arguments = s"older_than => TIMESTAMP '$time', retain_last => ${1 + random.nextInt(3)}"
        val planned = call(t, s"$arguments, dry_run => true")
        val rowsBefore = rows(s"SELECT * FROM $t ORDER BY id")
        val clue = s"seed $seed, $arguments"
        assert(counts(planned) == counts(call(inApacheIceberg(t), arguments)), clue)
        sql(s"REFRESH TABLE $t")
        assert(rows(s"SELECT * FROM $t ORDER BY id") == rowsBefore, clue)

      }
    }

  test("after an expiration, Apache Iceberg reads all references and finds the same snapshots", Slow) {
    for (version <- Seq(1, 2, 3)) {
      val t = changed(version, new Random(Fuzz.seed + version))
      val references = Seq("", ".branch_work", ".tag_first")
      def contents(table: String) = references.map(r => rows(s"SELECT * FROM $table$r ORDER BY id"))
      val before = contents(t)
      val result = call(t, "older_than => current_timestamp(), retain_last => 1, clean_expired_metadata => true")
      assert(result.getLong(4) > 0 && result.getSeq[Row](6).isEmpty)
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(contents(t) == before && contents(inApacheIceberg(t)) == before)
      val ids = rows(s"SELECT snapshot_id FROM ${inApacheIceberg(t)}.snapshots ORDER BY 1")
      assert(ids == rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY 1"))
      assert(ids == rows(s"SELECT DISTINCT snapshot_id FROM $t.refs ORDER BY 1"))
    }
  }

  test("a Spark job finds the same unreachable files as the driver", Slow) {
    val t = changed(2, new Random(Fuzz.seed))
    val table = live(t)
    val tree = new TreeReader(table.io, table.metadata)
    val seen = new SeenParts
    val (old, current) = table.metadata.snapshots.partition(s => !table.currentSnapshot.contains(s))
    val retained = current.flatMap(tree.files(_).reachable(seen).parts)
    val expired = old.flatMap(tree.files(_).reachable(seen).parts)
    def sorted(files: Iterator[UnreachableFile]) = files.toVector.sortBy(_.path)
    val local = sorted(new LocalUnreachableFiles().find(table.io, expired, retained))
    val cluster = new SessionUnreachableFiles(spark, shouldUseCluster = (_, _) => true)
    assert(sorted(cluster.find(table.io, expired, retained)) == local && local.nonEmpty)
  }

  test("the expiration of a small table starts no Spark job") {
    val t = filled(2, "copy-on-write")
    sql(s"DELETE FROM $t WHERE id < 10")
    val (context, group) = (spark.sparkContext, s"expiration of $t")
    context.setJobGroup(group, group)
    try {
      val options = ExpireOptions(olderThanMs = Some(System.currentTimeMillis), retainLast = Some(1))
      assert(IcebergTable.forName(spark, t).expireSnapshots(options).deleted.manifestLists == 1)
      // Spark reports jobs in order. Therefore the jobs of the expiration are known when this job is known.
      context.parallelize(Seq(1)).count()
    } finally context.clearJobGroup()
    def jobs = context.statusTracker.getJobIdsForGroup(group).toSeq
    eventually(assert(jobs.nonEmpty))
    assert(jobs.size == 1)
  }

  test("arguments that cannot be applied are rejected, and change nothing") {
    val t = filled(2, "copy-on-write")
    sql(s"DELETE FROM $t WHERE id < 10")
    val id = rows(s"SELECT snapshot_id FROM $t.refs").head.getLong(0)
    for (
      (arguments, message) <- Seq(
        "retain_last => 0" -> "retain_last",
        "max_concurrent_deletes => 0" -> "max_concurrent_deletes",
        s"snapshot_ids => array($id)" -> "the branch main refers to it",
        "snapshot_ids => array(42L)" -> "Snapshot not found: 42",
        "snapshot_ids => array(NULL)" -> "NULL",
        "older_then => current_timestamp()" -> "older_than"
      )
    ) {
      val error = intercept[AnalysisException](call(t, arguments))
      assert(messages(error).contains(message), messages(error))
    }
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('gc.enabled' = 'false')")
    val error = intercept[AnalysisException](call(t, "older_than => current_timestamp()"))
    assert(messages(error).contains("gc.enabled"))
    sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('gc.enabled')")
    assert(count(s"$t.snapshots") == 2)
  }
}
