package iceberglite.spark.rowlevel

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/**
 * The numbers of files that a statement added.
 *
 * @param deletes number of entries for delete files; each deletion vector has an entry of its own
 * @param deletePaths number of different paths of delete files; several deletion vectors can be in the same file
 */
final private[iceberglite] case class AddedFiles(data: Int, deletes: Int, deletePaths: Int) {
  def isAtMost(other: AddedFiles): Boolean =
    data <= other.data && deletes <= other.deletes && deletePaths <= other.deletePaths
}

/**
 * Compares the number of files that statements write with the number that Apache Iceberg writes, on tables with the
 * same rows: ten partitions with six files each, or sixty files without partitions.
 */
class StatementFilesSuite extends AnyFunSuite with WriteFixture {
  private val SampleSize = 1

  override lazy val spark: SparkSession = SharedSession.liteExtensions

  /** A session with Apache Iceberg's extensions, which Apache Iceberg needs for tables of version 3. */
  private lazy val oracleSession: SparkSession = SharedSession.spark

  /** Returns the table's name in Apache Iceberg's catalog. A name that starts with this catalog is unchanged. */
  override protected def inApacheIceberg(table: String): String =
    if (table.startsWith("ice")) table else super.inApacheIceberg(table)

  private val source =
    "(SELECT id, CAST(id DIV 100 % 10 AS INT) AS p, -id AS n FROM range(0, 9000, 1, 2) " +
      "WHERE id % 100 = 3 AND (id < 6000 OR id % 200 = 3)) u"

  private val statements = Seq(
    "UPDATE %s SET n = -1 WHERE id % 100 = 5",
    "UPDATE %s SET p = (p + 1) % 10 WHERE id % 100 = 6",
    "UPDATE %s SET n = -2 WHERE id IN (SELECT id * 100 + 8 FROM range(60))",
    "DELETE FROM %s WHERE id % 100 = 7",
    "DELETE FROM %s WHERE id IN (SELECT id * 100 + 9 FROM range(60))",
    s"MERGE INTO %s t USING $source ON t.id = u.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    s"MERGE INTO %s t USING $source ON t.id = u.id AND t.p = u.p WHEN MATCHED AND t.id % 200 = 3 THEN DELETE " +
      "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    s"MERGE INTO %s t USING $source ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = u.n"
  )

  /** Creates a table with sixty files in one commit. */
  private def create(session: SparkSession, t: String, partitioned: Boolean, properties: Map[String, String]): Unit =
    inSession(session) { s =>
      val layout = if (partitioned) "PARTITIONED BY (p)" else ""
      val assignments = properties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")
      s.sql(s"CREATE TABLE $t (id BIGINT, p INT, n BIGINT) USING iceberg $layout TBLPROPERTIES ($assignments)")
      s.range(0, 6000, 1, if (partitioned) 6 else 60).selectExpr("id", "CAST(id DIV 100 % 10 AS INT) AS p", "id AS n")
        .writeTo(t).option("distribution-mode", "none").option("fanout-enabled", "true").append()
    }

  private def snapshotOf(t: String): Long =
    rows(s"SELECT snapshot_id FROM ${inApacheIceberg(t)}.snapshots ORDER BY committed_at DESC LIMIT 1").head.getLong(0)

  /**
   * Runs a statement, and then rolls the table back to an earlier snapshot.
   *
   * @param snapshot the id of the earlier snapshot
   * @return the files that the statement added, and the rows after the statement
   */
  private def outcome(
      session: SparkSession,
      t: String,
      snapshot: Long,
      statement: String
  ): (AddedFiles, Seq[String]) = {
    inSession(session)(_.sql(statement.replace("%s", t)))
    val summary = summaryOf(t)
    def added(key: String) = summary.getOrElse(key, "0").toInt
    val deletePaths =
      rows(s"SELECT count(DISTINCT file_path) FROM ${inApacheIceberg(t)}.delete_files").head.getLong(0).toInt
    val rowsAfter = sorted(s"SELECT * FROM ${inApacheIceberg(t)}")
    val Array(catalog, namespace, name) = t.split('.')
    inSession(session)(_.sql(s"CALL $catalog.system.rollback_to_snapshot('$namespace.$name', $snapshot)"))
    (AddedFiles(added("added-data-files"), added("added-delete-files"), deletePaths), rowsAfter)
  }

