package iceberglite.spark.catalog

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.error.StatementError
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.ValidationFailed

/** Checks DROP NAMESPACE CASCADE. The scenarios in `tests/sql/namespaces` run on every catalog. */
class NamespaceCascadeSuite extends AnyFunSuite with StatementFixture {

  private def namespaces(catalog: String): Seq[String] = sorted(s"SHOW NAMESPACES IN $catalog.$ns")

  private def fill(namespace: String): Unit = {
    sql(s"CREATE NAMESPACE $namespace")
    sql(s"CREATE NAMESPACE $namespace.inner")
    sql(s"CREATE TABLE $namespace.inner.t (id INT) USING iceberg")
    sql(s"CREATE TABLE $namespace.t (id INT) USING iceberg")
    sql(s"INSERT INTO $namespace.t VALUES (1)")
    sql(s"CREATE VIEW $namespace.v AS SELECT * FROM $namespace.t")
    sql(s"CREATE VIEW $namespace.inner.w AS SELECT * FROM $namespace.v")
    ()
  }

  Seq("lite" -> "a file-system catalog", "litejdbc" -> "a JDBC catalog").foreach { case (catalog, kind) =>
    test(s"DROP NAMESPACE CASCADE drops nested namespaces, views and tables of $kind, and nothing else") {
      val (dropped, kept) = (s"$catalog.$ns.dropped", s"$catalog.$ns.dropped_not")
      Seq(dropped, kept).foreach(fill)
      sql(s"DROP NAMESPACE $dropped CASCADE")
      assert(namespaces(catalog).size == 1 && namespaces(catalog).head.contains("dropped_not"))
      assert(count(s"$kept.inner.w") == 1)
      sql(s"DROP NAMESPACE $kept CASCADE")
      assert(namespaces(catalog).isEmpty)
    }
  }

  test("if DROP NAMESPACE CASCADE fails partway, the error lists what was dropped and what remains") {
    val namespace = s"lite.$ns.partly"
    fill(namespace)
    // The nested namespace cannot be dropped, because its directory contains a file of another program.
    val file = SharedSession.warehouse.resolve(s"$ns/partly/inner/notes")
    Files.createFile(file)
    val error = intercept[StatementError](sql(s"DROP NAMESPACE $namespace CASCADE"))
    assert(error.error.isInstanceOf[ValidationFailed] && error.getErrorClass == "ICEBERG_LITE.VALIDATION_FAILED")
    val message = error.getMessage
    assert(message.contains(s"stopped at the namespace $namespace.inner: "), message)
    assert(message.contains(s"Dropped before: view $namespace.inner.w, table $namespace.inner.t."), message)
    assert(
      message.contains(s"Not dropped: namespace $namespace.inner, view $namespace.v, table $namespace.t, "),
      message
    )
    assert(count(s"$namespace.v") == 1)
    Files.delete(file)
    sql(s"DROP NAMESPACE $namespace CASCADE")
    assert(namespaces("lite").isEmpty)
  }
}
