package iceberglite.spark.rowlevel

import scala.util.Random

/**
 * Generates random statements on a table, and changes to its columns and its partition spec between the statements.
 *
 * @param isEvolved whether to generate changes to columns and the partition spec
 */
final private[rowlevel] class EvolvingStatements(random: Random, isEvolved: Boolean) extends RandomStatements(random) {

  /**
   * The columns in the order of the table, each with its name and a function. Given a SQL expression for the id of a
   * row, the function returns a SQL expression for the value of the column.
   */
  private var columns: Vector[(String, String => String)] =
    super.values("").toVector.map { case (name, _) => name -> ((id: String) => super.values(id).toMap.apply(name)) }

  private val initialColumns = columns.map(_._1)
  private var nameCount = 0
  private var types = Map("n" -> "int")
  private var partitions = Vector.empty[String]

  override protected def values(id: String): Seq[(String, String)] =
    columns.map { case (name, value) => name -> value(id) }

  /**
   * Returns statements that change the schema. The caller must run them on every table on which it runs the other
   * generated statements.
   */
  def evolution(): Seq[String] = if (!isEvolved) Nil
  else Seq.fill(1 + random.nextInt(2))(random.nextInt(6) match {
    case 0 | 1 => addColumn()
    case 2 => addedColumns.headOption.fold(addColumn())(renameColumn)
    case 3 => addedColumns.lastOption.fold(addColumn())(dropColumn)
    case 4 => types.collectFirst { case (name, "int") => name }.fold(moveColumn())(widenColumn)
    case _ => moveColumn()
  })

  /** Returns a statement that changes the partition spec but no rows, or `None`. */
  def repartition(): Option[String] = if (!isEvolved || random.nextBoolean()) None
  else {
    val field = pick("p", "bucket(3, id)", "truncate(10, n)", "truncate(1, p)")
    val isPartitioned = partitions.contains(field)
    partitions = if (isPartitioned) partitions.filterNot(_ == field) else partitions :+ field
    Some(s"ALTER TABLE %s ${if (isPartitioned) "DROP" else "ADD"} PARTITION FIELD $field")
  }

  private def addedColumns: Vector[String] = columns.map(_._1).filterNot(initialColumns.contains)

  private def addColumn(): String = {
    nameCount += 1
    val name = s"x$nameCount"
    val kind = pick("int", "string", "float", "date")
    types += name -> kind
    val value = (id: String) =>
      kind match {
        case "date" => s"date_add(DATE'2024-01-01', CAST($id % 40 AS int))"
        case "float" => s"CAST(IF($id % 5 = 0, 'NaN', $id / 4) AS float)"
        case _ => s"CAST(IF($id % 4 = 0, NULL, $id % 9) AS $kind)"
      }
    val precedingColumn = columns(random.nextInt(columns.size))._1
    columns = columns.flatMap(c => if (c._1 == precedingColumn) Seq(c, name -> value) else Seq(c))
    s"ALTER TABLE %s ADD COLUMN $name $kind AFTER $precedingColumn"
  }

  private def renameColumn(name: String): String = {
    nameCount += 1
    val newName = s"y$nameCount"
    columns = columns.map(c => if (c._1 == name) newName -> c._2 else c)
    types = types - name + (newName -> types(name))
    s"ALTER TABLE %s RENAME COLUMN $name TO $newName"
  }

  private def dropColumn(name: String): String = {
    columns = columns.filterNot(_._1 == name)
    types -= name
    s"ALTER TABLE %s DROP COLUMN $name"
  }

  private def widenColumn(name: String): String = {
    types += name -> "bigint"
    s"ALTER TABLE %s ALTER COLUMN $name TYPE bigint"
  }

  private def moveColumn(): String = {
    val moved = columns(random.nextInt(columns.size))
    columns = moved +: columns.filterNot(_._1 == moved._1)
    s"ALTER TABLE %s ALTER COLUMN ${moved._1} FIRST"
  }
}
