package iceberglite.spark.rowlevel

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/**
 * Runs the same random history on two tables: one of version 4, which may begin with an earlier version, and a
 * reference table of version 2 or 3. A history consists of statements, changes of columns and partition specs, writes
 * to branches, rollbacks, expirations and other maintenance. After each step, both tables must have the same rows. In
 * the end, each retained snapshot of each table must have the rows that it had after its commit.
 */
class Version4HistoriesSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions
  private val stepCount = Fuzz.slowRounds(12)

  /**
   * A history.
   *
   * @param from the version with which the table of version 4 begins
   * @param reference the version of the reference table
   * @param partitioning the partitioning of both tables
   */
  private case class Scenario(from: Int, reference: Int, mode: String, partitioning: String, seed: Int) {
    override def toString: String = {
      val begin = if (from == 4) "version 4" else s"version 4 that begins with version $from"
      s"$begin has the rows of version $reference: $mode, $partitioning, history $seed"
    }
  }

  private val evolving = "partition evolution"
  private val fixed = "bucket(3, id), truncate(10, n)"

  /** The histories of the slow tier. `make nightly` runs all histories. */
  private val sample = Set(Scenario(4, 3, "merge-on-read", evolving, 1), Scenario(2, 2, "merge-on-read", fixed, 1))

  private val scenarios = for {
    (from, reference) <- Seq(4 -> 3, 4 -> 2, 3 -> 3, 2 -> 2, 1 -> 2)
    mode <- Seq("merge-on-read", "copy-on-write")
    partitioning <- Seq(evolving, fixed)
    seed <- 1 to 2
    scenario = Scenario(from, reference, mode, partitioning, seed)
    if Sampling.isOff || sample(scenario)
  } yield scenario

  scenarios.foreach(scenario => test(s"after the same random history, $scenario", Slow)(new History(scenario).run()))

  /** A table, and the rows that each of its snapshots had after its commit. */
  private class Subject(val name: String) {
    private val expected = mutable.LinkedHashMap.empty[Long, Seq[String]]

    def currentId: Option[Long] = refs.get("main")

    def refs: Map[String, Long] =
      rows(s"SELECT name, snapshot_id FROM $name.refs").map(r => r.getString(0) -> r.getLong(1)).toMap

    def record(): Unit = refs.values.foreach(id => expected.getOrElseUpdate(id, rowsAt(id)))

    def checkSnapshots(): Unit = {
      val retained = rows(s"SELECT snapshot_id FROM $name.snapshots").map(_.getLong(0)).toSet
      expected.filterKeys(retained).foreach { case (id, before) =>
        assert(rowsAt(id) == before, s"snapshot $id of $name")
      }
    }

    private def rowsAt(id: Long): Seq[String] = sorted(s"SELECT * FROM $name VERSION AS OF $id")
  }

  private class History(scenario: Scenario) {
    private val random = new Random(Fuzz.seed ^ scenario.hashCode)
    private val isEvolved = scenario.partitioning == evolving
    private val statements = new EvolvingStatements(random, isEvolved)
    private val subjects = Seq(scenario.from -> "v4", scenario.reference -> "reference").map { case (version, prefix) =>
      val subject = new Subject(newTable(prefix))
      val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '${modeOf(version)}'").mkString(", ")
      val partitioned = if (isEvolved) "" else s"PARTITIONED BY (${scenario.partitioning})"
      sql(s"CREATE TABLE ${subject.name} (${RandomStatements.Columns}) USING iceberg $partitioned " +
        s"TBLPROPERTIES ('format-version' = '$version', $modes)")
      subject
    }
    private val upgradeAt = if (scenario.from == 4) -1 else stepCount / 3 + random.nextInt(stepCount / 3)
    private var log = Vector.empty[String]
    private var branches = Vector.empty[String]

    /** Heads of `main` of both tables after earlier steps. Both tables still have these snapshots. */
    private var heads = Vector.empty[Seq[Long]]

    /** A table of version 1 cannot have delete files. */
    private def modeOf(version: Int): String = if (version == 1) "copy-on-write" else scenario.mode

    def run(): Unit = {
      Seq.fill(2)(statements.insert).foreach(write(_, None))
      (0 until stepCount).foreach { step =>
        if (step == upgradeAt) upgrade()
        next()
      }
      subjects.foreach(_.checkSnapshots())
    }

    private def upgrade(): Unit = {
      log :+= "upgrade"
      val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '${scenario.mode}'").mkString(", ")
      sql(s"ALTER TABLE ${subjects.head.name} SET TBLPROPERTIES ('format-version' = '4', $modes)")
      check()
    }

    private def next(): Unit = random.nextInt(12) match {
      case 0 => evolve()
      case 1 => createBranch()
      case 2 if branches.nonEmpty => write(statements.next(), Some(branches(random.nextInt(branches.size))))
      case 3 if heads.size > 1 => rollBack()
      case 4 => maintain()
      case _ => write(statements.next(), None)
    }

    private def evolve(): Unit = {
      statements.repartition().foreach(change => each(table => change.replace("%s", table.name)))
      statements.evolution().foreach(change => each(table => change.replace("%s", table.name)))
      check()
    }

    private def createBranch(): Unit = {
      val branch = s"b${branches.size}"
      branches :+= branch
      each(table => s"ALTER TABLE ${table.name} CREATE BRANCH $branch")
      check()
    }

    private def write(statement: String, branch: Option[String]): Unit = {
      each(table => statement.replace("%s", table.name + branch.fold("")(".branch_" + _)))
      check()
      if (branch.isEmpty) heads :+= subjects.flatMap(_.currentId)
    }

    private def rollBack(): Unit = {
      val kept = random.nextInt(heads.size - 1) + 1
      heads = heads.take(kept)
      subjects.zip(heads.last).foreach { case (table, id) =>
        run(s"CALL lite.system.set_current_snapshot('${table.name.stripPrefix("lite.")}', $id)")
      }
      check()
    }

    private def maintain(): Unit = {
      val name = (table: Subject) => table.name.stripPrefix("lite.")
      random.nextInt(4) match {
        case 0 =>
          each(t =>
            s"CALL lite.system.rewrite_data_files(table => '${name(t)}', options => map('rewrite-all', 'true'))"
          )
        case 1 => each(t => s"CALL lite.system.rewrite_manifests(table => '${name(t)}')")
        case 2 => each(t => s"CALL lite.system.rewrite_position_delete_files(table => '${name(t)}')")
        case _ => expire()
      }
      check()
      heads = heads.filter(retained) :+ subjects.flatMap(_.currentId)
    }

    private def expire(): Unit = {
      val keep = 1 + random.nextInt(4)
      each { table =>
        s"CALL lite.system.expire_snapshots(table => '${table.name.stripPrefix("lite.")}', " +
          s"older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => $keep)"
      }
    }

    /** Returns whether both tables still have the snapshots. */
    private def retained(ids: Seq[Long]): Boolean = subjects.zip(ids).forall { case (table, id) =>
      rows(s"SELECT 1 FROM ${table.name}.snapshots WHERE snapshot_id = $id").nonEmpty
    }

    private def each(statement: Subject => String): Unit = subjects.foreach(table => run(statement(table)))

    private def run(statement: String): Unit = {
      log :+= statement
      withClue(log.mkString("", "\n", "\n"))(sql(statement))
      ()
    }

    private def check(): Unit = withClue(log.mkString("", "\n", "\n")) {
      (None +: branches.map(Some(_))).foreach { branch =>
        val Seq(actual, expected) = subjects.map { table =>
          sorted(s"SELECT * FROM ${table.name}${branch.fold("")(".branch_" + _)}")
        }
        assert(actual == expected, branch.mkString)
      }
      subjects.foreach(_.record())
    }
  }
}
