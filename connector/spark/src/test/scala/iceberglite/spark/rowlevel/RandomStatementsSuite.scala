package iceberglite.spark.rowlevel

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.TableChecks

/**
 * The row lineage and the values of a row.
 *
 * @param updated `_last_updated_sequence_number`
 * @param values all columns of the table as text
 */
final private[iceberglite] case class Lineage(rowId: Long, updated: Long, values: String)

/**
 * Random histories of statements, run on an iceberg-lite table and by Apache Iceberg on its own table. After each
 * statement the rows are equal, and Apache Iceberg reads the same rows from our table. In the end the metadata matches
 * the contents of the files.
 *
 * Layouts and formats alternate, and all are tested if `ICEBERG_LITE_ALL` is set in the environment; the format of
 * delete files is random.
 */
@MoreRounds
class RandomStatementsSuite extends AnyFunSuite with TableChecks {
  override lazy val spark: SparkSession = SharedSession.alone
  private val steps = Fuzz.slowRounds(5, least = 2)

  private val ids = "SELECT _row_id, _last_updated_sequence_number, to_json(struct(id, p, n, s, l)), id FROM "

  /** Returns the lineage of the rows with a unique id, by this id. */
  private def lineage(table: String): Map[Long, Lineage] =
    rows(ids + table).groupBy(_.getLong(3)).collect { case (id, Seq(row)) =>
      id -> Lineage(row.getLong(0), row.getLong(1), row.getString(2))
    }

  /**
   * Checks the rules of row lineage (spec, version 3: "Row Lineage"): a row keeps its id, and its sequence number is
   * that of the last commit that changed the row.
   */
  private def checkLineage(table: String, before: Map[Long, Lineage], statement: String): Unit = {
    val all = rows(ids + table)
    assert(all.map(_.getLong(0)).distinct.size == all.size, statement)
    assert(sorted(ids + table) == sorted(ids + peer(table)), s"as Apache Iceberg reads it: $statement")
    val now = rows(s"SELECT max(sequence_number) FROM $table.entries").head.getLong(0)
    // With such a condition, an unmatched row can be deleted and another be inserted with its id.
    val isSame = !statement.contains("t.id = u.id AND")
    if (isSame) lineage(table).foreach { case (id, after) =>
      before.get(id).foreach { old =>
        assert(after.rowId == old.rowId, s"$id: $statement")
        if (after.values != old.values) assert(after.updated == now, s"$id: $statement")
        else assert(after.updated == old.updated || after.updated == now && !statement.startsWith("DELETE"), statement)
      }
    }
  }

  private def create(name: String, version: Int, mode: String, partitioned: String, more: String = ""): Unit = {
    val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
    sql(s"CREATE TABLE $name (${RandomStatements.Columns}) USING iceberg $partitioned TBLPROPERTIES " +
      s"('format-version' = '$version', $modes$more)")
    ()
  }

  private def run(ours: String, oracle: String, version: Int, statement: String): Unit = {
    val before = if (version == 3) lineage(ours) else Map.empty[Long, Lineage]
    sql(statement.replace("%s", oracle))
    sql(statement.replace("%s", ours))
    val expected = sorted(s"SELECT * FROM $oracle")
    assert(sorted(s"SELECT * FROM $ours") == expected, statement)
    sql(s"REFRESH TABLE ${peer(ours)}")
    assert(sorted(s"SELECT * FROM ${peer(ours)}") == expected, s"as Apache Iceberg reads it: $statement")
    if (version == 3) checkLineage(ours, before, statement)
  }

  private val formats = Vector("parquet", "orc", "avro")
  private val layouts =
    Vector("and evolved", "", "PARTITIONED BY (p)", "PARTITIONED BY (bucket(3, id), truncate(10, n))")
  private val kinds =
    Vector(1 -> "copy-on-write", 2 -> "copy-on-write", 3 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read")

  for {
    ((version, mode), k) <- kinds.zipWithIndex
    (layout, l) <- layouts.zipWithIndex
    (format, f) <- formats.zipWithIndex
    if Sampling.isOff || (f == (k + l) % 3 && (l == 0 || l == 1 + k % 3))
  } test(
    s"version $version by $mode in $format ${layout.toLowerCase}".trim,
    Sampling.slowUnless(k == 4 && l == 0): _*
  ) {
    val random = new Random(Fuzz.seed ^ (version, mode, layout, format).hashCode)
    val isEvolved = layout == "and evolved"
    val statements = new EvolvingStatements(random, isEvolved)
    val ours = newTable()
    val oracle = peer(newTable("oracle"))
    val partitioned = if (isEvolved) "" else layout
    val deletes = formats(random.nextInt(formats.size))
    val written = s", 'write.format.default' = '$format', 'write.delete.format.default' = '$deletes'"
    create(ours, version, mode, partitioned, written)
    create(oracle, math.min(version, 2), "copy-on-write", partitioned)
    Seq.fill(2)(statements.insert).foreach(run(ours, oracle, version, _))
    (0 until steps).foreach { _ =>
      statements.repartition().foreach(change => sql(change.replace("%s", ours)))
      for (change <- statements.evolution(); table <- Seq(ours, oracle)) sql(change.replace("%s", table))
      run(ours, oracle, version, statements.next())
    }
    checkMetadata(ours)
  }
}