  private def withSettings[A](pairs: (String, String)*)(body: => A): A = {
    val sessions = Seq(spark, oracleSession)
    val oldValues = sessions.map(s => pairs.map { case (key, _) => key -> s.conf.getOption(key) })
    sessions.foreach(s => pairs.foreach { case (key, value) => s.conf.set(key, value) })
    try body
    finally sessions.zip(oldValues).foreach { case (s, old) =>
        old.foreach { case (key, value) => value.fold(s.conf.unset(key))(s.conf.set(key, _)) }
      }
  }

  private def properties(version: Int, mode: String, granularity: String): Map[String, String] =
    Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode).toMap ++
      Map("format-version" -> version.toString, "write.delete.granularity" -> granularity)

  private val cases = for {
    partitioned <- Seq(true, false)
    (version, mode, granularity) <- Seq(
      (2, "copy-on-write", "file"),
      (3, "copy-on-write", "file"),
      (2, "merge-on-read", "file"),
      (2, "merge-on-read", "partition"),
      (3, "merge-on-read", "file")
    )
  } yield (partitioned, version, mode, granularity)

  private val sample = new Random(Sampling.seed).shuffle(cases).take(if (Sampling.isOff) cases.size else SampleSize)
  if (!Sampling.isFast) Sampling.recordSkipped(cases.size - sample.size, cases.size, "kinds of tables for file counts")

  for ((partitioned, version, mode, granularity) <- sample) {
    val layout = if (partitioned) "with partitions" else "without partitions"
    val name = s"version $version, $mode, delete granularity $granularity, $layout"
    test(s"statements write no more files than in Apache Iceberg: $name", Slow) {
      val table = newTable()
      val oracle = newTable("oracle").replaceFirst("lite", "ice")
      create(spark, table, partitioned, properties(version, mode, granularity))
      create(oracleSession, oracle, partitioned, properties(version, mode, granularity))
      val (tableSnapshot, oracleSnapshot) = (snapshotOf(table), snapshotOf(oracle))
      for (adaptive <- Seq("true", "false"))
        withSettings(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive, SQLConf.SHUFFLE_PARTITIONS.key -> "7") {
          val tested =
            if (adaptive == "true") statements else statements.filter(_.startsWith("MERGE")) :+ statements.head
          tested.foreach { statement =>
            val (peerFiles, expected) = outcome(oracleSession, oracle, oracleSnapshot, statement)
            val (added, result) = outcome(spark, table, tableSnapshot, statement)
            info(s"adaptive=$adaptive $added, Apache Iceberg $peerFiles: ${statement.take(60)}")
            assert(result == expected, statement)
            assert(added.isAtMost(peerFiles), s"adaptive=$adaptive $statement")
          }
        }
    }
  }

  test("INSERT and CREATE TABLE AS SELECT write no more files than Apache Iceberg", Slow) {
    val layouts = Seq("PARTITIONED BY (p)", "PARTITIONED BY (bucket(4, id))", "")
    for ((adaptive, layout) <- Sampling.pairs(Seq("true", "false"), layouts, "layouts with and without adaptive plans"))
      withSettings(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive, SQLConf.SHUFFLE_PARTITIONS.key -> "7") {
        val select = "SELECT id, CAST(id % 10 AS INT) AS p FROM range(0, 2000, 1, 6)"
        def files(session: SparkSession, t: String): Seq[Int] = inSession(session) { s =>
          s.sql(s"CREATE TABLE $t USING iceberg $layout AS $select")
          val created = summaryOf(t)("added-data-files").toInt
          s.sql(s"INSERT INTO $t $select")
          Seq(created, summaryOf(t)("added-data-files").toInt)
        }
        val liteFiles = files(spark, newTable())
        val peerFiles = files(oracleSession, newTable("oracle").replaceFirst("lite", "ice"))
        val clue = s"$layout adaptive=$adaptive: $liteFiles files, Apache Iceberg $peerFiles files"
        assert(liteFiles.zip(peerFiles).forall { case (a, b) => a <= b }, clue)
      }
  }
}
