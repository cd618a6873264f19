package iceberglite.spark.stream.source

import scala.util.Random

import org.apache.spark.sql.SparkSession

/**
 * Makes random changes of every kind, one after the other, to a table with the columns [[RandomChanges.Columns]]. Each
 * id occurs in at most one row of the table.
 *
 * @param t the name of the table, in the catalog `lite`
 */
final private[source] class RandomChanges(spark: SparkSession, t: String, random: Random) {
  private var nextId = 0

  /** The columns in the order of the table, with a SQL expression for the value in a new row. */
  private var columns: Vector[(String, String)] =
    Vector("id" -> "id", "p" -> "IF(id % 5 = 0, NULL, concat('p', id % 3))", "n" -> "CAST(id % 20 AS int)")

  /** Makes a random change, which may have no effect. @return the change, for messages */
  def step(): String = random.nextInt(12) match {
    case 0 | 1 => insert()
    case 2 | 3 => run(s"DELETE FROM $t WHERE $condition")
    case 4 | 5 => run(s"UPDATE $t SET $assignment WHERE $condition")
    case 6 | 7 => merge()
    case 8 => upsert()
    case 9 => addColumn()
    case 10 => run(s"CALL lite.system.rewrite_manifests('$inCatalog')")
    case _ => compact()
  }

  /** Makes each change at least once, independent of the seed. */
  def everyChange(): Unit = {
    insert()
    run(s"UPDATE $t SET $assignment WHERE id % 3 = 1")
    addColumn()
    merge()
    upsert()
    compact()
    run(s"DELETE FROM $t WHERE id % 4 = 0")
    ()
  }

  private def inCatalog: String = t.stripPrefix("lite.")

  private def run(statement: String): String = {
    spark.sql(statement).collect()
    statement
  }

  private def pick(choices: String*): String = choices(random.nextInt(choices.size))

  private def values: String = columns.map { case (name, value) => s"$value AS $name" }.mkString(", ")

  private def insert(): String = {
    val from = nextId
    nextId += 3 + random.nextInt(10)
    run(s"INSERT INTO $t SELECT $values FROM range($from, $nextId, 1, ${1 + random.nextInt(2)})")
  }

  /** Returns a query for rows with existing and new ids. */
  private def someRows(): String = {
    val from = random.nextInt(nextId + 1)
    val until = from + 1 + random.nextInt(12)
    nextId = math.max(nextId, until)
    s"SELECT $values FROM range($from, $until, ${1 + random.nextInt(3)})"
  }

  private def merge(): String = {
    val matched = pick(
      "WHEN MATCHED AND t.n % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET t.n = u.n + 100",
      "WHEN MATCHED THEN UPDATE SET *",
      "WHEN MATCHED THEN DELETE"
    )
    val others = pick("", "WHEN NOT MATCHED BY SOURCE AND t.n % 5 = 0 THEN UPDATE SET t.p = 'other'")
    run(s"MERGE INTO $t t USING (${someRows()}) u ON t.id = u.id $matched WHEN NOT MATCHED THEN INSERT * $others")
  }

  /** Writes rows that replace those with the same ids. In a table of version 2, this may write equality deletes. */
  private def upsert(): String = {
    val rows = someRows()
    spark.sql(rows).writeTo(t).option("upsert-keys", "id").append()
    s"upsert of $rows"
  }

  private def compact(): String =
    run(s"CALL lite.system.rewrite_data_files(table => '$inCatalog', options => map('rewrite-all', 'true'))")

  private def addColumn(): String = {
    val name = s"x${columns.size}"
    val (kind, value) = random.nextInt(3) match {
      case 0 => ("int", "CAST(IF(id % 4 = 0, NULL, id % 9) AS int)")
      case 1 => ("string", "concat('s', id)")
      case _ => ("date", "date_add(DATE'2024-01-01', CAST(id % 40 AS int))")
    }
    columns :+= name -> value
    run(s"ALTER TABLE $t ADD COLUMN $name $kind")
  }

  private def condition: String = pick(
    s"id % ${2 + random.nextInt(6)} = 1",
    s"n BETWEEN ${random.nextInt(10)} AND ${10 + random.nextInt(10)}",
    "p IS NULL",
    s"p = 'p${random.nextInt(3)}'",
    s"id > ${random.nextInt(nextId + 1)}",
    "false"
  )

  private def assignment: String = pick("n = n + 1", "p = 'moved'", "p = NULL, n = NULL", "n = n")
}

private[source] object RandomChanges {
  val Columns = "id BIGINT NOT NULL, p STRING, n INT"
}
