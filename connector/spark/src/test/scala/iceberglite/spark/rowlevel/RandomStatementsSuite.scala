package iceberglite.spark.rowlevel

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.TableChecks

/**
 * The row lineage and the values of a row.
 *
 * @param rowId value of `_row_id`
 * @param lastUpdated value of `_last_updated_sequence_number`
 * @param values all columns of the table as text
 */
final private[iceberglite] case class Lineage(rowId: Long, lastUpdated: Long, values: String)

/**
 * Runs random sequences of statements with iceberg-lite on one table, and with Apache Iceberg on another table. After
 * each statement, both tables must have the same rows, and Apache Iceberg must read the same rows from the table of
 * iceberg-lite. At the end, the metadata must match the contents of the files.
 *
 * Only some combinations of partitioning and file format are tested, unless `ICEBERG_LITE_ALL` is set in the
 * environment. The format of delete files is random.
 */
@MoreRoundsInSlowTier
class RandomStatementsSuite extends AnyFunSuite with TableChecks {
  override lazy val spark: SparkSession = SharedSession.liteExtensions
  private val statementCount = Fuzz.slowRounds(5, least = 2)

  private val lineageQuery = "SELECT _row_id, _last_updated_sequence_number, to_json(struct(id, p, n, s, l)), id FROM "

  /** Returns the lineage of the rows by id. Ids that occur in several rows are left out. */
  private def lineage(table: String): Map[Long, Lineage] =
    rows(lineageQuery + table).groupBy(_.getLong(3)).collect { case (id, Seq(row)) =>
      id -> Lineage(row.getLong(0), row.getLong(1), row.getString(2))
    }

  /**
   * Checks the rules of row lineage in version 3 (spec: "Row Lineage"): a row keeps its row id, and its
   * `_last_updated_sequence_number` is the sequence number of the last commit that changed the row.
   */
  private def checkLineage(table: String, before: Map[Long, Lineage], statement: String): Unit = {
    val lineageRows = rows(lineageQuery + table)
    assert(lineageRows.map(_.getLong(0)).distinct.size == lineageRows.size, statement)
    assert(
      sorted(lineageQuery + table) == sorted(lineageQuery + inApacheIceberg(table)),
      s"read by Apache Iceberg: $statement"
    )
    val lastSequenceNumber = rows(s"SELECT max(sequence_number) FROM $table.entries").head.getLong(0)
    // If a MERGE has a further condition besides the equality of ids, it can delete a row because no source row matches
    // it, and insert the source row with the same id as a new row.
    val keepsRows = !statement.contains("t.id = u.id AND")
    if (keepsRows) lineage(table).foreach { case (id, after) =>
      before.get(id).foreach { old =>
        assert(after.rowId == old.rowId, s"$id: $statement")
        if (after.values != old.values) assert(after.lastUpdated == lastSequenceNumber, s"$id: $statement")
        else {
          val isRewritten = after.lastUpdated == lastSequenceNumber && !statement.startsWith("DELETE")
          assert(after.lastUpdated == old.lastUpdated || isRewritten, statement)
        }
      }
    }
  }

  private def create(name: String, version: Int, mode: String, partitioned: String, properties: String = ""): Unit = {
    val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
    sql(s"CREATE TABLE $name (${RandomStatements.Columns}) USING iceberg $partitioned TBLPROPERTIES " +
      s"('format-version' = '$version', $modes$properties)")
    ()
  }

  private def run(table: String, oracle: String, version: Int, statement: String): Unit = {
    val before = if (version == 3) lineage(table) else Map.empty[Long, Lineage]
    sql(statement.replace("%s", oracle))
    sql(statement.replace("%s", table))
    val expected = sorted(s"SELECT * FROM $oracle")
    assert(sorted(s"SELECT * FROM $table") == expected, statement)
    sql(s"REFRESH TABLE ${inApacheIceberg(table)}")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(table)}") == expected, s"read by Apache Iceberg: $statement")
    if (version == 3) checkLineage(table, before, statement)
  }

  private val formats = Vector("parquet", "orc", "avro")
  private val partitionings =
    Vector("and evolved", "", "PARTITIONED BY (p)", "PARTITIONED BY (bucket(3, id), truncate(10, n))")
  private val versionsAndModes =
    Vector(1 -> "copy-on-write", 2 -> "copy-on-write", 3 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read")

  for {
    ((version, mode), k) <- versionsAndModes.zipWithIndex
    (partitioning, l) <- partitionings.zipWithIndex
    (format, f) <- formats.zipWithIndex
    if Sampling.isOff || (f == (k + l) % 3 && (l == 0 || l == 1 + k % 3))
  } test(
    (s"random statements give the rows of Apache Iceberg: version $version, $mode, in $format " +
      partitioning.replace("and evolved", "with evolution").toLowerCase).trim,
    Sampling.slowInSomeRunsUnless(k == 4 && l == 0): _*
  ) {
    val random = new Random(Fuzz.seed ^ (version, mode, partitioning, format).hashCode)
    val isEvolved = partitioning == "and evolved"
    val statements = new EvolvingStatements(random, isEvolved)
    val table = newTable()
    val oracle = inApacheIceberg(newTable("oracle"))
    val partitioned = if (isEvolved) "" else partitioning
    val deleteFormat = formats(random.nextInt(formats.size))
    val formatProperties = s", 'write.format.default' = '$format', 'write.delete.format.default' = '$deleteFormat'"
    create(table, version, mode, partitioned, formatProperties)
    create(oracle, math.min(version, 2), "copy-on-write", partitioned)
    Seq.fill(if (Sampling.isFast) 1 else 2)(statements.insert).foreach(run(table, oracle, version, _))
    (0 until statementCount).foreach { _ =>
      statements.repartition().foreach(change => sql(change.replace("%s", table)))
      for (change <- statements.evolution(); t <- Seq(table, oracle)) sql(change.replace("%s", t))
      run(table, oracle, version, statements.next())
    }
    checkMetadata(table)
  }
}
