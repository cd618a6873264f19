package iceberglite.spark

import org.scalatest.funsuite.AnyFunSuite

/** Checks that messages use the catalog name of the session if a JDBC catalog has another name in its database. */
class MessageNamesSuite extends AnyFunSuite with SharedSession {

  test("messages and plans never contain the catalog's name in its database (catalog-name)") {
    val t = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
    val failing = Seq(
      s"CREATE TABLE $t (id BIGINT) USING iceberg",
      s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '9')",
      s"ALTER TABLE $t SET TBLPROPERTIES ('current-snapshot-id' = '7')",
      s"SELECT * FROM $t VERSION AS OF 7",
      s"ALTER TABLE $t DROP BRANCH gone",
      s"INSERT INTO $t WITH ('branch' = 'gone') VALUES (1L)",
      s"DELETE FROM $t WITH ('isolation-level' = 'none') WHERE id = 1",
      s"ALTER TABLE $t ADD PARTITION FIELD bucket(0, id)",
      s"CREATE NAMESPACE litejdbc.$ns"
    )
    for (statement <- failing) {
      val message = withClue(statement)(intercept[Exception](sql(statement).collect())).getMessage
      assert(!message.contains("icejdbc"), message)
    }
    val plan = rows(s"EXPLAIN EXTENDED SELECT * FROM $t").head.getString(0)
    assert(!plan.contains("icejdbc") && plan.contains(t), plan)
  }

  test("the database stores tables under catalog-name") {
    val t = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $t USING iceberg AS SELECT 1L AS id")
    assert(rows(s"SELECT id FROM ${inApacheIceberg(t)}").head.getLong(0) == 1)
    assert(rows("SHOW NAMESPACES IN icejdbc").exists(_.getString(0) == ns))
  }
}
