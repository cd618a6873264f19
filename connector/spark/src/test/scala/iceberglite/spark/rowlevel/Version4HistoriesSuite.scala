package iceberglite.spark.rowlevel

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/**
 * Runs the same random history on two tables: one of version 4, which may begin with an earlier version, and a
 * reference table of version 2 or 3. A history consists of statements, upserts with equality deletes, changes of
 * columns and partition specs, writes to branches, a rollback, an expiration and other maintenance. In half of the
 * histories, the limits of roots are so low that almost every commit moves files to leaves.
 *
 * After each step, both tables must have the same rows, and the new trees must be valid. In the end, each retained
 * snapshot of each table must have the rows that it had after its commit, Apache Iceberg must read the same rows from
 * the reference table, and the changes of each commit must be the difference between the rows before and after it.
 */
class Version4HistoriesSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions
  private val statementCount = Fuzz.slowRounds(8)

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

  /** The columns that the tables have in all of their snapshots. */
  private val Values = Seq("id", "p", "n", "to_json(s)", "to_json(l)")

  private val SmallLimits = Seq(
    "write.v4.single-commit-max-files" -> "1",
    "write.v4.root.max-data-files" -> "2",
    "write.v4.root.max-delete-entries" -> "2",
    "write.v4.root.max-vector-bytes" -> "1",
    "commit.manifest.target-size-bytes" -> "3000",
    "commit.manifest.min-count-to-merge" -> "4"
  )

  private val evolving = "partition evolution"
  private val fixed = "bucket(3, id), truncate(10, n)"

  /** The history of the fast tier, which has only one step after the upgrade there. */
  private val fast = Scenario(3, 3, "merge-on-read", fixed, 1)

  /** The histories of the slow tier. `make nightly` runs all histories. */
  private val sample =
    Set(fast, Scenario(4, 3, "merge-on-read", evolving, 1), Scenario(2, 2, "merge-on-read", fixed, 1))

  private val scenarios = for {
    (from, reference) <- Seq(4 -> 3, 4 -> 2, 3 -> 3, 2 -> 2, 1 -> 2)
    mode <- Seq("merge-on-read", "copy-on-write")
    partitioning <- Seq(evolving, fixed)
    seed <- 1 to 2
    scenario = Scenario(from, reference, mode, partitioning, seed)
    if Sampling.isOff || sample(scenario)
  } yield scenario

  scenarios.foreach { scenario =>
    val tag = if (scenario == fast) MoreRoundsInSlowTierTag else Slow
    test(s"after the same random history, $scenario", tag)(new History(scenario).run())
  }

  /** A table, and the rows that each of its snapshots had after its commit. */
  private class Subject(val name: String, isReference: Boolean) {
    private val expected = mutable.LinkedHashMap.empty[Long, Seq[String]]

    /** The name of the table without its catalog. */
    def shortName: String = name.stripPrefix("lite.")

    def currentId: Option[Long] = refs.get("main")

    def refs: Map[String, Long] =
      rows(s"SELECT name, snapshot_id FROM $name.refs").map(r => r.getString(0) -> r.getLong(1)).toMap

    def record(): Unit = refs.values.filterNot(expected.contains).foreach { id =>
      expected(id) = rowsAt(name, id)
      checkTree(id)
    }

    /** Checks the metadata tree of a snapshot that is a root. */
    private def checkTree(id: Long): Unit =
      if (rows(s"SELECT 1 FROM $name.snapshots WHERE snapshot_id = $id AND manifest_list LIKE '%.parquet'").nonEmpty) {
        val violations = rows(s"CALL lite.system.validate_tree('$shortName', $id)")
        assert(violations.isEmpty, s"snapshot $id of $name")
      }

    /** Checks the rows of each retained snapshot, also as Apache Iceberg reads them from the reference table. */
    def checkSnapshots(): Unit = {
      val readers = if (isReference) Seq(name, inApacheIceberg(name)) else Seq(name)
      if (isReference) sql(s"REFRESH TABLE ${inApacheIceberg(name)}")
      val retained = rows(s"SELECT snapshot_id FROM $name.snapshots").map(_.getLong(0)).toSet
      assert((retained -- expected.keySet).isEmpty, s"each retained snapshot of $name must be compared")
      for ((id, before) <- expected if retained(id); reader <- readers)
        assert(rowsAt(reader, id) == before, s"snapshot $id of $reader")
    }

    /**
     * Checks that the rows before each commit to `main`, without the deleted and with the inserted rows of the table
     * `changes`, are the rows after the commit, and that an incremental read returns the inserted rows of all appends.
     */
    def checkChanges(): Unit = {
      val commits = rows(s"SELECT snapshot_id, parent_id, operation FROM $name.snapshots")
        .map(row => row.getLong(0) -> ((if (row.isNullAt(1)) None else Some(row.getLong(1)), row.getString(2)))).toMap
      val main = Iterator.iterate(currentId)(_.flatMap(commits(_)._1).filter(commits.contains)).takeWhile(_.isDefined)
        .collect { case Some(id) => id }.toVector.reverse
      if (main.size > 1) {
        def sinceFirst(table: String) = spark.read.option("start-snapshot-id", main.head).table(table)
        val changes = sinceFirst(s"$name.changes").selectExpr("_commit_snapshot_id" +: "_change_type" +: Values: _*)
          .collect().toSeq.groupBy(row => (row.getLong(0), row.getString(1))).map { case (k, all) =>
            k -> counts(all, 2)
          }
        def changed(id: Long, kind: String) = changes.getOrElse((id, kind), Map.empty[String, Int])
        def stateAt(id: Long) = counts(rows(s"SELECT ${Values.mkString(", ")} FROM $name VERSION AS OF $id"), 0)
        main.zip(main.drop(1)).foreach { case (before, after) =>
          val remaining = sum(stateAt(before), changed(after, "DELETE"), -1)
          assert(sum(remaining, changed(after, "INSERT"), 1) == stateAt(after), s"the changes of $after in $name")
        }
        val appended = main.tail.filter(commits(_)._2 == "append").map(changed(_, "INSERT"))
        assert(
          counts(sinceFirst(name).selectExpr(Values: _*).collect().toSeq, 0) ==
            appended.foldLeft(Map.empty[String, Int])(sum(_, _, 1)),
          s"the appended rows of $name"
        )
      }
    }

    private def counts(rows: Seq[Row], from: Int): Map[String, Int] =
      rows.map(_.toSeq.drop(from).mkString("|")).groupBy(identity).map { case (row, same) => row -> same.size }

    private def sum(a: Map[String, Int], b: Map[String, Int], sign: Int): Map[String, Int] =
      (a.keySet ++ b.keySet).iterator.map(k => k -> (a.getOrElse(k, 0) + sign * b.getOrElse(k, 0))).filter(_._2 != 0)
        .toMap

    private def rowsAt(table: String, id: Long): Seq[String] = sorted(s"SELECT * FROM $table VERSION AS OF $id")
  }

  private class History(scenario: Scenario) {
    private val random = new Random(Fuzz.seed ^ scenario.hashCode)
    private val isEvolved = scenario.partitioning == evolving
    private val statements = new EvolvingStatements(random, isEvolved)
    private val subjects = Seq(scenario.from -> "v4", scenario.reference -> "reference").map { case (version, prefix) =>
      val subject = new Subject(newTable(prefix), isReference = prefix == "reference")
      val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '${modeOf(version)}'").mkString(", ")
      val partitioned = if (isEvolved) "" else s"PARTITIONED BY (${scenario.partitioning})"
      sql(s"CREATE TABLE ${subject.name} (${RandomStatements.Columns}) USING iceberg $partitioned " +
        s"TBLPROPERTIES ('format-version' = '$version', $modes$limits)")
      subject
    }
    private def limits: String =
      if (scenario.seed % 2 == 0) "" else SmallLimits.map { case (key, value) => s", '$key' = '$value'" }.mkString

    private var log = Vector.empty[String]
    private var branches = Vector.empty[String]

    /** Heads of `main` of both tables after earlier steps. Both tables still have these snapshots. */
    private var heads = Vector.empty[Seq[Long]]

    /** A table of version 1 cannot have delete files. */
    private def modeOf(version: Int): String = if (version == 1) "copy-on-write" else scenario.mode

    def run(): Unit = {
      Seq.fill(if (Sampling.isFast) 1 else 2)(statements.insert).foreach(write(_, None))
      steps.foreach(_.apply())
      withClue(log.mkString("", "\n", "\n"))(subjects.foreach { table =>
        table.checkSnapshots()
        table.checkChanges()
      })
    }

    /** Returns the steps in random order: one of each kind, and additional statements. The fast tier has fewer. */
    private def steps: Seq[() => Unit] = {
      val withDeletes = Seq(() => upsert()) ++ (if (isEvolved) Seq(() => dropPartitionColumn()) else Nil)
      val others = Seq(() => evolve(), () => branch(), () => rollBack(), () => rewrite(), () => expire()) ++
        Seq.fill(statementCount)(() => randomStatement())
      val (early, late) = if (scenario.from == 1) (others, withDeletes) else (others ++ withDeletes, Nil)
      val shuffled = random.shuffle(early).take(if (Sampling.isFast) 1 else early.size)
      if (scenario.from == 4) shuffled
      else {
        val (before, after) = shuffled.splitAt(random.nextInt(shuffled.size))
        (before :+ (() => upgrade())) ++ random.shuffle(after ++ late)
      }
    }

    private def upgrade(): Unit = {
      log :+= "upgrade"
      val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '${scenario.mode}'").mkString(", ")
      sql(s"ALTER TABLE ${subjects.head.name} SET TBLPROPERTIES ('format-version' = '4', $modes)")
      check()
    }

    private def randomStatement(): Unit = {
      val branch =
        if (branches.isEmpty || random.nextInt(4) > 0) None else Some(branches(random.nextInt(branches.size)))
      write(statements.next(), branch)
    }

    private def evolve(): Unit = {
      statements.repartition().foreach(change => each(table => change.replace("%s", table.name)))
      statements.evolution().foreach(change => each(table => change.replace("%s", table.name)))
      check()
    }

    /** Creates a branch and writes to it. */
    private def branch(): Unit = {
      val name = s"b${branches.size}"
      branches :+= name
      each(table => s"ALTER TABLE ${table.name} CREATE BRANCH $name")
      write(statements.insert, Some(name))
      write(statements.next(), Some(name))
    }

    private def write(statement: String, branch: Option[String]): Unit = {
      each(table => statement.replace("%s", table.name + branch.fold("")(".branch_" + _)))
      check()
      if (branch.isEmpty) heads :+= subjects.flatMap(_.currentId)
    }

    /** Replaces rows by their ids, with equality deletes. */
    private def upsert(): Unit = {
      val query = statements.upserted
      log :+= s"upsert $query"
      withClue(log.mkString("", "\n", "\n"))(
        subjects.foreach(table => sql(query).writeTo(table.name).option("upsert-keys", "id").append())
      )
      check()
      heads :+= subjects.flatMap(_.currentId)
    }

    /** Adds a column, writes rows that are partitioned by it, and drops it. */
    private def dropPartitionColumn(): Unit = {
      def alter(change: String): Unit = each(table => s"ALTER TABLE ${table.name} $change")
      Seq("ADD COLUMN z int", "ADD PARTITION FIELD z").foreach(alter)
      each { table =>
        s"INSERT INTO ${table.name} (id, p, z) SELECT id, 'z', IF(id % 3 = 0, NULL, id % 3) FROM range(2000, 2009)"
      }
      Seq("DROP PARTITION FIELD z", "DROP COLUMN z").foreach(alter)
      check()
      heads :+= subjects.flatMap(_.currentId)
    }

    private def rollBack(): Unit = {
      if (heads.size < 2) write(statements.next(), None)
      val kept = random.nextInt(heads.size - 1) + 1
      heads = heads.take(kept)
      subjects.zip(heads.last).foreach { case (table, id) =>
        run(s"CALL lite.system.set_current_snapshot('${table.shortName}', $id)")
      }
      check()
    }

    private def rewrite(): Unit = {
      val (procedure, options) = random.nextInt(3) match {
        case 0 => ("rewrite_data_files", ", options => map('rewrite-all', 'true')")
        case 1 => ("rewrite_manifests", "")
        case _ => ("rewrite_position_delete_files", "")
      }
      each(table => s"CALL lite.system.$procedure(table => '${table.shortName}'$options)")
      check()
      heads :+= subjects.flatMap(_.currentId)
    }

    private def expire(): Unit = {
      val keep = 1 + random.nextInt(4)
      each { table =>
        s"CALL lite.system.expire_snapshots(table => '${table.shortName}', " +
          s"older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => $keep)"
      }
      check()
      heads = heads.filter(retained)
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
