package iceberglite.spark.read.deletes

import org.scalatest.Suite

import iceberglite.spark.SharedSession

/** Creates tables in which Apache Iceberg deletes rows, and compares the rows that both connectors read. */
trait PeerDeletesFixture extends SharedSession { self: Suite =>

  /** Runs the query, in which `%s` stands for the table name. Checks that Apache Iceberg returns the same rows. */
  protected def sameRows(table: String, query: String): Seq[String] = {
    sql(s"REFRESH TABLE $table")
    val result = sorted(query.replace("%s", table))
    assert(result == sorted(query.replace("%s", inApacheIceberg(table))), query)
    result
  }

  protected def create(columns: String, clauses: String, properties: (String, String)*): String = {
    val table = newTable()
    val assignments = properties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")
    sql(s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg $clauses TBLPROPERTIES ($assignments)")
    table
  }

  protected def mergeOnRead(version: Int): Seq[(String, String)] = Seq("format-version" -> version.toString) ++
    Seq("delete", "update", "merge").map(s => s"write.$s.mode" -> "merge-on-read")

  protected def deleteFileFormats(table: String): Seq[String] =
    sorted(s"SELECT DISTINCT content, file_format FROM ${inApacheIceberg(table)}.delete_files")

  protected val columns = "id bigint, cat string, s struct<a: int, b: string>, l array<int>, m map<string, int>"

  protected def values(from: Int, until: Int): String =
    s"""SELECT id, IF(id % 7 = 0, NULL, concat('c', id % 3)), named_struct('a', CAST(id AS int), 'b', concat('b', id)),
       |array(CAST(id AS int), NULL), map('k', CAST(id AS int)) FROM range($from, $until)""".stripMargin

  protected val queries = Seq(
    "SELECT * FROM %s",
    "SELECT count(*) FROM %s",
    "SELECT id, s.b, l[0], m['k'] FROM %s WHERE cat IS NULL OR id IN (3, 30, 300) OR s.a > 40",
    "SELECT id, _pos, _file, _spec_id, _partition FROM %s"
  )

  protected def filledTable(properties: (String, String)*): String = {
    val table = create(columns, "", ("format-version" -> "2") +: properties: _*)
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(0, 100)}")
    table
  }

  protected def deletes(table: String) = new PeerEqualityDeletes(spark, inApacheIceberg(table))
}
