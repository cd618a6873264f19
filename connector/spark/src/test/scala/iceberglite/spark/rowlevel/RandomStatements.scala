package iceberglite.spark.rowlevel

import scala.util.Random

/**
 * Generates random statements on a table with the columns [[RandomStatements.Columns]]. In the statements, `%s` stands
 * for the table name.
 */
private[rowlevel] class RandomStatements(random: Random) {
  private var nextId = 1000

  def next(): String = random.nextInt(8) match {
    case 0 => insert
    case 1 | 2 => s"DELETE FROM %s WHERE $condition"
    case 3 | 4 => s"UPDATE %s SET $assignments WHERE $condition"
    case _ => merge
  }

  /** Returns a statement that inserts rows with new ids. */
  def insert: String = {
    val from = nextId
    nextId += 40
    s"INSERT INTO %s SELECT ${row("id")} FROM range($from, $nextId, 1, 2)"
  }

  /** Returns a query whose rows have the ids of some earlier rows and new ids. */
  def upserted: String = {
    val from = 1000 + random.nextInt(math.max(1, nextId - 1000))
    s"SELECT ${row("id")} FROM range($from, ${from + 30}, 3, 1)"
  }

  /** Returns the name of each column and a SQL expression for its value. @param id a SQL expression for the row's id */
  protected def values(id: String): Seq[(String, String)] = Seq(
    "id" -> id,
    "p" -> s"IF($id % 7 = 0, NULL, concat('p', $id % 3))",
    "n" -> s"CAST($id % 50 AS int)",
    "s" -> s"named_struct('a', CAST($id AS int), 'b', concat('b', $id))",
    "l" -> s"array(CAST($id AS int), NULL)"
  )

  private def row(id: String): String = values(id).map { case (name, value) => s"$value AS $name" }.mkString(", ")

  protected def pick(choices: String*): String = choices(random.nextInt(choices.size))

  private def condition: String = pick(
    s"id % ${2 + random.nextInt(9)} = 1",
    s"n BETWEEN ${random.nextInt(20)} AND ${20 + random.nextInt(30)}",
    "p IS NULL",
    s"p = 'p${random.nextInt(3)}'",
    s"p = 'p${random.nextInt(3)}' AND n > 30",
    s"s.a > ${1000 + random.nextInt(300)} OR l[0] IS NULL",
    s"id IN (SELECT id + ${random.nextInt(5)} FROM range(1000, 1200, ${3 + random.nextInt(9)}))",
    s"n < (SELECT avg(n) FROM %s) AND id % 3 = ${random.nextInt(3)}",
    s"NOT (n <> ${random.nextInt(50)})",
    "false",
    "id IS NOT NULL"
  )

  private def assignments: String = pick(
    "n = n + 1",
    "p = 'moved'",
    "p = NULL, n = NULL",
    "s = named_struct('a', n, 'b', s.b)",
    "s.b = concat(s.b, '!'), l = array(n)",
    "n = (SELECT max(id) FROM range(10))"
  )

  private def merge: String = {
    val (from, until) = (900 + random.nextInt(300), 1000 + random.nextInt(300))
    val source = s"(SELECT ${row("id")} FROM range($from, ${math.max(from + 1, until)}, ${1 + random.nextInt(4)})) u"
    val joinCondition = pick("t.id = u.id", "t.id = u.id AND t.n < 40", "t.id = u.id AND t.p = u.p")
    val matched = pick(
      "",
      "WHEN MATCHED THEN DELETE",
      "WHEN MATCHED THEN UPDATE SET *",
      "WHEN MATCHED AND u.n % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET t.n = u.n + 100",
      "WHEN MATCHED AND t.p = 'p1' THEN UPDATE SET t.p = 'p9', t.s.b = NULL"
    )
    val notMatched = pick(
      "",
      "WHEN NOT MATCHED THEN INSERT *",
      "WHEN NOT MATCHED AND u.n > 10 THEN INSERT (id, p) VALUES (u.id, 'new')"
    )
    val notMatchedBySource = pick(
      "",
      "",
      "WHEN NOT MATCHED BY SOURCE AND t.n % 5 = 0 THEN DELETE",
      "WHEN NOT MATCHED BY SOURCE AND t.n % 6 = 0 THEN UPDATE SET t.n = -1"
    )
    val clauses = Seq(matched, notMatched, notMatchedBySource).filter(_.nonEmpty)
    if (clauses.isEmpty) merge else s"MERGE INTO %s t USING $source ON $joinCondition ${clauses.mkString(" ")}"
  }
}

private[rowlevel] object RandomStatements {
  val Columns = "id bigint NOT NULL, p string, n int, s struct<a: int, b: string>, l array<int>"
}
